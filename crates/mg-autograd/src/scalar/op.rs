//! The table of scalar operations: for each its value, its two derivatives and its name.

use std::borrow::Cow;

/// What a node computes from its operands `x` and `y` (`y` is absent for operations of one operand).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Op {
    Leaf,
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Neg,
    Relu,
    Exp,
    Log,
    Tanh,
    Sigmoid,
    To,
    Affine,
}

/// Where the operands of a node are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Form {
    /// No operands.
    Leaf,
    /// `x` is a node.
    Unary,
    /// `x` and `y` are nodes.
    Both,
    /// `x` is a node, `y` a number.
    NumberRight,
    /// `x` is a number, `y` a node. The node is stored first all the same.
    NumberLeft,
    /// Two spans: weights, with or without a bias at the end, and inputs.
    Spans,
}

impl Op {
    /// Every operation that is stored by its stem, for reading a graph back.
    pub(super) const ALL: [Op; 14] = [
        Op::Leaf,
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Pow,
        Op::Neg,
        Op::Relu,
        Op::Exp,
        Op::Log,
        Op::Tanh,
        Op::Sigmoid,
        Op::To,
        Op::Affine,
    ];

    /// The name without a constant exponent or base.
    pub(super) const fn stem(self) -> &'static str {
        match self {
            Op::Leaf => "",
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Div => "/",
            Op::Pow => "**",
            Op::Neg => "neg",
            Op::Relu => "ReLU",
            Op::Exp => "exp",
            Op::Log => "log",
            Op::Tanh => "tanh",
            Op::Sigmoid => "sigmoid",
            Op::To => "to",
            Op::Affine => "w·x+b",
        }
    }

    /// The name as micrograd writes it: a constant exponent is part of it ("**3"), so is a constant base ("2**").
    pub(super) fn name(self, form: Form, number: f64) -> Cow<'static, str> {
        match (self, form) {
            (Op::Pow, Form::NumberRight) => format!("**{}", short(number)).into(),
            (Op::Pow, Form::NumberLeft) => format!("{}**", short(number)).into(),
            _ => self.stem().into(),
        }
    }

    /// Whether the operation takes one operand.
    pub(super) const fn is_unary(self) -> bool {
        matches!(self, Op::Neg | Op::Relu | Op::Exp | Op::Log | Op::Tanh | Op::Sigmoid | Op::To)
    }

    /// Whether the operation takes two operands.
    pub(super) const fn is_binary(self) -> bool {
        matches!(self, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Pow)
    }

    /// The value at `x` and `y`. Outside a function's domain it is what IEEE 754 says: NaN or an infinity.
    #[inline(always)]
    pub(super) fn value(self, x: f64, y: f64) -> f64 {
        match self {
            Op::Leaf | Op::To | Op::Affine => x,
            Op::Add => x + y,
            Op::Sub => x - y,
            Op::Mul => x * y,
            Op::Div => x / y,
            Op::Pow => power(x, y),
            Op::Neg => -x,
            // Written so that a NaN stays one.
            Op::Relu => {
                if x < 0.0 {
                    0.0
                } else {
                    x
                }
            }
            Op::Exp => x.exp(),
            Op::Log => x.ln(),
            Op::Tanh => x.tanh(),
            Op::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        }
    }

    /// `g · ∂out/∂x`.
    #[inline(always)]
    pub(super) fn grad_x(self, g: f64, x: f64, y: f64, out: f64) -> f64 {
        match self {
            Op::Leaf | Op::To | Op::Affine | Op::Add | Op::Sub => g,
            Op::Mul => g * y,
            Op::Div => g / y,
            // x⁰ is 1 everywhere, at 0 too, where 0 · 0⁻¹ would say NaN.
            Op::Pow if y == 0.0 => 0.0,
            Op::Pow => g * (y * power(x, y - 1.0)),
            Op::Neg => -g,
            Op::Relu => {
                if out > 0.0 {
                    g
                } else {
                    0.0
                }
            }
            Op::Exp => g * out,
            Op::Log => g / x,
            Op::Tanh => g * (1.0 - out * out),
            Op::Sigmoid => g * (out * (1.0 - out)),
        }
    }

    /// `g · ∂out/∂y`, for operations of two operands.
    #[inline(always)]
    pub(super) fn grad_y(self, g: f64, x: f64, y: f64, out: f64) -> f64 {
        match self {
            Op::Add => g,
            Op::Sub => -g,
            Op::Mul => g * x,
            Op::Div => -g * x / (y * y),
            // 0ʸ is 0 for every y ≥ 0 nearby (PyTorch answers so too), where 0 · ln 0 would say NaN.
            Op::Pow if x == 0.0 && y >= 0.0 => 0.0,
            Op::Pow => g * (out * x.ln()),
            // They have one operand, or none, or spans of them.
            Op::Leaf
            | Op::Neg
            | Op::Relu
            | Op::Exp
            | Op::Log
            | Op::Tanh
            | Op::Sigmoid
            | Op::To
            | Op::Affine => 0.0,
        }
    }
}

/// `xʸ`. The exponents that are one operation are that operation: as exact, and much faster than the general function.
#[inline(always)]
fn power(x: f64, y: f64) -> f64 {
    if y == 2.0 {
        x * x
    } else if y == 1.0 {
        x
    } else if y == -1.0 {
        1.0 / x
    } else {
        x.powf(y)
    }
}

/// 3.0 as "3", 0.5 as "0.5".
pub(super) fn short(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number:.0}") } else { format!("{number:?}") }
}
