//! Operators: `+`, `-`, `*`, `/`, of tensors and numbers.

use super::operand::{Operand, Term};
use super::{or_panic, reflected};
use crate::tensor::Tensor;
use mg_kernels::Row;

macro_rules! operator {
    ($Trait:ident $op:ident $try_op:ident $Row:ident) => {
        impl<T: Into<Operand>> std::ops::$Trait<T> for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $op(self, other: T) -> Tensor {
                or_panic(self.$try_op(other))
            }
        }
        impl<T: Into<Operand>> std::ops::$Trait<T> for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $op(self, other: T) -> Tensor {
                or_panic(self.$try_op(other))
            }
        }
        impl std::ops::$Trait<&Tensor> for f64 {
            type Output = Tensor;
            #[track_caller]
            fn $op(self, other: &Tensor) -> Tensor {
                or_panic(reflected(Row::$Row, Term::Float(self), other))
            }
        }
        impl std::ops::$Trait<Tensor> for f64 {
            type Output = Tensor;
            #[track_caller]
            fn $op(self, other: Tensor) -> Tensor {
                or_panic(reflected(Row::$Row, Term::Float(self), &other))
            }
        }
    };
}
operator!(Add add try_add Add);
operator!(Sub sub try_sub Sub);
operator!(Mul mul try_mul Mul);
operator!(Div div try_div Div);

impl std::ops::Neg for &Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        or_panic(self.try_neg())
    }
}
impl std::ops::Neg for Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        or_panic(self.try_neg())
    }
}
