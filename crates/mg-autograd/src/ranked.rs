//! Tensors whose element type and rank the compiler knows.

use crate::caller::public;
use crate::ops::or_panic;
use crate::tensor::Tensor;
use mg_device::{Element, Error, ErrorKind, Result};
use std::marker::PhantomData;

/// A tensor of `R` axes with elements of type `T`: a [`Tensor`] with two facts in its type, at no cost.
///
/// Conversion is free both ways: [`Ranked::into_tensor`], [`Ranked::as_tensor`], `Ranked::try_from(tensor)`. Sizes are
/// checked when operations are called; ranks and element types when they are compiled.
///
/// ```
/// use mg_autograd::Ranked;
///
/// let x = Ranked::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// let w = Ranked::from([[1.0f32], [0.0], [-1.0]]);
/// let y: Ranked<f32, 2> = x.matmul(&w);
/// assert_eq!(y.shape(), [2, 1]);
/// assert_eq!(y.get([1, 0])?, -2.0);
/// let total: Ranked<f32, 0> = (&x * 2.0).sum();
/// assert_eq!(total.get([])?, 42.0);
/// let columns: Ranked<f32, 1> = x.sum_dim(0);
/// assert_eq!(columns.to_vec()?, [5.0, 7.0, 9.0]);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// A matrix and a vector are not added by mistake (expand one of them, and say so):
///
/// ```compile_fail,E0308
/// use mg_autograd::Ranked;
/// let matrix = Ranked::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let vector = Ranked::from([1.0f32, 2.0]);
/// let sum = matrix.add(&vector);
/// ```
///
/// A vector has no columns:
///
/// ```compile_fail,E0599
/// use mg_autograd::Ranked;
/// let n = Ranked::from([1.0f32, 2.0]).columns();
/// ```
///
/// An element is asked for with as many indices as there are axes:
///
/// ```compile_fail,E0308
/// use mg_autograd::Ranked;
/// let x = Ranked::from([[1.0f32, 2.0], [3.0, 4.0]]).get([0]);
/// ```
///
/// Element types do not mix:
///
/// ```compile_fail,E0308
/// use mg_autograd::Ranked;
/// let sum = Ranked::from([1.0f32]).add(&Ranked::from([1.0f64]));
/// ```
///
/// A vector is no factor of a matrix product:
///
/// ```compile_fail,E0308
/// use mg_autograd::Ranked;
/// let y = Ranked::from([[1.0f32]]).matmul(&Ranked::from([1.0f32]));
/// ```
///
/// A sum over an axis has one axis less:
///
/// ```compile_fail,E0308
/// use mg_autograd::Ranked;
/// let rows: Ranked<f32, 2> = Ranked::from([[1.0f32]]).sum_dim(1);
/// ```
///
/// A single number has no axis to be summed over:
///
/// ```compile_fail,E0599
/// use mg_autograd::Ranked;
/// let x = Ranked::from([1.0f32]).sum().sum_dim(0);
/// ```
#[derive(Clone)]
pub struct Ranked<T, const R: usize>(Tensor, PhantomData<fn() -> T>);

impl<T: Element, const R: usize> Ranked<T, R> {
    fn wrap(tensor: Tensor) -> Self {
        debug_assert!(tensor.rank() == R && tensor.dtype() == T::DTYPE);
        Ranked(tensor, PhantomData)
    }

    /// A tensor of these sizes with the elements in row-major order, without a copy.
    ///
    /// # Errors
    ///
    /// Another number of elements than the sizes say; more than 16 axes.
    #[track_caller]
    pub fn from_vec(data: Vec<T>, shape: [usize; R]) -> Result<Self> {
        Ok(Ranked::wrap(Tensor::from_vec(data, &shape)?))
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> [usize; R] {
        let shape = self.0.shape();
        std::array::from_fn(|i| shape[i])
    }

    /// One element.
    ///
    /// # Errors
    ///
    /// An index out of range; whatever computing the value fails with.
    #[track_caller]
    pub fn get(&self, index: [usize; R]) -> Result<T> {
        let value = self.0.host_value()?;
        let mut at = value.layout.offset() as isize;
        for (axis, (&i, (&size, &stride))) in
            index.iter().zip(value.layout.shape().iter().zip(value.layout.strides())).enumerate()
        {
            if i >= size {
                return Err(Error::new("get", ErrorKind::Index { index: i as i64, axis, size }));
            }
            at += i as isize * stride;
        }
        Ok(value.buffer.as_slice::<T>()?[at as usize])
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    ///
    /// Whatever computing the value fails with.
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.0.to_vec::<T>()
    }

    /// The tensor without the facts.
    pub fn into_tensor(self) -> Tensor {
        self.0
    }

    /// The tensor without the facts, borrowed.
    pub fn as_tensor(&self) -> &Tensor {
        &self.0
    }

    /// The sum of all elements, in the element type.
    #[track_caller]
    pub fn sum(&self) -> Ranked<T, 0> {
        Ranked::wrap(self.0.sum().to_dtype(T::DTYPE))
    }

    /// The largest element.
    ///
    /// # Panics
    ///
    /// No elements.
    #[track_caller]
    pub fn max(&self) -> Ranked<T, 0> {
        or_panic(self.try_max())
    }

    /// As [`Ranked::max`].
    ///
    /// # Errors
    ///
    /// No elements.
    #[track_caller]
    pub fn try_max(&self) -> Result<Ranked<T, 0>> {
        self.0.try_max().map(Ranked::wrap)
    }

    /// `self + other`, of the same rank; sizes 1 broadcast.
    ///
    /// # Panics
    ///
    /// Sizes that do not broadcast. So do the other three, and the operators.
    #[allow(clippy::should_implement_trait)] // the operators are there too
    #[track_caller]
    pub fn add(&self, other: &Self) -> Self {
        Ranked::wrap(self.0.add(&other.0))
    }

    /// `self − other`; see [`Ranked::add`].
    #[allow(clippy::should_implement_trait)]
    #[track_caller]
    pub fn sub(&self, other: &Self) -> Self {
        Ranked::wrap(self.0.sub(&other.0))
    }

    /// `self · other`, element by element; see [`Ranked::add`].
    #[allow(clippy::should_implement_trait)]
    #[track_caller]
    pub fn mul(&self, other: &Self) -> Self {
        Ranked::wrap(self.0.mul(&other.0))
    }

    /// A unary operation of the tensor that keeps element type and rank, checked when it is called.
    ///
    /// ```
    /// use mg_autograd::{Ranked, Tensor};
    /// let x = Ranked::from([-1.0f32, 2.0]);
    /// assert_eq!(x.map(Tensor::relu)?.to_vec()?, [0.0, 2.0]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An operation that changes either.
    #[track_caller]
    pub fn map(&self, f: impl FnOnce(&Tensor) -> Tensor) -> Result<Self> {
        Ranked::try_from(f(&self.0))
    }
}

impl<T: Element, const R: usize> TryFrom<Tensor> for Ranked<T, R> {
    type Error = Error;

    #[track_caller]
    fn try_from(tensor: Tensor) -> Result<Self> {
        if tensor.rank() != R {
            let text =
                format!("a tensor of {} axes where {R} are wanted (shape {})", tensor.rank(), tensor.shape());
            return Err(Error::new("try_from", ErrorKind::Shape(text)));
        }
        if tensor.dtype() != T::DTYPE {
            let text = format!("a tensor of {} where {} is wanted", tensor.dtype(), T::DTYPE);
            return Err(Error::new("try_from", ErrorKind::DType(text)));
        }
        Ok(Ranked::wrap(tensor))
    }
}

impl<T: Element, const R: usize> From<Ranked<T, R>> for Tensor {
    fn from(ranked: Ranked<T, R>) -> Tensor {
        ranked.0
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Ranked<T, 1> {
    fn from(data: [T; N]) -> Self {
        Ranked::wrap(Tensor::from_slice(&data))
    }
}

impl<T: Element, const N: usize, const M: usize> From<[[T; M]; N]> for Ranked<T, 2> {
    fn from(data: [[T; M]; N]) -> Self {
        // As many elements as the sizes say, by construction.
        Ranked::wrap(or_panic(Tensor::from_vec(data.concat(), &[N, M])))
    }
}

impl<T: Element, const N: usize, const M: usize, const L: usize> From<[[[T; L]; M]; N]> for Ranked<T, 3> {
    fn from(data: [[[T; L]; M]; N]) -> Self {
        Ranked::wrap(or_panic(Tensor::from_vec(data.concat().concat(), &[N, M, L])))
    }
}

impl<T: Element> Ranked<T, 1> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape()[0]
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The inner product.
    ///
    /// # Panics
    ///
    /// Unequal lengths.
    #[track_caller]
    pub fn dot(&self, other: &Self) -> Ranked<T, 0> {
        or_panic(self.try_dot(other))
    }

    /// As [`Ranked::dot`].
    ///
    /// # Errors
    ///
    /// Unequal lengths.
    #[track_caller]
    pub fn try_dot(&self, other: &Self) -> Result<Ranked<T, 0>> {
        public("dot", || self.0.try_matmul(&other.0)).map(Ranked::wrap)
    }
}

impl<T: Element> Ranked<T, 2> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.shape()[0]
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.shape()[1]
    }

    /// The transpose, a view.
    pub fn t(&self) -> Self {
        Ranked::wrap(self.0.t())
    }

    /// The matrix product.
    ///
    /// # Panics
    ///
    /// Inner sizes that differ.
    #[track_caller]
    pub fn matmul(&self, other: &Self) -> Self {
        or_panic(self.try_matmul(other))
    }

    /// As [`Ranked::matmul`].
    ///
    /// # Errors
    ///
    /// Inner sizes that differ.
    #[track_caller]
    pub fn try_matmul(&self, other: &Self) -> Result<Self> {
        self.0.try_matmul(&other.0).map(Ranked::wrap)
    }

    /// The product with a vector.
    ///
    /// # Panics
    ///
    /// Sizes that do not fit.
    #[track_caller]
    pub fn matvec(&self, other: &Ranked<T, 1>) -> Ranked<T, 1> {
        or_panic(self.try_matvec(other))
    }

    /// As [`Ranked::matvec`].
    ///
    /// # Errors
    ///
    /// Sizes that do not fit.
    #[track_caller]
    pub fn try_matvec(&self, other: &Ranked<T, 1>) -> Result<Ranked<T, 1>> {
        public("matvec", || self.0.try_matmul(&other.0)).map(Ranked::wrap)
    }
}

/// Operations that change the rank by one.
macro_rules! neighbours {
    ($($R:literal $Lower:literal;)*) => {
        $(
            impl<T: Element> Ranked<T, $R> {
                /// The sum over an axis, in the element type.
                ///
                /// # Panics
                ///
                /// An axis out of range.
                #[track_caller]
                pub fn sum_dim(&self, axis: isize) -> Ranked<T, $Lower> {
                    or_panic(self.try_sum_dim(axis))
                }

                /// As [`Ranked::sum_dim`].
                ///
                /// # Errors
                ///
                /// An axis out of range.
                #[track_caller]
                pub fn try_sum_dim(&self, axis: isize) -> Result<Ranked<T, $Lower>> {
                    Ok(Ranked::wrap(self.0.try_sum_dim(&[axis], false)?.to_dtype(T::DTYPE)))
                }

                /// The largest along an axis.
                ///
                /// # Panics
                ///
                /// An axis out of range; no elements.
                #[track_caller]
                pub fn amax(&self, axis: isize) -> Ranked<T, $Lower> {
                    or_panic(self.try_amax(axis))
                }

                /// As [`Ranked::amax`].
                ///
                /// # Errors
                ///
                /// An axis out of range; no elements.
                #[track_caller]
                pub fn try_amax(&self, axis: isize) -> Result<Ranked<T, $Lower>> {
                    Ok(Ranked::wrap(self.0.try_amax(&[axis], false)?))
                }

                /// One position along an axis, a view.
                ///
                /// # Errors
                ///
                /// An axis or index out of range.
                #[track_caller]
                pub fn select(&self, axis: isize, index: isize) -> Result<Ranked<T, $Lower>> {
                    Ok(Ranked::wrap(self.0.select(axis, index)?))
                }
            }

            impl<T: Element> Ranked<T, $Lower> {
                /// A new axis of size 1 before `axis`, a view.
                ///
                /// # Errors
                ///
                /// An axis out of range.
                #[track_caller]
                pub fn unsqueeze(&self, axis: isize) -> Result<Ranked<T, $R>> {
                    Ok(Ranked::wrap(self.0.unsqueeze(axis)?))
                }
            }
        )*
    };
}
neighbours! { 1 0; 2 1; 3 2; 4 3; 5 4; 6 5; 7 6; 8 7; }

macro_rules! operator {
    ($($Trait:ident $op:ident;)*) => {
        $(
            impl<T: Element, const R: usize> std::ops::$Trait for &Ranked<T, R> {
                type Output = Ranked<T, R>;
                #[track_caller]
                fn $op(self, other: Self) -> Ranked<T, R> {
                    self.$op(other)
                }
            }
            impl<const R: usize> std::ops::$Trait<f64> for &Ranked<f64, R> {
                type Output = Ranked<f64, R>;
                #[track_caller]
                fn $op(self, other: f64) -> Ranked<f64, R> {
                    Ranked::wrap((&self.0).$op(other))
                }
            }
            impl<const R: usize> std::ops::$Trait<f32> for &Ranked<f32, R> {
                type Output = Ranked<f32, R>;
                #[track_caller]
                fn $op(self, other: f32) -> Ranked<f32, R> {
                    Ranked::wrap((&self.0).$op(other))
                }
            }
        )*
    };
}
operator! { Add add; Sub sub; Mul mul; }

impl<T, const R: usize> std::fmt::Debug for Ranked<T, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&self.0, f)
    }
}
