//! `#[derive(Module)]`: which fields of a struct are parameters, buffers and modules.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Fields, Path, Result, parse_quote};

/// What `#[module(…)]` says of a struct.
struct Told {
    /// Where the trait is.
    path: Path,
    /// There is no `forward` of one tensor.
    no_forward: bool,
}

impl Told {
    fn of(input: &DeriveInput) -> Result<Told> {
        let mut told = Told { path: parse_quote!(::micrograd_rs::nn), no_forward: false };
        for attribute in input.attrs.iter().filter(|a| a.path().is_ident("module")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("crate") {
                    told.path = meta.value()?.parse()?;
                    Ok(())
                } else if meta.path.is_ident("no_forward") {
                    told.no_forward = true;
                    Ok(())
                } else {
                    Err(meta.error("a struct is told `crate = path` or `no_forward`"))
                }
            })?;
        }
        Ok(told)
    }
}

/// How a field is told to a visitor.
enum Kind {
    /// As its type says.
    Registered,
    /// Saved with the parameters and not trained.
    Buffer,
    /// Not at all.
    Skipped,
}

impl Kind {
    fn of(field: &Field) -> Result<Kind> {
        let mut kind = Kind::Registered;
        for attribute in field.attrs.iter().filter(|a| a.path().is_ident("module")) {
            attribute.parse_nested_meta(|meta| {
                kind = if meta.path.is_ident("buffer") {
                    Kind::Buffer
                } else if meta.path.is_ident("skip") {
                    Kind::Skipped
                } else {
                    return Err(meta.error("a field is told `buffer` or `skip`"));
                };
                Ok(())
            })?;
        }
        Ok(kind)
    }
}

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a module is a struct"));
    };
    let Told { path, no_forward } = Told::of(input)?;
    let named = match &data.fields {
        Fields::Named(named) => named.named.iter().collect(),
        Fields::Unit => vec![],
        Fields::Unnamed(_) => {
            let text = "a module's fields have names: they are the names of its parameters";
            return Err(Error::new_spanned(&input.ident, text));
        }
    };
    let mut visits = vec![];
    for field in named {
        let name = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a field without a name"))?;
        // `r#type` is saved as `type`.
        let text = name.to_string();
        let text = text.strip_prefix("r#").unwrap_or(&text);
        visits.push(match Kind::of(field)? {
            Kind::Registered => quote! { #path::Register::register(&self.#name, #text, visitor); },
            Kind::Buffer => quote! { #path::RegisterBuffer::register_buffer(&self.#name, #text, visitor); },
            Kind::Skipped => quote! {},
        });
    }
    let (name, text) = (&input.ident, input.ident.to_string());
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let forward = match no_forward {
        true => quote! { #path::no_forward(#text) },
        false => quote! { #path::told(self, #name::forward(self, input)) },
    };
    let input = if no_forward { quote!(_) } else { quote!(input) };
    Ok(quote! {
        impl #generics #path::Module for #name #arguments #bounds {
            // Without a method `forward` of the struct's own this one would call itself.
            #[deny(unconditional_recursion)]
            fn forward(&self, #input: &#path::Tensor) -> #path::Result<#path::Tensor> {
                #forward
            }

            fn visit<'visited>(&'visited self, visitor: &mut #path::Visitor<'visited>) {
                let _ = &visitor;
                #(#visits)*
            }
        }
    })
}
