//! The methods of a row of the op table beside its own two.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::ParseStream;
use syn::{Ident, Result, Token, parenthesized};

/// `other = plain(operand)`, of which the other name and the operand may not be there.
pub struct Twins {
    other: Option<Ident>,
    plain: Ident,
    operand: Option<Ident>,
}

impl syn::parse::Parse for Twins {
    fn parse(input: ParseStream<'_>) -> Result<Twins> {
        let first: Ident = input.parse()?;
        let (other, plain) = match input.parse::<Option<Token![=]>>()? {
            Some(_) => (Some(first), input.parse()?),
            None => (None, first),
        };
        let inside;
        parenthesized!(inside in input);
        Ok(Twins { other, plain, operand: inside.parse()? })
    }
}

impl Twins {
    pub fn written(&self) -> TokenStream {
        let plain = &self.plain;
        let named = self.other.as_ref().map(|other| by_another_name(other, plain, self.operand.as_ref()));
        let in_place = in_place(self.other.as_ref().unwrap_or(plain), plain, self.operand.as_ref());
        quote!(#named #in_place)
    }
}

fn by_another_name(other: &Ident, plain: &Ident, operand: Option<&Ident>) -> TokenStream {
    let (try_other, try_plain) = (format_ident!("try_{other}"), format_ident!("try_{plain}"));
    let says = format!("[`Tensor::{plain}`], by another of its names.");
    let twin = format!("As [`Tensor::{other}`].");
    let errors = format!("Those of [`Tensor::{try_plain}`].");
    let parameter = operand.map(|operand| quote!(, #operand: impl Into<Operand>));
    quote! {
        #[doc = #says]
        ///
        /// # Panics
        ///
        /// Where its `try_` twin answers with an error.
        #[track_caller]
        pub fn #other(&self #parameter) -> Tensor {
            self.#plain(#operand)
        }

        #[doc = #twin]
        ///
        /// # Errors
        ///
        #[doc = #errors]
        #[track_caller]
        pub fn #try_other(&self #parameter) -> Result<Tensor> {
            self.#try_plain(#operand)
        }
    }
}

fn in_place(name: &Ident, plain: &Ident, operand: Option<&Ident>) -> TokenStream {
    let (text, try_plain) = (plain.to_string(), format_ident!("try_{plain}"));
    let (written, try_written) = (format_ident!("{name}_"), format_ident!("try_{name}_"));
    let says = format!("[`Tensor::{plain}`], written into the tensor.");
    let twin = format!("As [`Tensor::{written}`].");
    let parameter = operand.map(|operand| quote!(, #operand: impl Into<Operand>));
    let body = match operand {
        None => {
            quote!(crate::caller::public(#text, || crate::surface::written(self, |tensor| tensor.#try_plain())))
        }
        Some(operand) => {
            let operation = quote!(|tensor, #operand| tensor.#try_plain(#operand));
            quote!(crate::surface::written_with(#text, self, #operand.into(), #operation))
        }
    };
    quote! {
        #[doc = #says]
        ///
        /// # Panics
        ///
        /// Where its `try_` twin answers with an error.
        #[track_caller]
        pub fn #written(&self #parameter) {
            crate::ops::or_panic(self.#try_written(#operand))
        }

        #[doc = #twin]
        ///
        /// # Errors
        ///
        /// Those of the operation; a result of another dtype or shape than the tensor's; a tensor that cannot be
        /// written to.
        #[track_caller]
        pub fn #try_written(&self #parameter) -> Result<()> {
            #body
        }
    }
}
