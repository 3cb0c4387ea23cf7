//! What an `impl` block declares.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, FnArg, ImplItem, ImplItemFn, ItemImpl, Lit, Meta, Pat, Result, Type, UnOp,
};

/// One operation.
pub struct Operation {
    pub function: ImplItemFn,
    pub documentation: Vec<Attribute>,
    pub surface: Surface,
    pub params: Vec<Param>,
    pub has_receiver: bool,
}

/// An argument beside the receiver.
pub struct Param {
    pub name: syn::Ident,
    pub ty: Type,
    /// The default, and how Python writes it.
    pub default: Option<(Expr, String)>,
    /// Rust says it otherwise, and its functions take the default.
    pub python_only: bool,
}

/// What `#[surface(…)]` says.
#[derive(Default)]
pub struct Surface {
    pub places: Vec<syn::Ident>,
    pub in_place: bool,
    pub view: bool,
    pub variadic: bool,
    pub aliases: Vec<String>,
    pub answers: Vec<String>,
    pub keywords_from: Option<String>,
    pub name: Option<String>,
    /// The method of Rust that takes no arguments: each has its default.
    pub plain: Option<String>,
    pub in_place_only: bool,
    pub each: bool,
    pub reads: bool,
    pub integers: bool,
    pub doubles: bool,
    pub compares: bool,
    pub divides: bool,
    pub warns: bool,
    pub keeps_zero: bool,
    pub not_in_kernels: bool,
    /// Other ways to call it: variants of `Manner`.
    pub manners: Vec<Expr>,
}

/// What stands in the attribute: the table's name, and whether the plain functions answer with a `Result`.
pub struct Table {
    pub name: syn::Ident,
    pub fallible: bool,
}

impl syn::parse::Parse for Table {
    fn parse(input: syn::parse::ParseStream<'_>) -> Result<Table> {
        let name = input.parse()?;
        let mut fallible = false;
        if input.parse::<Option<syn::Token![,]>>()?.is_some() {
            let word: syn::Ident = input.parse()?;
            if word != "fallible" {
                return Err(Error::new(word.span(), "not a word of `operations`"));
            }
            fallible = true;
        }
        Ok(Table { name, fallible })
    }
}

impl Operation {
    /// What Python calls it.
    pub fn name(&self) -> String {
        self.surface.name.clone().unwrap_or_else(|| self.function.sig.ident.unraw().to_string())
    }
}

pub fn operations(block: &ItemImpl) -> Result<Vec<Operation>> {
    let functions = block.items.iter().map(|item| match item {
        ImplItem::Fn(function) => operation(function),
        other => Err(Error::new(other.span(), "only functions are operations")),
    });
    functions.collect()
}

fn operation(function: &ImplItemFn) -> Result<Operation> {
    let mut function = function.clone();
    let (mut documentation, mut surface) = (Vec::new(), Surface::default());
    for attribute in std::mem::take(&mut function.attrs) {
        // `#[doc(hidden)]` is an attribute like others.
        if attribute.path().is_ident("doc") && matches!(attribute.meta, Meta::NameValue(_)) {
            documentation.push(attribute);
        } else if attribute.path().is_ident("surface") {
            surface = self::surface(&attribute)?;
        } else {
            function.attrs.push(attribute);
        }
    }
    if documentation.is_empty() {
        return Err(Error::new(function.sig.ident.span(), "an operation has documentation"));
    }
    let (mut params, mut has_receiver) = (Vec::new(), false);
    for input in &mut function.sig.inputs {
        match input {
            FnArg::Receiver(_) => has_receiver = true,
            FnArg::Typed(typed) => {
                let default = typed.attrs.iter().find(|a| a.path().is_ident("default"));
                let default = default.map(|a| a.parse_args::<Expr>()).transpose()?;
                let default = default.map(|e| python(&e).map(|text| (e, text))).transpose()?;
                let python_only = typed.attrs.iter().any(|a| a.path().is_ident("python"));
                if python_only && default.is_none() {
                    return Err(Error::new(typed.span(), "what only Python is asked for has a default"));
                }
                typed.attrs.retain(|a| !a.path().is_ident("default") && !a.path().is_ident("python"));
                let Pat::Ident(name) = &*typed.pat else {
                    return Err(Error::new(typed.pat.span(), "an argument is a name"));
                };
                let (name, ty) = (name.ident.clone(), (*typed.ty).clone());
                params.push(Param { name, ty, default, python_only });
            }
        }
    }
    if surface.plain.is_some() && !(has_receiver && params.iter().all(|p| p.default.is_some())) {
        let text = "what is called without arguments has a default for each";
        return Err(Error::new(function.sig.ident.span(), text));
    }
    Ok(Operation { function, documentation, surface, params, has_receiver })
}

fn surface(attribute: &Attribute) -> Result<Surface> {
    let mut found = Surface::default();
    attribute.parse_nested_meta(|meta| {
        let Some(word) = meta.path.get_ident().cloned() else { return Err(meta.error("a word is expected")) };
        let text = |meta: &syn::meta::ParseNestedMeta<'_>| -> Result<String> {
            Ok(meta.value()?.parse::<syn::LitStr>()?.value())
        };
        match word.to_string().as_str() {
            "method" | "function" | "nn" | "linalg" | "special" | "windows" => found.places.push(word),
            "in_place" => found.in_place = true,
            "in_place_only" => (found.in_place, found.in_place_only) = (true, true),
            "name" => found.name = Some(text(&meta)?),
            "plain" => found.plain = Some(text(&meta)?),
            "view" => found.view = true,
            "variadic" => found.variadic = true,
            "each" => found.each = true,
            "reads" => found.reads = true,
            "integers" => found.integers = true,
            "doubles" => found.doubles = true,
            "compares" => found.compares = true,
            "divides" => found.divides = true,
            "warns" => found.warns = true,
            "keeps_zero" => found.keeps_zero = true,
            "not_in_kernels" => found.not_in_kernels = true,
            "manners" => {
                let manners;
                syn::parenthesized!(manners in meta.input);
                let all = manners.parse_terminated(<Expr as syn::parse::Parse>::parse, syn::Token![,])?;
                found.manners = all.into_iter().collect();
            }
            "alias" => found.aliases.push(text(&meta)?),
            "keywords_from" => found.keywords_from = Some(text(&meta)?),
            "answers" => {
                let names;
                syn::parenthesized!(names in meta.input);
                let names =
                    names.parse_terminated(<syn::LitStr as syn::parse::Parse>::parse, syn::Token![,])?;
                found.answers = names.iter().map(syn::LitStr::value).collect();
            }
            _ => return Err(meta.error("not a word of `surface`")),
        }
        Ok(())
    })?;
    let Meta::List(_) = &attribute.meta else {
        return Err(Error::new(attribute.span(), "`surface` takes words in parentheses"));
    };
    Ok(found)
}

/// How Python writes a default.
fn python(default: &Expr) -> Result<String> {
    let unknown = || Error::new(default.span(), "not a default that Python can be told");
    Ok(match default {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Bool(b) => if b.value { "True" } else { "False" }.into(),
            Lit::Int(n) => n.base10_digits().into(),
            Lit::Float(x) => x.base10_digits().into(),
            Lit::Str(s) => format!("{:?}", s.value()),
            _ => return Err(unknown()),
        },
        Expr::Unary(minus) if matches!(minus.op, UnOp::Neg(_)) => format!("-{}", python(&minus.expr)?),
        Expr::Path(path) if path.path.is_ident("None") => "None".into(),
        // `Some(x)` of an optional argument, or `Padding::Sizes(x)` of one that is of several kinds.
        Expr::Call(call) if call.args.len() == 1 => python(&call.args[0])?,
        // No axes are all axes: Python's None.
        Expr::Reference(list) => match &*list.expr {
            Expr::Array(array) if array.elems.is_empty() => "None".into(),
            Expr::Array(array) if array.elems.len() == 1 => python(&array.elems[0])?,
            Expr::Array(array) => {
                let all = array.elems.iter().map(python).collect::<Result<Vec<_>>>()?;
                format!("({})", all.join(", "))
            }
            _ => return Err(unknown()),
        },
        _ => return Err(unknown()),
    })
}
