//! What is written of a declaration.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Ident, ItemImpl, Type};

use crate::declared::{Operation, Param, Table};

pub fn block(table: &Table, block: &ItemImpl, operations: &[Operation]) -> TokenStream {
    let methods = operations.iter().map(|o| methods(o, table.fallible));
    let descriptions = operations.iter().map(|o| description(o, table.fallible));
    let table = &table.name;
    let (generics, ty, attributes) = (&block.generics, &block.self_ty, &block.attrs);
    quote! {
        #(#attributes)*
        impl #generics #ty {
            #(#methods)*
        }

        /// The descriptions of the operations above.
        pub(crate) const #table: &[crate::surface::Operation] = &[#(#descriptions),*];
    }
}

/// A type for which the public functions take anything that can be one.
fn is_made_of_others(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if ["Operand", "Sections", "Integers"].iter().any(|word| path.path.is_ident(word)))
}

/// Whether a type is `Order<'_>`, for which the public functions take a number or a word.
fn is_order(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Order"))
}

/// What the public functions are generic over, beside what `impl` says.
fn generics(operation: &Operation) -> Option<TokenStream> {
    operation.params.iter().any(|p| is_order(&p.ty)).then(|| quote!(<'order>))
}

/// Whether a type is `&[Tensor]`, for which the public functions take references too.
fn is_tensors(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let Type::Slice(slice) = &*reference.elem else { return false };
    matches!(&*slice.elem, Type::Path(path) if path.path.is_ident("Tensor"))
}

fn outer(param: &Param) -> TokenStream {
    let (name, ty) = (&param.name, &param.ty);
    match ty {
        ty if is_made_of_others(ty) => quote!(#name: impl Into<#ty>),
        ty if is_order(ty) => quote!(#name: impl Into<Order<'order>>),
        ty if is_tensors(ty) => quote!(#name: &[impl std::borrow::Borrow<Tensor>]),
        ty => quote!(#name: #ty),
    }
}

/// What makes of an argument, as the public functions take it, what the body takes.
fn converted(param: &Param) -> Option<TokenStream> {
    let (name, ty) = (&param.name, &param.ty);
    match ty {
        ty if is_made_of_others(ty) || is_order(ty) => Some(quote!(let #name: #ty = #name.into();)),
        ty if is_tensors(ty) => Some(quote! {
            let #name: Vec<Tensor> = #name.iter().map(|t| std::borrow::Borrow::<Tensor>::borrow(t).clone()).collect();
            let #name: &[Tensor] = &#name;
        }),
        _ => None,
    }
}

/// What an argument has of tensors: how they are looked at, and how it is made of converted ones. None where it has
/// none.
fn cast(param: &Param) -> Option<(TokenStream, TokenStream)> {
    let (name, ty) = (&param.name, &param.ty);
    let is = |ty: &Type, word: &str| matches!(ty, Type::Path(path) if path.path.is_ident(word));
    let is_tensor = |ty: &Type| matches!(ty, Type::Reference(r) if is(&r.elem, "Tensor"));
    if is_tensor(ty) {
        return Some((quote!(__operands.push(#name);), quote!(let #name = &__to.tensor(#name);)));
    }
    if is_tensors(ty) {
        let made = quote! { let #name = __to.tensors(#name); let #name = &#name[..]; };
        return Some((quote!(__operands.extend(#name.iter());), made));
    }
    if is(ty, "Operand") {
        let seen = quote!(if let Operand::Tensor(t) = &#name { __operands.push(t); });
        return Some((seen, quote!(let #name = __to.operand(#name);)));
    }
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let syn::PathArguments::AngleBracketed(inner) = &last.arguments else { return None };
    let Some(syn::GenericArgument::Type(inner)) = inner.args.first() else { return None };
    if is_tensor(inner) {
        let made = quote! { let #name = #name.map(|t| __to.tensor(t)); let #name = #name.as_ref(); };
        return Some((quote!(__operands.extend(#name);), made));
    }
    if is(inner, "Operand") {
        let seen = quote!(if let Some(Operand::Tensor(t)) = &#name { __operands.push(t); });
        return Some((seen, quote!(let #name = #name.map(|operand| __to.operand(operand));)));
    }
    None
}

/// How an operation finds out in which dtype it runs: once more with converted operands, where a region of mixed
/// precision says so.
fn autocast(operation: &Operation, fallible: &Ident) -> TokenStream {
    let text = operation.name();
    let arguments: Vec<_> = operation.params.iter().map(|p| &p.name).collect();
    let (seen, made): (Vec<_>, Vec<_>) = operation.params.iter().filter_map(cast).unzip();
    let (this_seen, this_made, on) = match operation.has_receiver {
        true => (quote!(__operands.push(self);), quote!(let __this = __to.tensor(self);), quote!(__this.)),
        false => (quote!(), quote!(), quote!(Self::)),
    };
    if !operation.has_receiver && seen.is_empty() {
        return quote!(let _aside = None::<crate::autocast::Aside>;);
    }
    quote! {
        let _aside = if crate::autocast::is_on() {
            const WAYS: crate::autocast::Ways = crate::autocast::ways(#text);
            if WAYS.is_listed() {
                let mut __operands: Vec<&Tensor> = Vec::new();
                #this_seen
                #(#seen)*
                match crate::autocast::entered(#text, WAYS, &__operands)? {
                    crate::autocast::Entry::In(__to) => {
                        #this_made
                        #(#made)*
                        let _aside = crate::autocast::aside();
                        return #on #fallible(#(#arguments),*);
                    }
                    crate::autocast::Entry::AsItIs => Some(crate::autocast::aside()),
                    crate::autocast::Entry::ByParts => None,
                }
            } else {
                Some(crate::autocast::aside())
            }
        } else {
            None
        };
    }
}

/// The function that answers with a `Result`, and the two that write in place: one that may panic (the other again,
/// where none does), and one that answers with a `Result`.
fn names(operation: &Operation, is_fallible: bool) -> (Ident, Ident, Ident) {
    let plain = &operation.function.sig.ident;
    let (in_rust, text) = (plain.unraw().to_string(), operation.name());
    let (in_rust, written) = (in_rust.trim_end_matches('_'), format_ident!("{text}_"));
    match is_fallible {
        true => (plain.clone(), written.clone(), written),
        false => (format_ident!("try_{in_rust}"), written, format_ident!("try_{text}_")),
    }
}

/// The words for Rust, which say what arguments Rust does not have.
fn documentation(operation: &Operation) -> Vec<String> {
    let mut lines: Vec<String> = text(operation).lines().map(str::to_string).collect();
    let others = operation.params.iter().filter(|p| p.python_only);
    let others: Vec<String> = others.map(|p| format!("`{}`", p.name.unraw())).collect();
    if !others.is_empty() {
        let end = lines.iter().position(|line| line.starts_with("# ")).unwrap_or(lines.len());
        let words = [format!("Python's alone: {}.", others.join(", ")), String::new()];
        lines.splice(end..end, words);
    }
    lines.iter().map(|line| if line.is_empty() { line.clone() } else { format!(" {line}") }).collect()
}

/// The function that takes all arguments: the one that answers with a `Result`, or where some are Python's alone, one
/// behind it.
fn in_full(operation: &Operation, fallible: &Ident) -> Ident {
    match operation.params.iter().any(|p| p.python_only) {
        true => format_ident!("{fallible}_in_full"),
        false => fallible.clone(),
    }
}

/// What calls the function that takes all arguments with those that Rust has, where some are Python's alone.
fn for_rust(operation: &Operation, fallible: &Ident) -> Option<TokenStream> {
    let full = in_full(operation, fallible);
    if full == *fallible {
        return None;
    }
    let answer = &operation.function.sig.output;
    let (documentation, attributes) = (documentation(operation), &operation.function.attrs);
    let parameters = operation.params.iter().filter(|p| !p.python_only).map(outer);
    let arguments = operation.params.iter().map(|p| match (&p.default, p.python_only) {
        (Some((default, _)), true) => quote!(#default),
        _ => {
            let name = &p.name;
            quote!(#name)
        }
    });
    let receiver = operation.has_receiver.then(|| quote!(&self,));
    let generics = generics(operation);
    let on = if operation.has_receiver { quote!(self.) } else { quote!(Self::) };
    Some(quote! {
        #(#[doc = #documentation])*
        #(#attributes)*
        #[track_caller]
        pub fn #fallible #generics(#receiver #(#parameters),*) #answer {
            #on #full(#(#arguments),*)
        }
    })
}

/// The method that takes no arguments, and its twin.
fn without_arguments(operation: &Operation, fallible: &Ident, result: &TokenStream) -> Option<TokenStream> {
    let name = operation.surface.plain.as_ref()?;
    let (method, twin) = (format_ident!("{name}"), format_ident!("try_{name}"));
    let words = text(operation);
    let words = words.split("\n\n").next().unwrap_or_default().lines().map(|line| format!(" {line}"));
    let words: Vec<String> = words.collect();
    let with =
        format!("Of all elements; with its arguments it is [`Tensor::{}`].", operation.function.sig.ident);
    let defaults = operation.params.iter().filter(|p| !p.python_only).filter_map(|p| p.default.as_ref());
    let defaults = defaults.map(|(default, _)| default);
    let same = format!("As [`Tensor::{name}`].");
    let errors = format!("Those of [`Tensor::{}`].", operation.function.sig.ident);
    Some(quote! {
        #(#[doc = #words])*
        ///
        #[doc = #with]
        ///
        /// # Panics
        ///
        /// Where its `try_` twin answers with an error.
        #[track_caller]
        pub fn #method(&self) -> <#result as crate::surface::Fallible>::Value {
            crate::ops::or_panic(self.#twin())
        }

        #[doc = #same]
        ///
        /// # Errors
        ///
        #[doc = #errors]
        #[track_caller]
        pub fn #twin(&self) -> #result {
            crate::caller::public(#name, || self.#fallible(#(#defaults),*))
        }
    })
}

/// The methods that write the result into the tensor: one that may panic, where the operation may, and one that answers with a `Result`.
fn in_place(operation: &Operation, is_fallible: bool) -> TokenStream {
    let (plain, attributes) = (&operation.function.sig.ident, &operation.function.attrs);
    let text = operation.name().trim_start_matches('_').to_string();
    let (fallible, written, fallibly) = names(operation, is_fallible);
    let in_rust = || operation.params.iter().filter(|p| !p.python_only);
    let parameters: Vec<_> = in_rust().map(outer).collect();
    let arguments: Vec<_> = in_rust().map(|p| &p.name).collect();
    let generics = generics(operation);
    // What answers with a view makes the tensor that view of itself.
    let (changed, does) = match operation.surface.view {
        true => (format_ident!("turned"), "of the tensor itself"),
        false => (format_ident!("written"), "written into the tensor"),
    };
    let says = format!("[`Tensor::{plain}`], {does}.");
    let twin = if is_fallible { says.clone() } else { format!("As [`Tensor::{written}`].") };
    let panicking = (!is_fallible).then(|| {
        quote! {
            #[doc = #says]
            ///
            /// # Panics
            ///
            /// Where its `try_` twin answers with an error.
            #(#attributes)*
            #[track_caller]
            pub fn #written #generics(&self, #(#parameters),*) {
                crate::ops::or_panic(self.#fallibly(#(#arguments),*))
            }
        }
    });
    quote! {
        #panicking

        #[doc = #twin]
        ///
        /// # Errors
        ///
        /// Those of the operation; a result of another dtype or shape than the tensor's; a tensor that cannot be
        /// written to.
        #(#attributes)*
        #[track_caller]
        pub fn #fallibly #generics(&self, #(#parameters),*) -> mg_device::Result<()> {
            crate::caller::public(#text, || {
                crate::surface::#changed(self, |operand| operand.#fallible(#(#arguments),*))
            })
        }
    }
}

/// The same methods by another name.
fn by_another_name(operation: &Operation, is_fallible: bool, other: &str) -> TokenStream {
    let function = &operation.function;
    let (plain, answer, attributes) = (&function.sig.ident, &function.sig.output, &function.attrs);
    let (fallible, written, fallibly) = names(operation, is_fallible);
    let (name, try_name) = (format_ident!("{other}"), format_ident!("try_{other}"));
    let (in_place, try_in_place) = (format_ident!("{other}_"), format_ident!("try_{other}_"));
    let in_rust = || operation.params.iter().filter(|p| !p.python_only);
    let parameters: Vec<_> = in_rust().map(outer).collect();
    let arguments: Vec<_> = in_rust().map(|p| &p.name).collect();
    let receiver = operation.has_receiver.then(|| quote!(&self,));
    let generics = generics(operation);
    let on = if operation.has_receiver { quote!(self.) } else { quote!(Self::) };
    let says = |of: &Ident| format!("[`Tensor::{of}`], by another of its names.");
    let errors = |of: &Ident| format!("Those of [`Tensor::{of}`].");
    let answering = |name: &Ident, of: &Ident, answer: TokenStream| {
        let (says, errors) = (says(of), errors(of));
        quote! {
            #[doc = #says]
            ///
            /// # Errors
            ///
            #[doc = #errors]
            #(#attributes)*
            #[track_caller]
            pub fn #name #generics(#receiver #(#parameters),*) #answer {
                #on #of(#(#arguments),*)
            }
        }
    };
    let panicking = |name: &Ident, of: &Ident, answer: TokenStream| {
        let says = says(of);
        quote! {
            #[doc = #says]
            ///
            /// # Panics
            ///
            /// Where its `try_` twin answers with an error.
            #(#attributes)*
            #[track_caller]
            pub fn #name #generics(#receiver #(#parameters),*) #answer {
                #on #of(#(#arguments),*)
            }
        }
    };
    let nothing = quote!(-> mg_device::Result<()>);
    if is_fallible {
        let own = answering(&name, &fallible, quote!(#answer));
        let in_place = operation.surface.in_place.then(|| answering(&in_place, &written, nothing));
        return quote!(#own #in_place);
    }
    let result = match answer {
        syn::ReturnType::Type(_, ty) => quote!(#ty),
        syn::ReturnType::Default => quote!(()),
    };
    let own = panicking(&name, plain, quote!(-> <#result as crate::surface::Fallible>::Value));
    let try_own = answering(&try_name, &fallible, quote!(#answer));
    let in_place = operation.surface.in_place.then(|| {
        let (own, try_own) =
            (panicking(&in_place, &written, quote!()), answering(&try_in_place, &fallibly, nothing));
        quote!(#own #try_own)
    });
    quote!(#own #try_own #in_place)
}

/// The plain method, its `try_` twin, and those in place.
fn methods(operation: &Operation, is_fallible: bool) -> TokenStream {
    let function = &operation.function;
    let (plain, answer, body) = (&function.sig.ident, &function.sig.output, &function.block);
    // What Python has under a name of its own, for a function around it, is known to users by that function's.
    let text = operation.name().trim_start_matches('_').to_string();
    let (fallible, ..) = names(operation, is_fallible);
    let (documentation, attributes) = (documentation(operation), &function.attrs);
    let all: Vec<_> = operation.params.iter().map(outer).collect();
    let in_rust = || operation.params.iter().filter(|p| !p.python_only);
    let parameters: Vec<_> = in_rust().map(outer).collect();
    let arguments: Vec<_> = in_rust().map(|p| &p.name).collect();
    let converted: Vec<_> = operation.params.iter().filter_map(converted).collect();
    let receiver = operation.has_receiver.then(|| quote!(&self,));
    let generics = generics(operation);
    let full = in_full(operation, &fallible);
    let for_rust = for_rust(operation, &fallible);
    let autocast = autocast(operation, &full);
    let on = if operation.has_receiver { quote!(self.) } else { quote!(Self::) };
    let result = match answer {
        syn::ReturnType::Type(_, ty) => quote!(#ty),
        syn::ReturnType::Default => quote!(()),
    };
    let without = without_arguments(operation, &fallible, &result);
    // What is behind another function is nobody else's.
    let public = for_rust.is_none().then(|| quote!(pub));
    // Where an operation ends with a view of what it has made itself, nobody sees the rest: the result is a tensor of its own.
    let own = (!operation.surface.view && result.to_string().replace(' ', "") == "Result<Tensor>")
        .then(|| quote!(.map(Tensor::alone)));
    let in_place = operation.surface.in_place.then(|| in_place(operation, is_fallible));
    let others = operation.surface.aliases.iter().map(|other| by_another_name(operation, is_fallible, other));
    let panicking = (!is_fallible).then(|| {
        quote! {
            #(#[doc = #documentation])*
            ///
            /// # Panics
            ///
            /// Where its `try_` twin answers with an error.
            #(#attributes)*
            #[track_caller]
            pub fn #plain #generics(#receiver #(#parameters),*) -> <#result as crate::surface::Fallible>::Value {
                crate::ops::or_panic(#on #fallible(#(#arguments),*))
            }
        }
    });
    quote! {
        #without

        #panicking

        #for_rust

        #(#[doc = #documentation])*
        #(#attributes)*
        #[track_caller]
        #public fn #full #generics(#receiver #(#all),*) #answer {
            #(#converted)*
            #autocast
            crate::caller::public(#text, || -> #result #body) #own
        }

        #in_place

        #(#others)*
    }
}

/// The table's words for the parameters.
fn described(operation: &Operation) -> Vec<TokenStream> {
    let mut by_keyword = false;
    let params = operation.params.iter().map(|param| {
        let (name, ty) = (param.name.unraw().to_string(), statically(&param.ty));
        by_keyword |= operation.surface.keywords_from.as_ref() == Some(&name);
        let default = match &param.default {
            Some((_, text)) => quote!(Some(#text)),
            None => quote!(None),
        };
        quote! {
            crate::surface::Param {
                name: #name,
                kind: <#ty as crate::surface::FromArg>::KIND,
                takes_none: <#ty as crate::surface::FromArg>::TAKES_NONE,
                default: #default,
                keyword_only: #by_keyword,
            }
        }
    });
    params.collect()
}

/// What calls the operation with arguments that the table's reader has found.
fn called(operation: &Operation, fallible: &Ident) -> TokenStream {
    let first = usize::from(operation.has_receiver);
    let arguments: Vec<_> = operation.params.iter().map(|p| &p.name).collect();
    let taken = operation.params.iter().enumerate().map(|(i, param)| {
        let (name, ty, at) = (&param.name, &param.ty, i + first);
        match &param.default {
            // Without a closure: of each there would be one more function that takes an argument.
            Some((default, _)) => quote! {
                let #name: #ty = match args.given::<#ty>(#at)? { Some(given) => given, None => #default };
            },
            None => quote!(let #name: #ty = args.take(#at)?;),
        }
    });
    let call = match operation.has_receiver {
        true => quote! { let this: &Tensor = args.take(0)?; this.#fallible(#(#arguments),*) },
        false => quote! { Tensor::#fallible(#(#arguments),*) },
    };
    quote! {
        #(#taken)*
        let answer = { #call }?;
        Ok(crate::surface::Answer::from(answer))
    }
}

/// The entry of the table.
fn description(operation: &Operation, is_fallible: bool) -> TokenStream {
    let surface = &operation.surface;
    let plain = operation.name();
    let (fallible, ..) = names(operation, is_fallible);
    let fallible = in_full(operation, &fallible);
    let documentation = text(operation);
    let places: Vec<Ident> = match surface.places.is_empty() {
        true if surface.in_place_only => vec![],
        true => vec![format_ident!("Method"), format_ident!("Function")],
        false => surface.places.iter().map(place).collect(),
    };
    let (aliases, answers) = (&surface.aliases, &surface.answers);
    let (in_place, view, variadic) = (surface.in_place, surface.view, surface.variadic);
    let (each, reads) = (surface.each, surface.reads);
    let (compares, divides, warns) = (surface.compares, surface.divides, surface.warns);
    let (keeps_zero, in_kernels) = (surface.keeps_zero, !surface.not_in_kernels);
    let manners = &surface.manners;
    let of_integers = match (surface.integers, surface.doubles) {
        (true, _) => format_ident!("Integers"),
        (false, true) => format_ident!("Doubles"),
        (false, false) => format_ident!("Floats"),
    };
    let has_receiver = operation.has_receiver;
    let params = described(operation);
    let result = match &operation.function.sig.output {
        syn::ReturnType::Type(_, ty) => quote!(#ty),
        syn::ReturnType::Default => quote!(()),
    };
    let called = called(operation, &fallible);
    quote! {
        crate::surface::Operation {
            name: #plain,
            aliases: &[#(#aliases),*],
            documentation: #documentation,
            places: &[#(crate::surface::Place::#places),*],
            has_receiver: #has_receiver,
            params: &[#(#params),*],
            in_place: #in_place,
            view: #view,
            variadic: #variadic,
            each: #each,
            reads: #reads,
            row: None,
            of_integers: crate::surface::OfIntegers::#of_integers,
            compares: #compares,
            divides: #divides,
            warns: #warns,
            keeps_zero: #keeps_zero,
            in_kernels: #in_kernels,
            manners: &[#(crate::surface::Manner::#manners),*],
            answers: &[#(#answers),*],
            returns: <#result as crate::surface::Fallible>::RETURNS,
            call: |args| { #called },
        }
    }
}

fn place(word: &Ident) -> Ident {
    let mut text = word.to_string();
    text[..1].make_ascii_uppercase();
    Ident::new(&text, word.span())
}

/// The type with its references living for ever, as a constant wants them.
fn statically(ty: &Type) -> TokenStream {
    match ty {
        Type::Reference(reference) => {
            let inner = statically(&reference.elem);
            quote!(&'static #inner)
        }
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "Option" => match &last.arguments {
                syn::PathArguments::AngleBracketed(inner) => match inner.args.first() {
                    Some(syn::GenericArgument::Type(inner)) => {
                        let inner = statically(inner);
                        quote!(Option<#inner>)
                    }
                    _ => quote!(#ty),
                },
                _ => quote!(#ty),
            },
            _ => quote!(#ty),
        },
        _ => quote!(#ty),
    }
}

/// The documentation as one text.
fn text(operation: &Operation) -> String {
    let lines = operation.documentation.iter().filter_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. }) => {
                let line = line.value();
                Some(line.strip_prefix(' ').unwrap_or(&line).to_string())
            }
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}
