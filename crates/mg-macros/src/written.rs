//! What is written of a declaration.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Ident, ItemImpl, Type};

use crate::declared::{Operation, Param};

pub fn block(table: &Ident, block: &ItemImpl, operations: &[Operation]) -> TokenStream {
    let methods = operations.iter().map(methods);
    let descriptions = operations.iter().map(description);
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

/// Whether a type is `Operand`, for which the public functions take anything that can be one.
fn is_operand(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Operand"))
}

fn outer(param: &Param) -> TokenStream {
    let (name, ty) = (&param.name, &param.ty);
    if is_operand(ty) { quote!(#name: impl Into<Operand>) } else { quote!(#name: #ty) }
}

/// The plain method, its `try_` twin, and those in place.
fn methods(operation: &Operation) -> TokenStream {
    let function = &operation.function;
    let (plain, answer, body) = (&function.sig.ident, &function.sig.output, &function.block);
    let text = operation.name();
    let fallible = format_ident!("try_{}", plain.unraw().to_string().trim_end_matches('_'));
    let (documentation, attributes) = (&operation.documentation, &function.attrs);
    let parameters: Vec<_> = operation.params.iter().map(outer).collect();
    let names: Vec<_> = operation.params.iter().map(|p| &p.name).collect();
    let converted: Vec<_> = operation.params.iter().filter(|p| is_operand(&p.ty)).map(|p| &p.name).collect();
    let receiver = operation.has_receiver.then(|| quote!(&self,));
    let on = if operation.has_receiver { quote!(self.) } else { quote!(Self::) };
    let result = match answer {
        syn::ReturnType::Type(_, ty) => quote!(#ty),
        syn::ReturnType::Default => quote!(()),
    };
    let in_place = operation.surface.in_place.then(|| {
        let (written, fallibly) = (format_ident!("{text}_"), format_ident!("try_{text}_"));
        let (says, twin) =
            (format!("[`Tensor::{plain}`], written into the tensor."), format!("As [`Tensor::{written}`]."));
        quote! {
            #[doc = #says]
            ///
            /// # Panics
            ///
            /// Where its `try_` twin answers with an error.
            #(#attributes)*
            #[track_caller]
            pub fn #written(&self, #(#parameters),*) {
                crate::ops::or_panic(self.#fallibly(#(#names),*))
            }

            #[doc = #twin]
            ///
            /// # Errors
            ///
            /// Those of the operation; a result of another dtype or shape than the tensor's; a tensor that cannot be
            /// written to.
            #(#attributes)*
            #[track_caller]
            pub fn #fallibly(&self, #(#parameters),*) -> mg_device::Result<()> {
                crate::caller::public(#text, || {
                    crate::surface::written(self, || self.#fallible(#(#names),*))
                })
            }
        }
    });
    quote! {
        #(#documentation)*
        ///
        /// # Panics
        ///
        /// Where its `try_` twin answers with an error.
        #(#attributes)*
        #[track_caller]
        pub fn #plain(#receiver #(#parameters),*) -> <#result as crate::surface::Fallible>::Value {
            crate::ops::or_panic(#on #fallible(#(#names),*))
        }

        #(#documentation)*
        #(#attributes)*
        #[track_caller]
        pub fn #fallible(#receiver #(#parameters),*) #answer {
            #(let #converted: Operand = #converted.into();)*
            crate::caller::public(#text, || -> #result #body)
        }

        #in_place
    }
}

/// The entry of the table.
fn description(operation: &Operation) -> TokenStream {
    let surface = &operation.surface;
    let (plain, function) = (operation.name(), operation.function.sig.ident.unraw().to_string());
    let fallible = format_ident!("try_{}", function.trim_end_matches('_'));
    let documentation = text(operation);
    let places: Vec<Ident> = match surface.places.is_empty() {
        true if surface.in_place_only => vec![],
        true => vec![format_ident!("Method"), format_ident!("Function")],
        false => surface.places.iter().map(place).collect(),
    };
    let (aliases, answers) = (&surface.aliases, &surface.answers);
    let (in_place, view, variadic) = (surface.in_place, surface.view, surface.variadic);
    let has_receiver = operation.has_receiver;
    let mut by_keyword = false;
    let params = operation.params.iter().map(|param| {
        let (name, ty) = (param.name.unraw().to_string(), statically(&param.ty));
        by_keyword |= surface.keywords_from.as_ref() == Some(&name);
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
    let params: Vec<_> = params.collect();
    let result = match &operation.function.sig.output {
        syn::ReturnType::Type(_, ty) => quote!(#ty),
        syn::ReturnType::Default => quote!(()),
    };
    let first = usize::from(has_receiver);
    let names: Vec<_> = operation.params.iter().map(|p| &p.name).collect();
    let taken = operation.params.iter().enumerate().map(|(i, param)| {
        let (name, ty, at) = (&param.name, &param.ty, i + first);
        match &param.default {
            Some((default, _)) => quote!(let #name: #ty = args.take_or(#at, || -> #ty { #default })?;),
            None => quote!(let #name: #ty = args.take(#at)?;),
        }
    });
    let call = match has_receiver {
        true => quote! { let this: &Tensor = args.take(0)?; this.#fallible(#(#names),*) },
        false => quote! { Tensor::#fallible(#(#names),*) },
    };
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
            answers: &[#(#answers),*],
            returns: <#result as crate::surface::Fallible>::RETURNS,
            call: |args| {
                #(#taken)*
                let answer = { #call }?;
                Ok(crate::surface::Answer::from(answer))
            },
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
