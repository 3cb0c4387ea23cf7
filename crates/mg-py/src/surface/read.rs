//! Arguments, read by the kinds that an operation's description gives them.

use mg_autograd::Tensor;
use mg_autograd::surface::{Arg, Kind, Param, Sections};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use smallvec::SmallVec;

use crate::arith::other;
use crate::error::type_name;
use crate::random::PyGenerator;
use crate::tensor::{Other, PyTensor};
use crate::{device, dtype, nested, size};

/// What is wanted where a tensor is.
const TENSOR: &str = "a tensor";

/// Reads arguments by their kinds.
pub(super) struct Read {
    /// Whether the memory of one of the tensors is somebody else's.
    pub(super) borrowed: bool,
    /// Whether one of the numbers is an integer beyond 64 bits.
    pub(super) huge: bool,
}

impl Read {
    fn unlike(param: &str, wanted: &str, object: &Bound<'_, PyAny>) -> PyErr {
        let got = type_name(object);
        let unlike =
            |got: &str| PyTypeError::new_err(format!("argument '{param}' must be {wanted}, not {got}"));
        if wanted != TENSOR {
            return unlike(&got);
        }
        // A tensor of another library may be called as this one's are: `_names.no_tensor` has the same words.
        match object.hasattr("__dlpack__") {
            Ok(false) => unlike(&got),
            Ok(true) => {
                let name = object.get_type().fully_qualified_name();
                let got = name.map_or(got, |name| name.to_string_lossy().into_owned());
                unlike(&format!("{got}: mg.from_dlpack(t) or mg.tensor(t) makes one of it"))
            }
            Err(other) => other,
        }
    }

    pub(super) fn tensor<'a>(
        &mut self,
        object: &'a Borrowed<'_, '_, PyAny>,
        name: &str,
    ) -> PyResult<Arg<'a>> {
        let Ok(tensor) = object.cast::<PyTensor>() else {
            return Err(Self::unlike(name, TENSOR, object));
        };
        self.borrowed |= tensor.get().is_borrowed();
        Ok(Arg::Tensor(&tensor.get().t))
    }

    /// A tensor, or what can be made one: a number, a NumPy array.
    fn tensor_like(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Tensor> {
        let PyTensor { t, borrowed, .. } = nested::tensor_like(object)?;
        self.borrowed |= borrowed;
        Ok(t)
    }

    pub(super) fn one<'a>(
        &mut self,
        param: &Param,
        object: &'a Borrowed<'_, '_, PyAny>,
    ) -> PyResult<Arg<'a>> {
        if object.is_none() && (param.takes_none || param.default == Some("None")) {
            return Ok(Arg::None);
        }
        let unlike = |wanted: &str| Self::unlike(param.name, wanted, object);
        // What is of the right kind and too large says so itself.
        let not = |error: PyErr, wanted: &str| match error.is_instance_of::<PyTypeError>(object.py()) {
            true => unlike(wanted),
            false => error,
        };
        Ok(match param.kind {
            Kind::Tensor => self.tensor(object, param.name)?,
            Kind::Tensors => self.tensors(param, object)?,
            Kind::Operand => {
                let Other { operand, borrowed, huge } = other(object)?;
                self.borrowed |= borrowed;
                self.huge |= huge;
                Arg::Operand(operand)
            }
            Kind::Float => Arg::Float(object.extract().map_err(|_| unlike("a number"))?),
            Kind::Int => Arg::Int(size::index(object).map_err(|e| not(e, "an integer"))? as i64),
            Kind::Size => {
                let n = size::index(object).map_err(|e| not(e, "an integer"))?;
                Arg::Size(not_negative(param, n)?)
            }
            // No order is the one that nobody named.
            Kind::Order if object.is_none() && param.default.is_some() => Arg::Missing,
            Kind::Order => match object.cast::<PyString>() {
                Ok(_) => {
                    let text: &'a Bound<'_, PyAny> = object;
                    Arg::Text(text.cast::<PyString>()?.to_str()?)
                }
                Err(_) => Arg::Float(object.extract().map_err(|_| unlike("a number or a string"))?),
            },
            Kind::Pairing => {
                pairing(param, object)?.ok_or_else(|| unlike("an integer or two lists of axes"))?
            }
            Kind::Integers if object.cast::<PyTensor>().is_ok() => self.tensor(object, param.name)?,
            Kind::Integers => {
                let all = integers(object).map_err(|e| not(e, "a tensor or integers"))?;
                let all: Vec<i64> = all.into_iter().map(|n| n as i64).collect();
                let count = all.len();
                let made = Tensor::from_vec(all, &[count]).map_err(|e| crate::error::exception(&e))?;
                Arg::Tensors(vec![made])
            }
            Kind::Generator => match object.cast::<PyGenerator>() {
                Ok(generator) => Arg::Generator(&generator.get().0),
                Err(_) => return Err(unlike("a Generator")),
            },
            Kind::Ints => Arg::Ints(integers(object).map_err(|e| not(e, "an integer or several"))?),
            Kind::Sizes => Arg::Sizes(size::shape(object)?.into()),
            Kind::OpenSizes if size::is_list(object) => {
                let each = |item: PyResult<Bound<'_, PyAny>>| match item? {
                    item if item.is_none() => Ok(None),
                    item => Ok(size::shape(&item)?.first().copied()),
                };
                Arg::OpenSizes(object.try_iter()?.map(each).collect::<PyResult<_>>()?)
            }
            Kind::OpenSizes if object.is_none() => Arg::OpenSizes(SmallVec::from_iter([None])),
            Kind::OpenSizes => Arg::OpenSizes(size::shape(object)?.into_iter().map(Some).collect()),
            Kind::Sections => sections(object).map_err(|e| not(e, "an integer or several"))?,
            Kind::Padding if object.is_instance_of::<PyString>() => {
                let text: &'a Bound<'_, PyAny> = object;
                Arg::Text(text.cast::<PyString>()?.to_str()?)
            }
            Kind::Padding => Arg::Sizes(size::shape(object)?.into()),
            Kind::Floats => Arg::Floats(floats(object).map_err(|_| unlike("a number or several"))?),
            Kind::Spacing => {
                let wanted = "a number or several, or a tensor of one axis for each axis";
                spacing(object)?.ok_or_else(|| unlike(wanted))?
            }
            Kind::Bool => Arg::Bool(object.extract().map_err(|_| unlike("True or False"))?),
            Kind::Text => {
                let text: &'a Bound<'_, PyAny> = object;
                Arg::Text(text.cast::<PyString>().map_err(|_| unlike("a string"))?.to_str()?)
            }
            Kind::DType => Arg::DType(dtype::dtype(object)?),
            Kind::Device => match device::usable_device(Some(object))? {
                Some(device) => Arg::Device(device),
                None => Arg::None,
            },
        })
    }

    fn tensors<'a>(&mut self, param: &Param, object: &Bound<'_, PyAny>) -> PyResult<Arg<'a>> {
        // Its parts would be tensors, but hardly ever is that what is meant.
        if object.cast::<PyTensor>().is_ok() {
            return Err(Self::unlike(param.name, "a sequence of tensors", object));
        }
        let items =
            object.try_iter().map_err(|_| Self::unlike(param.name, "a sequence of tensors", object))?;
        Ok(Arg::Tensors(items.map(|item| self.tensor_like(&item?)).collect::<PyResult<_>>()?))
    }

    /// A list that is given as its items.
    pub(super) fn items<'a>(
        &mut self,
        param: &Param,
        items: &'a [Borrowed<'_, '_, PyAny>],
    ) -> PyResult<Arg<'a>> {
        if param.kind == Kind::Tensors {
            let tensors = items.iter().map(|item| self.tensor_like(item));
            return Ok(Arg::Tensors(tensors.collect::<PyResult<_>>()?));
        }
        if param.kind != Kind::Sizes {
            return Ok(Arg::Ints(items.iter().map(|item| axis(item)).collect::<PyResult<_>>()?));
        }
        let ints: PyResult<SmallVec<[isize; 8]>> = items.iter().map(|item| size::index(item)).collect();
        let ints = ints?;
        let sizes: Option<SmallVec<[usize; 8]>> = ints.iter().map(|&n| usize::try_from(n).ok()).collect();
        let fail = || PyValueError::new_err(format!("sizes cannot be negative, got {:?}", ints.as_slice()));
        Ok(Arg::Sizes(sizes.ok_or_else(fail)?))
    }
}

fn not_negative(param: &Param, n: isize) -> PyResult<usize> {
    let fail = |_| PyValueError::new_err(format!("argument '{}' cannot be negative, got {n}", param.name));
    usize::try_from(n).map_err(fail)
}

/// A number of axes, or two lists of them; nothing of another kind.
fn pairing<'a>(param: &Param, object: &Bound<'_, PyAny>) -> PyResult<Option<Arg<'a>>> {
    if let Ok(tensor) = object.cast::<PyTensor>()
        && tensor.get().t.rank() > 0
    {
        return match tensor.call_method0("tolist")? {
            // One number in a list is that number.
            list if list.len()? == 1 && tensor.get().t.rank() == 1 => pairing(param, &list.get_item(0)?),
            list => pairing(param, &list),
        };
    }
    if size::is_list(object) {
        let both = object.try_iter()?.map(|side| integers(&side?)).collect::<PyResult<Vec<_>>>();
        let both = both.ok().and_then(|both| <[_; 2]>::try_from(both).ok());
        return Ok(both.map(|[a, b]| Arg::Pair(a, b)));
    }
    let Ok(n) = size::index(object) else { return Ok(None) };
    Ok(Some(Arg::Size(not_negative(param, n)?)))
}

/// Where parts end, or how long they are. A tensor stands for the numbers in it, PyTorch's third way to say that.
fn sections<'a>(object: &Bound<'_, PyAny>) -> PyResult<Arg<'a>> {
    let listed = match object.cast::<PyTensor>() {
        Ok(tensor) => Some(tensor.call_method0("tolist")?),
        Err(_) => None,
    };
    let given = listed.as_ref().unwrap_or(object);
    let all = integers(given)?;
    Ok(Arg::Sections(match size::is_list(given) {
        true => Sections::List(all),
        false => Sections::Number(all[0]),
    }))
}

/// Distances, or where points stand along each axis; nothing of another kind.
fn spacing<'a>(object: &Bound<'_, PyAny>) -> PyResult<Option<Arg<'a>>> {
    let has_axes = |item: PyResult<Bound<'_, PyAny>>| {
        item.is_ok_and(|item| item.cast::<PyTensor>().is_ok_and(|t| t.get().t.rank() > 0))
    };
    if !size::is_list(object) {
        return Ok(object.extract().ok().map(Arg::Float));
    }
    if !object.try_iter()?.any(has_axes) {
        return Ok(floats(object).ok().map(Arg::Floats));
    }
    let mut points = vec![];
    for item in object.try_iter()? {
        match item?.cast::<PyTensor>() {
            Ok(tensor) => points.push(tensor.get().t.clone()),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(Arg::Tensors(points)))
}

/// An axis. A truth value in its place stands for something else.
fn axis(item: &Bound<'_, PyAny>) -> PyResult<isize> {
    match item.is_instance_of::<PyBool>() {
        true => Err(PyTypeError::new_err("a truth value is no axis")),
        false => size::index(item),
    }
}

fn integers(object: &Bound<'_, PyAny>) -> PyResult<SmallVec<[isize; 8]>> {
    if size::is_list(object) {
        return object.try_iter()?.map(|item| axis(&item?)).collect();
    }
    Ok(SmallVec::from_elem(axis(object)?, 1))
}

fn floats(object: &Bound<'_, PyAny>) -> PyResult<SmallVec<[f64; 8]>> {
    if size::is_list(object) {
        return object.try_iter()?.map(|item| item?.extract()).collect();
    }
    Ok(SmallVec::from_elem(object.extract()?, 1))
}
