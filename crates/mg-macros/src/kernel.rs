//! What `#[kernel]` writes of a function of scalars.
//!
//! Rust's `if`, `<` and `&&` ask for truth values that are known; those of a kernel are known for each element alone. So
//! comparisons and connectives become calls, and an `if` becomes two closures from the values of the names that its branches
//! assign to.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    BinOp, Block, Error, Expr, ExprIf, FnArg, Ident, ItemFn, Local, Pat, Path, Result, ReturnType, Signature,
    Stmt, Type,
};

/// What stands in the attribute.
pub struct Options {
    /// Where the module `kernel` is found.
    pub path: Path,
    pub gradient: Option<Path>,
}

impl syn::parse::Parse for Options {
    fn parse(input: syn::parse::ParseStream<'_>) -> Result<Options> {
        let mut options = Options { path: syn::parse_quote!(::micrograd_rs), gradient: None };
        while !input.is_empty() {
            if input.parse::<Option<syn::Token![crate]>>()?.is_some() {
                input.parse::<syn::Token![=]>()?;
                options.path = input.parse()?;
            } else {
                let word: Ident = input.parse()?;
                if word != "gradient" {
                    return Err(Error::new(
                        word.span(),
                        "not a word of `kernel`: it takes `gradient = …` and `crate = …`",
                    ));
                }
                input.parse::<syn::Token![=]>()?;
                options.gradient = Some(input.parse()?);
            }
            if input.parse::<Option<syn::Token![,]>>()?.is_none() {
                break;
            }
        }
        Ok(options)
    }
}

fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "S"))
}

fn is_truth(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "Truth"))
}

/// What the function of tensors answers with, for what the function of numbers does; and how many results that is.
fn answer(output: &ReturnType, root: &Path) -> Result<(TokenStream, Option<usize>)> {
    let tensor = quote!(#root::Tensor);
    let unlike = |span: Span| Error::new(span, "a kernel answers with `S`, or with a tuple of them");
    match output {
        ReturnType::Default => Err(unlike(Span::call_site())),
        ReturnType::Type(_, ty) if is_number(ty) || is_truth(ty) => Ok((tensor, None)),
        ReturnType::Type(_, ty) => match &**ty {
            Type::Tuple(several)
                if !several.elems.is_empty()
                    && several.elems.iter().all(|ty| is_number(ty) || is_truth(ty)) =>
            {
                let count = several.elems.len();
                let each = vec![tensor; count];
                Ok((quote!((#(#each),*)), Some(count)))
            }
            other => Err(unlike(other.span())),
        },
    }
}

/// Refuses what is no plain function.
fn plain(signature: &Signature) -> Result<()> {
    let words = [
        (signature.asyncness.is_some(), "async"),
        (!matches!(signature.safety, syn::Safety::Default), "unsafe"),
        (signature.constness.is_some(), "const"),
        (!signature.generics.params.is_empty(), "generic"),
    ];
    match words.iter().find(|(is_there, _)| *is_there) {
        None => Ok(()),
        Some((_, what)) => {
            let text = format!("a kernel is a plain function: not {what}");
            Err(Error::new(signature.ident.span(), text))
        }
    }
}

/// The arguments of a kernel: numbers, of which each element has its own, and constants with their types.
struct Arguments {
    numbers: Vec<Ident>,
    constants: Vec<Ident>,
    types: Vec<Type>,
}

impl Arguments {
    fn of(signature: &Signature) -> Result<Arguments> {
        let (mut numbers, mut constants, mut types) = (vec![], vec![], vec![]);
        for input in &signature.inputs {
            let FnArg::Typed(typed) = input else {
                return Err(Error::new(input.span(), "a kernel is a function, not a method"));
            };
            let Pat::Ident(name) = &*typed.pat else {
                return Err(Error::new(typed.pat.span(), "an argument of a kernel is a name"));
            };
            if is_number(&typed.ty) {
                if !constants.is_empty() {
                    let text = "the arguments of type `S` stand before the constants";
                    return Err(Error::new(typed.span(), text));
                }
                numbers.push(name.ident.clone());
            } else {
                constants.push(name.ident.clone());
                types.push((*typed.ty).clone());
            }
        }
        Ok(Arguments { numbers, constants, types })
    }
}

/// The function's body, for truth values that are known for each element alone.
fn rewritten(function: &ItemFn, path: &TokenStream) -> Result<Block> {
    let mut body = (*function.block).clone();
    without_early_returns(&mut body);
    let mut rewriter = Rewriter { path: path.clone(), error: None };
    rewriter.visit_block_mut(&mut body);
    match rewriter.error {
        Some(error) => Err(error),
        None => Ok(body),
    }
}

/// One result, or several as a tuple.
fn results(several: Option<usize>, one: TokenStream, each: impl Fn(usize) -> TokenStream) -> TokenStream {
    match several {
        None => one,
        Some(n) => {
            let each = (0..n).map(each);
            quote!((#(#each),*))
        }
    }
}

/// A kernel, by what is written of it.
struct Written<'a> {
    options: &'a Options,
    function: &'a ItemFn,
    arguments: Arguments,
    /// The module `kernel`.
    path: TokenStream,
}

impl Written<'_> {
    /// The functions of tensors, which answer with so many results.
    fn of_tensors(&self, answer: &TokenStream, several: Option<usize>) -> TokenStream {
        let Arguments { numbers, constants, types } = &self.arguments;
        let (root, name) = (&self.options.path, &self.function.sig.ident);
        let (attributes, visibility) = (&self.function.attrs, &self.function.vis);
        let (text, tried) = (name.to_string(), format_ident!("try_{name}"));
        let unpacked = results(several, quote!(all.swap_remove(0)), |i| quote!(all[#i].clone()));
        quote! {
            #(#attributes)*
            ///
            /// An elementwise operation of tensors and numbers, whose shapes broadcast: a kernel.
            ///
            /// # Panics
            ///
            /// Where its `try_` twin answers with an error.
            #[track_caller]
            #visibility fn #name(#(#numbers: impl Into<#root::Operand>,)* #(#constants: #types),*) -> #answer {
                match #tried(#(#numbers,)* #(#constants),*) {
                    Ok(answer) => answer,
                    Err(error) => panic!("{error}"),
                }
            }

            #[doc = concat!("As [`", #text, "`](", #text, "()).")]
            ///
            /// # Errors
            ///
            /// Shapes that do not broadcast, operands on several devices, dtypes that a step does not take.
            #[track_caller]
            #visibility fn #tried(#(#numbers: impl Into<#root::Operand>,)* #(#constants: #types),*) -> #root::Result<#answer> {
                let kernel = #name::kernel(#(#constants),*)?;
                #[allow(unused_mut)]
                let mut all = kernel.call(&[#(#numbers.into()),*])?;
                Ok(#unpacked)
            }
        }
    }

    /// What it computes in another kernel: its steps, or itself where it has a gradient of its own.
    fn scalar(&self, several: Option<usize>) -> TokenStream {
        let (Arguments { numbers, constants, .. }, path) = (&self.arguments, &self.path);
        if self.options.gradient.is_none() {
            return quote!(Self::steps(#(#numbers,)* #(#constants),*));
        }
        let all = results(several, quote!(all[0]), |i| quote!(all[#i]));
        let least = several.unwrap_or(1);
        quote! {
            let mut all = #path::called(&Self::kernel(#(#constants),*), &[#(#numbers),*]);
            // What went wrong is told when the kernel around it ends.
            all.resize(#least, #path::S::from(0.0));
            #all
        }
    }

    /// The kernel, for other kernels and for itself.
    fn of_kernels(&self, body: &Block, several: Option<usize>) -> TokenStream {
        let Arguments { numbers, constants, types } = &self.arguments;
        let (root, path, signature) = (&self.options.path, &self.path, &self.function.sig);
        let (name, output, visibility) = (&signature.ident, &signature.output, &self.function.vis);
        let (text, scalar) = (name.to_string(), self.scalar(several));
        let inputs: Vec<TokenStream> = signature.inputs.iter().map(|input| quote!(#input)).collect();
        let count = numbers.len();
        let positions = 0..count;
        let gradient = self.options.gradient.as_ref().map(
            |of| quote!(.and_then(|kernel| kernel.with_gradient(#of::kernel(#(#constants.clone()),*)?))),
        );
        quote! {
            #[doc = concat!("The kernel [`", #text, "`](", #text, "()), for other kernels.")]
            #[allow(non_camel_case_types, dead_code)]
            #visibility enum #name {}

            #[allow(dead_code)]
            impl #name {
                /// What it computes in another kernel.
                #visibility fn scalar(#(#inputs),*) #output {
                    #scalar
                }

                #[allow(clippy::double_parens, unused_mut, unused_assignments)]
                fn steps(#(#inputs),*) #output #body

                /// The kernel itself, for some constants.
                ///
                /// # Errors
                ///
                /// What the function does that a kernel cannot.
                #visibility fn kernel(#(#constants: #types),*) -> #root::Result<std::sync::Arc<#path::Kernel>> {
                    static KNOWN: #path::Known<(#(#types,)*)> = #path::Known::new();
                    KNOWN.of((#(#constants.clone(),)*), || {
                        #path::trace(#text, #count, |all| Self::steps(#(all[#positions],)* #(#constants.clone()),*))
                        #gradient
                    })
                }
            }
        }
    }
}

pub fn kernel(options: &Options, function: &ItemFn) -> Result<TokenStream> {
    plain(&function.sig)?;
    let arguments = Arguments::of(&function.sig)?;
    let root = &options.path;
    let (answer, several) = answer(&function.sig.output, root)?;
    let path = quote!(#root::kernel);
    let body = rewritten(function, &path)?;
    let written = Written { options, function, arguments, path };
    let (of_tensors, of_kernels) = (written.of_tensors(&answer, several), written.of_kernels(&body, several));
    Ok(quote! {
        #of_tensors

        #of_kernels
    })
}

/// Makes of an `if` that ends in `return`, in a block that is the last of the function, one whose other branch is what follows.
fn without_early_returns(block: &mut Block) {
    let leaves = |block: &Block| matches!(block.stmts.last(), Some(Stmt::Expr(Expr::Return(_), _)));
    let at = block.stmts.iter().position(|s| match s {
        Stmt::Expr(Expr::If(one), _) => one.else_branch.is_none() && leaves(&one.then_branch),
        _ => false,
    });
    if let Some(at) = at
        && at + 1 < block.stmts.len()
    {
        let rest = block.stmts.split_off(at + 1);
        if let Some(Stmt::Expr(Expr::If(mut one), _)) = block.stmts.pop() {
            let other = Block { brace_token: one.then_branch.brace_token, stmts: rest };
            let other = Expr::Block(syn::ExprBlock { attrs: vec![], label: None, block: other });
            one.else_branch = Some((Default::default(), Box::new(other)));
            block.stmts.push(Stmt::Expr(Expr::If(one), None));
        }
    }
    match block.stmts.last_mut() {
        Some(Stmt::Expr(last, semicolon)) => {
            if let Expr::Return(back) = last
                && let Some(value) = back.expr.take()
            {
                *last = *value;
                *semicolon = None;
            }
            tail(last);
        }
        Some(Stmt::Local(_) | Stmt::Item(_) | Stmt::Macro(_)) | None => {}
    }
}

/// Goes on in the branches of what a function ends with.
fn tail(expr: &mut Expr) {
    match expr {
        Expr::If(one) => {
            without_early_returns(&mut one.then_branch);
            if let Some((_, other)) = &mut one.else_branch {
                tail(other);
            }
        }
        Expr::Block(one) => without_early_returns(&mut one.block),
        _ => {}
    }
}

struct Rewriter {
    path: TokenStream,
    error: Option<Error>,
}

impl VisitMut for Rewriter {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // Which names are assigned to is seen in what was written.
        let assigned = match expr {
            Expr::If(one) => Some(assigned(one)),
            _ => None,
        };
        visit_mut::visit_expr_mut(self, expr);
        let path = &self.path;
        match expr {
            Expr::Binary(binary) => {
                let (a, b) = (&binary.left, &binary.right);
                let call = match binary.op {
                    BinOp::Lt(_) => quote!(#path::Compare::lt),
                    BinOp::Le(_) => quote!(#path::Compare::le),
                    BinOp::Gt(_) => quote!(#path::Compare::gt),
                    BinOp::Ge(_) => quote!(#path::Compare::ge),
                    BinOp::Eq(_) => quote!(#path::Compare::eq),
                    BinOp::Ne(_) => quote!(#path::Compare::ne),
                    BinOp::And(_) | BinOp::Or(_) => {
                        let name = format_ident!(
                            "{}",
                            if matches!(binary.op, BinOp::And(_)) { "and" } else { "or" }
                        );
                        // The right one is asked for where it decides.
                        *expr = syn::parse_quote_spanned!(binary.span()=> #path::Connect::#name(#a, || #b));
                        return;
                    }
                    _ => return,
                };
                *expr = syn::parse_quote_spanned!(binary.span()=> #call(#a, #b));
            }
            Expr::Unary(one) if matches!(one.op, syn::UnOp::Not(_)) => {
                let of = match &*one.expr {
                    Expr::Paren(inner) => &inner.expr,
                    _ => &one.expr,
                };
                *expr = syn::parse_quote_spanned!(one.span()=> ::std::ops::Not::not(#of));
            }
            Expr::If(one) => {
                if matches!(&*one.cond, Expr::Let(_)) || leaves(one) {
                    // Of what Rust knows: as it is.
                    return;
                }
                let names: Vec<Ident> = assigned.into_iter().flatten().collect();
                let (condition, yes) = (&one.cond, &one.then_branch);
                let no = match &one.else_branch {
                    Some((_, other)) => quote!(#other),
                    None => quote!({}),
                };
                let state = quote!((#(#names,)*));
                let mutable = quote!((#(mut #names,)*));
                *expr = syn::parse_quote_spanned! {one.span()=> {
                    #[allow(unused_mut, unused_variables, unused_assignments, clippy::unused_unit, clippy::let_unit_value)]
                    let (__value, __state) = #path::Condition::branch(
                        #condition,
                        #state,
                        |#mutable| { let __value = #yes; (__value, #state) },
                        |#mutable| { let __value = #no; (__value, #state) },
                    );
                    #[allow(unused_assignments)]
                    { #state = __state; }
                    __value
                }};
            }
            _ => {}
        }
    }

    // Conditions of loops and guards are Rust's.
    fn visit_item_mut(&mut self, item: &mut syn::Item) {
        self.error.get_or_insert(Error::new(item.span(), "items stand outside of the kernel"));
    }
}

/// Whether a branch leaves a loop or the function: then its condition is one that Rust knows.
fn leaves(one: &ExprIf) -> bool {
    struct Leaves(bool);
    impl<'a> Visit<'a> for Leaves {
        fn visit_expr(&mut self, expr: &'a Expr) {
            match expr {
                Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) | Expr::Try(_) => self.0 = true,
                // Those leave themselves.
                Expr::Closure(_) | Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {}
                other => visit::visit_expr(self, other),
            }
        }
    }
    let mut found = Leaves(false);
    found.visit_expr_if(one);
    found.0
}

/// Names that are assigned to where others than those of the place itself are there.
#[derive(Default)]
struct Names {
    /// Those of the scopes around, and what was found.
    own: Vec<BTreeSet<Ident>>,
    found: BTreeSet<Ident>,
}
impl Names {
    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Path(path) => {
                if let Some(name) = path.path.get_ident()
                    && !self.own.iter().any(|scope| scope.contains(name))
                {
                    self.found.insert(name.clone());
                }
            }
            Expr::Tuple(several) => several.elems.iter().for_each(|each| self.target(each)),
            Expr::Array(several) => several.elems.iter().for_each(|each| self.target(each)),
            // An element or a field is a part of what the name stands for.
            Expr::Index(of) => self.target(&of.expr),
            Expr::Field(of) => self.target(&of.base),
            Expr::Paren(of) => self.target(&of.expr),
            Expr::Group(of) => self.target(&of.expr),
            Expr::Unary(of) => self.target(&of.expr),
            // What else there is to assign to is changed for all, which does not compile: branches are `Fn`.
            _ => {}
        }
    }

    /// Names of patterns are there in what follows them, and no longer.
    fn scope(&mut self, f: impl FnOnce(&mut Self)) {
        self.own.push(BTreeSet::new());
        f(self);
        self.own.pop();
    }
}
impl<'a> Visit<'a> for Names {
    fn visit_block(&mut self, block: &'a Block) {
        self.own.push(BTreeSet::new());
        visit::visit_block(self, block);
        self.own.pop();
    }
    fn visit_local(&mut self, local: &'a Local) {
        // The initial value is outside of the name's scope.
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, other)) = &init.diverge {
                self.visit_expr(other);
            }
        }
        self.visit_pat(&local.pat);
    }
    fn visit_expr_for_loop(&mut self, one: &'a syn::ExprForLoop) {
        self.visit_expr(&one.expr);
        self.scope(|names| {
            names.visit_pat(&one.pat);
            names.visit_block(&one.body);
        });
    }
    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        self.scope(|names| visit::visit_arm(names, arm));
    }
    fn visit_expr_closure(&mut self, closure: &'a syn::ExprClosure) {
        self.scope(|names| visit::visit_expr_closure(names, closure));
    }
    // Names of `let` in a condition.
    fn visit_expr_if(&mut self, one: &'a ExprIf) {
        self.scope(|names| {
            names.visit_expr(&one.cond);
            names.visit_block(&one.then_branch);
        });
        if let Some((_, other)) = &one.else_branch {
            self.visit_expr(other);
        }
    }
    fn visit_expr_while(&mut self, one: &'a syn::ExprWhile) {
        self.scope(|names| visit::visit_expr_while(names, one));
    }
    fn visit_pat_ident(&mut self, name: &'a syn::PatIdent) {
        if let Some(scope) = self.own.last_mut() {
            scope.insert(name.ident.clone());
        }
    }
    fn visit_expr_assign(&mut self, assign: &'a syn::ExprAssign) {
        self.target(&assign.left);
        visit::visit_expr_assign(self, assign);
    }
    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        if matches!(
            binary.op,
            BinOp::AddAssign(_)
                | BinOp::SubAssign(_)
                | BinOp::MulAssign(_)
                | BinOp::DivAssign(_)
                | BinOp::RemAssign(_)
                | BinOp::BitAndAssign(_)
                | BinOp::BitOrAssign(_)
                | BinOp::BitXorAssign(_)
                | BinOp::ShlAssign(_)
                | BinOp::ShrAssign(_)
        ) {
            self.target(&binary.left);
        }
        visit::visit_expr_binary(self, binary);
    }
}

/// The names that the branches of an `if` assign to, and that are there before it.
fn assigned(one: &ExprIf) -> BTreeSet<Ident> {
    let mut names = Names::default();
    names.visit_block(&one.then_branch);
    if let Some((_, other)) = &one.else_branch {
        names.visit_expr(other);
    }
    names.found
}
