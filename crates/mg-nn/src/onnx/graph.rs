//! A graph of ONNX's operators, before it has names.

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};

/// A value by its position in [`Graph::values`].
pub(super) type Id = usize;

/// What a value is.
pub(super) enum Made {
    /// An input of the model, by its position.
    Input,
    /// Numbers that the file has.
    Stored(Stored),
    /// Whole numbers that operators take as sizes or positions: what may differ with the sizes of inputs.
    Sizes(Vec<i64>),
    /// A result of a call.
    Result,
}

/// Numbers that the file has, with the name that the model knows them by.
pub(super) struct Stored {
    pub name: Option<String>,
    pub tensor: Tensor,
}

/// An attribute of an operator.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Attribute {
    Int(i64),
    Ints(Vec<i64>),
    Text(&'static str),
}

/// A call of an operator.
pub(super) struct Call {
    pub op: &'static str,
    pub inputs: Vec<Id>,
    /// The first of these; the others follow.
    pub outputs: Vec<Id>,
    pub attributes: Vec<(&'static str, Attribute)>,
}

/// A graph: calls in the order in which they are done.
#[derive(Default)]
pub(super) struct Graph {
    pub values: Vec<Made>,
    pub calls: Vec<Call>,
    pub inputs: Vec<(Id, DType, Shape)>,
    pub results: Vec<(Id, DType, Shape)>,
}

pub(super) fn refuse<T>(text: String) -> Result<T> {
    Err(Error::new("onnx::export", ErrorKind::Value(text)))
}

impl Graph {
    pub fn value(&mut self, made: Made) -> Id {
        self.values.push(made);
        self.values.len() - 1
    }

    pub fn sizes(&mut self, sizes: impl IntoIterator<Item = i64>) -> Id {
        self.value(Made::Sizes(sizes.into_iter().collect()))
    }

    pub fn shape(&mut self, shape: &[usize]) -> Id {
        self.sizes(shape.iter().map(|&n| n as i64))
    }

    /// A number without axes.
    pub fn number(&mut self, number: f64, dtype: DType) -> Result<Id> {
        let tensor = Tensor::full(&[], number, DType::F64)?.to_dtype(dtype);
        tensor.realize()?;
        Ok(self.value(Made::Stored(Stored { name: None, tensor })))
    }

    pub fn call(&mut self, op: &'static str, inputs: &[Id]) -> Id {
        self.call_with(op, inputs, vec![])
    }

    pub fn call_with(
        &mut self,
        op: &'static str,
        inputs: &[Id],
        attributes: Vec<(&'static str, Attribute)>,
    ) -> Id {
        let output = self.value(Made::Result);
        self.calls.push(Call { op, inputs: inputs.to_vec(), outputs: vec![output], attributes });
        output
    }

    pub fn reshape(&mut self, x: Id, shape: &[usize]) -> Id {
        let sizes = self.shape(shape);
        self.call("Reshape", &[x, sizes])
    }

    pub fn transpose(&mut self, x: Id, axes: impl IntoIterator<Item = usize>) -> Id {
        let axes = axes.into_iter().map(|a| a as i64).collect();
        self.call_with("Transpose", &[x], vec![("perm", Attribute::Ints(axes))])
    }

    pub fn cast(&mut self, x: Id, dtype: DType) -> Id {
        let to = Attribute::Int(dtype.onnx_number().into());
        self.call_with("Cast", &[x], vec![("to", to)])
    }
}
