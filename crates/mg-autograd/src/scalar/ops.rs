//! The operations: methods, operators, and operators with plain numbers on either side.

use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use mg_device::Result;

use super::Value;
use super::op::{Form, Op};
use super::tape::{self, Operand};

/// The second operand of an operation that takes a number or a value.
#[derive(Debug, Clone)]
pub enum Number {
    /// A plain number: it has no gradient, and takes no node.
    Plain(f64),
    /// A value.
    Value(Value),
}

impl From<f64> for Number {
    fn from(number: f64) -> Number {
        Number::Plain(number)
    }
}

impl From<i32> for Number {
    fn from(number: i32) -> Number {
        Number::Plain(number.into())
    }
}

impl From<Value> for Number {
    fn from(value: Value) -> Number {
        Number::Value(value)
    }
}

impl From<&Value> for Number {
    fn from(value: &Value) -> Number {
        Number::Value(value.clone())
    }
}

#[inline(always)]
pub(super) fn unary(op: Op, x: Value) -> Value {
    let (data, device, newest) = (op.value(x.data(), 0.0), x.node().device, x.seq());
    let operands = (Operand { node: x.into_raw().as_ptr() }, Operand { none: () });
    // SAFETY: one node, with the count of `x`.
    Value(unsafe { tape::push(op, Form::Unary, device, data, operands, newest) })
}

#[inline(always)]
#[track_caller]
fn binary(op: Op, name: &'static str, x: Value, y: Value) -> Result<Value> {
    check_devices(name, &x, &y)?;
    Ok(both(op, x, y))
}

#[inline(always)]
#[track_caller]
fn check_devices(name: &'static str, x: &Value, y: &Value) -> Result<()> {
    if x.node().device == y.node().device { Ok(()) } else { Err(super::unlike_devices(name, x, y)) }
}

/// The operands are on one device.
#[inline(always)]
fn both(op: Op, x: Value, y: Value) -> Value {
    let (data, device, newest) = (op.value(x.data(), y.data()), x.node().device, x.seq().max(y.seq()));
    let operands = (Operand { node: x.into_raw().as_ptr() }, Operand { node: y.into_raw().as_ptr() });
    // SAFETY: two nodes, with the counts of `x` and `y`.
    Value(unsafe { tape::push(op, Form::Both, device, data, operands, newest) })
}

/// Makes a handle name what `f` computes of it. The count goes along, so that none is written.
///
/// # Safety
///
/// `f` does not unwind.
#[inline(always)]
unsafe fn rebind(handle: &mut Value, f: impl FnOnce(Value) -> Value) {
    // SAFETY: the handle is read once and written once, and nobody sees it in between, for `f` does not unwind.
    unsafe { std::ptr::write(handle, f(std::ptr::read(handle))) };
}

#[inline(always)]
fn with_number(op: Op, form: Form, x: Value, number: f64) -> Value {
    let data =
        if form == Form::NumberRight { op.value(x.data(), number) } else { op.value(number, x.data()) };
    let (device, newest) = (x.node().device, x.seq());
    let operands = (Operand { node: x.into_raw().as_ptr() }, Operand { number });
    // SAFETY: a node with the count of `x`, and a number.
    Value(unsafe { tape::push(op, form, device, data, operands, newest) })
}

impl Value {
    /// `max(0, x)`; NaN stays NaN. The derivative at 0 is 0.
    #[must_use]
    pub fn relu(&self) -> Value {
        unary(Op::Relu, self.clone())
    }

    /// `eˣ`.
    #[must_use]
    pub fn exp(&self) -> Value {
        unary(Op::Exp, self.clone())
    }

    /// The natural logarithm: −∞ at 0, NaN below.
    #[must_use]
    pub fn log(&self) -> Value {
        unary(Op::Log, self.clone())
    }

    /// The hyperbolic tangent.
    #[must_use]
    pub fn tanh(&self) -> Value {
        unary(Op::Tanh, self.clone())
    }

    /// `1 / (1 + e⁻ˣ)`.
    #[must_use]
    pub fn sigmoid(&self) -> Value {
        unary(Op::Sigmoid, self.clone())
    }

    /// `xʸ`, where the exponent is a number or a value. `x⁰` is 1 with derivative 0, also at 0; the derivative by the
    /// exponent is 0 at `x = 0` and NaN for a negative `x`.
    ///
    /// # Panics
    ///
    /// If the exponent is a value on another device. [`try_pow`](Value::try_pow) returns the error.
    #[must_use]
    #[track_caller]
    pub fn pow(&self, exponent: impl Into<Number>) -> Value {
        match self.try_pow(exponent) {
            Ok(value) => value,
            Err(e) => super::panic_with(&e),
        }
    }

    /// [`pow`](Value::pow), with a mistake as an error.
    ///
    /// # Errors
    ///
    /// [`UnlikeDevices`](mg_device::ErrorKind::UnlikeDevices) if the exponent is a value on another device.
    #[track_caller]
    pub fn try_pow(&self, exponent: impl Into<Number>) -> Result<Value> {
        match exponent.into() {
            Number::Plain(y) => Ok(with_number(Op::Pow, Form::NumberRight, self.clone(), y)),
            Number::Value(y) => binary(Op::Pow, "pow", self.clone(), y),
        }
    }

    /// `baseˣ`, for a base that is a number: what `2**v` means in Python.
    #[must_use]
    pub fn rpow(&self, base: f64) -> Value {
        with_number(Op::Pow, Form::NumberLeft, self.clone(), base)
    }
}

macro_rules! binary_operator {
    ($Trait:ident, $method:ident, $Assign:ident, $assign:ident, $try_method:ident, $op:expr, $sign:literal) => {
        impl Value {
            #[doc = concat!("`self ", $sign, " other`, with a mistake as an error.")]
            ///
            /// # Errors
            ///
            /// [`UnlikeDevices`](mg_device::ErrorKind::UnlikeDevices) if the two are on unlike devices.
            #[track_caller]
            pub fn $try_method(&self, other: impl Into<Number>) -> Result<Value> {
                match other.into() {
                    Number::Plain(y) => Ok(with_number($op, Form::NumberRight, self.clone(), y)),
                    Number::Value(y) => binary($op, stringify!($method), self.clone(), y),
                }
            }
        }

        impl $Trait<Value> for Value {
            type Output = Value;
            #[inline]
            #[track_caller]
            fn $method(self, other: Value) -> Value {
                match binary($op, stringify!($method), self, other) {
                    Ok(value) => value,
                    Err(e) => super::panic_with(&e),
                }
            }
        }

        impl $Trait<&Value> for Value {
            type Output = Value;
            #[inline]
            #[track_caller]
            fn $method(self, other: &Value) -> Value {
                $Trait::$method(self, other.clone())
            }
        }

        impl $Trait<Value> for &Value {
            type Output = Value;
            #[inline]
            #[track_caller]
            fn $method(self, other: Value) -> Value {
                $Trait::$method(self.clone(), other)
            }
        }

        impl $Trait<&Value> for &Value {
            type Output = Value;
            #[inline]
            #[track_caller]
            fn $method(self, other: &Value) -> Value {
                $Trait::$method(self.clone(), other.clone())
            }
        }

        impl $Trait<f64> for Value {
            type Output = Value;
            #[inline]
            fn $method(self, other: f64) -> Value {
                with_number($op, Form::NumberRight, self, other)
            }
        }

        impl $Trait<f64> for &Value {
            type Output = Value;
            #[inline]
            fn $method(self, other: f64) -> Value {
                with_number($op, Form::NumberRight, self.clone(), other)
            }
        }

        impl $Trait<Value> for f64 {
            type Output = Value;
            #[inline]
            fn $method(self, other: Value) -> Value {
                with_number($op, Form::NumberLeft, other, self)
            }
        }

        impl $Trait<&Value> for f64 {
            type Output = Value;
            #[inline]
            fn $method(self, other: &Value) -> Value {
                with_number($op, Form::NumberLeft, other.clone(), self)
            }
        }

        impl<T: Into<Number>> $Assign<T> for Value {
            /// Makes this handle name the result; other handles keep the old value.
            #[inline]
            #[track_caller]
            fn $assign(&mut self, other: T) {
                match other.into() {
                    // SAFETY: writing a node does not unwind.
                    Number::Plain(y) => unsafe {
                        rebind(self, |x| with_number($op, Form::NumberRight, x, y));
                    },
                    Number::Value(y) => {
                        if let Err(e) = check_devices(stringify!($method), self, &y) {
                            super::panic_with(&e);
                        }
                        // SAFETY: writing a node does not unwind.
                        unsafe { rebind(self, |x| both($op, x, y)) };
                    }
                }
            }
        }
    };
}

binary_operator!(Add, add, AddAssign, add_assign, try_add, Op::Add, "+");
binary_operator!(Sub, sub, SubAssign, sub_assign, try_sub, Op::Sub, "-");
binary_operator!(Mul, mul, MulAssign, mul_assign, try_mul, Op::Mul, "*");
binary_operator!(Div, div, DivAssign, div_assign, try_div, Op::Div, "/");

impl Neg for Value {
    type Output = Value;
    #[inline]
    fn neg(self) -> Value {
        unary(Op::Neg, self)
    }
}

impl Neg for &Value {
    type Output = Value;
    #[inline]
    fn neg(self) -> Value {
        unary(Op::Neg, self.clone())
    }
}

impl Sum for Value {
    /// A chain of additions in order; 0 for nothing.
    fn sum<I: Iterator<Item = Value>>(iter: I) -> Value {
        iter.reduce(|a, b| a + b).unwrap_or_default()
    }
}

impl<'a> Sum<&'a Value> for Value {
    fn sum<I: Iterator<Item = &'a Value>>(iter: I) -> Value {
        iter.cloned().sum()
    }
}

impl Product for Value {
    /// A chain of multiplications in order; 1 for nothing.
    fn product<I: Iterator<Item = Value>>(iter: I) -> Value {
        iter.reduce(|a, b| a * b).unwrap_or_else(|| Value::new(1.0))
    }
}
