//! The op table's rows as methods: a row there is a method here, with the row's documentation.

// What `#[pymethods]` writes for functions that come out of a macro carries our spans, and so our lints.
#![allow(unsafe_op_in_unsafe_fn)]

use mg_autograd::Tensor;
use pyo3::prelude::*;

use crate::arith::other;
use crate::tensor::PyTensor;

/// Sorts the rows by the number of their operands, so that `#[pymethods]` sees plain functions.
macro_rules! rows {
    (@ [$($one:tt)*] [$($two:tt)*] ) => { methods! { [$($one)*] [$($two)*] } };
    // The gradient of relu; conditions come first in `where`; sums take an `alpha`; exponents have special cases; `logical` rows of two truth
    // values are taken by `arith`, which knows what they are of numbers.
    (@ $one:tt $two:tt [$($doc:literal)+] Gate $name:literal $m:ident $t:ident $c:ident $a:tt; $($rest:tt)*) => {
        rows!(@ $one $two $($rest)*);
    };
    (@ $one:tt $two:tt [$($doc:literal)+] Where $name:literal $m:ident $t:ident $c:ident $a:tt; $($rest:tt)*) => {
        rows!(@ $one $two $($rest)*);
    };
    (@ $one:tt $two:tt [$($doc:literal)+] Pow $name:literal $m:ident $t:ident $c:ident $a:tt; $($rest:tt)*) => {
        rows!(@ $one $two $($rest)*);
    };
    (@ $one:tt $two:tt [$($doc:literal)+] Add $name:literal $m:ident $t:ident $c:ident $a:tt; $($rest:tt)*) => {
        rows!(@ $one $two $($rest)*);
    };
    (@ $one:tt $two:tt [$($doc:literal)+] Sub $name:literal $m:ident $t:ident $c:ident $a:tt; $($rest:tt)*) => {
        rows!(@ $one $two $($rest)*);
    };
    (@ $one:tt $two:tt [$($doc:literal)+] IntPow $name:literal $m:ident $t:ident $c:ident $a:tt; $($rest:tt)*) => {
        rows!(@ $one $two $($rest)*);
    };
    (@ [$($one:tt)*] $two:tt [$($doc:literal)+] $Row:ident $name:literal $m:ident $t:ident $c:ident ($x:ident);
        $($rest:tt)*) => {
        rows!(@ [$($one)* { [$($doc)+] $m $t }] $two $($rest)*);
    };
    (@ $one:tt [$($two:tt)*] [$($doc:literal)+] $Row:ident $name:literal $m:ident $t:ident $c:ident ($x:ident $y:ident);
        $($rest:tt)*) => {
        rows!(@ $one [$($two)* { [$($doc)+] $m $t }] $($rest)*);
    };
    ($($table:tt)*) => { rows!(@ [] [] $($table)*); };
}

macro_rules! methods {
    ([$({ [$($doc1:literal)+] $m1:ident $t1:ident })*] [$({ [$($doc2:literal)+] $m2:ident $t2:ident })*]) => {
        #[pymethods]
        impl PyTensor {
            $(
                $(#[doc = $doc1])+
                fn $m1(&self, py: Python<'_>) -> PyResult<PyTensor> {
                    self.unary(py, Tensor::$t1)
                }
            )*
            $(
                $(#[doc = $doc2])+
                fn $m2(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
                    self.binary(py, self::other(other)?, |a, b| a.$t2(b))
                }
            )*
        }

        /// The methods that come from the op table: name, number of operands, documentation.
        #[pyfunction]
        pub fn _rows() -> Vec<(&'static str, usize, &'static str)> {
            vec![
                $((stringify!($m1), 1, concat!($($doc1, "\n"),+)),)*
                $((stringify!($m2), 2, concat!($($doc2, "\n"),+)),)*
            ]
        }
    };
}

mg_kernels::for_each_row!(rows);
