//! [`Shape`]: the sizes of a tensor's axes.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use crate::error::{Error, ErrorKind, Result};
use crate::few::Few;

/// The most axes a tensor can have.
pub const MAX_RANK: usize = 16;

/// Axes of a shape, a bit each.
pub type AxisSet = u16;

/// The sizes of up to [`MAX_RANK`] axes, outermost first. `Copy`, and a slice of `usize` wherever one is taken.
///
/// # Examples
///
/// ```
/// use mg_device::Shape;
///
/// let s = Shape::new(&[2, 3])?;
/// assert_eq!((s.rank(), s.numel(), s[1]), (2, 6, 3));
/// assert_eq!(Shape::broadcast(&s, &Shape::from([4, 1, 3])), Some(Shape::from([4, 2, 3])));
/// assert_eq!(s.to_string(), "[2, 3]");
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Shape {
    dims: Few<usize>,
}

#[cold]
#[track_caller]
fn out_of_range(axis: usize, rank: usize) -> Error {
    Error::new("shape", ErrorKind::Axis { axis: axis as i64, rank })
}

#[cold]
#[track_caller]
fn too_many(rank: usize) -> Error {
    let text = format!("{rank} axes are too many: a tensor has at most {MAX_RANK}");
    Error::new("shape", ErrorKind::Shape(text))
}

#[inline]
#[track_caller]
fn or_panic(result: Result<Shape>) -> Shape {
    match result {
        Ok(shape) => shape,
        Err(error) => panic!("{error}"),
    }
}

impl Shape {
    /// The shape with these sizes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Shape`] for more than [`MAX_RANK`] axes, and where the product of all sizes but zeros is beyond
    /// `isize::MAX`, so that strides can always be computed.
    #[track_caller]
    pub fn new(dims: &[usize]) -> Result<Shape> {
        if dims.len() > MAX_RANK {
            return Err(too_many(dims.len()));
        }
        let count = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d.max(1)));
        match count {
            Some(n) if n <= isize::MAX as usize => Ok(Shape::of(dims)),
            _ => Err(Error::new("shape", ErrorKind::Shape(format!("{dims:?} has too many elements")))),
        }
    }

    /// The shape of a single element: no axes.
    #[inline]
    #[must_use]
    pub const fn scalar() -> Shape {
        Shape { dims: Few::none(0) }
    }

    /// The shape with these sizes, quickly: for sizes that come from shapes already checked. The number of elements is
    /// not checked; see [`numel`](Shape::numel).
    ///
    /// # Panics
    ///
    /// For more than [`MAX_RANK`] axes: [`new`](Shape::new) answers with an error.
    // The crates' own: what a user has was not checked.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn of(dims: &[usize]) -> Shape {
        assert!(dims.len() <= MAX_RANK, "a shape has at most {MAX_RANK} axes");
        Shape { dims: Few::of(dims) }
    }

    /// The number of axes.
    #[inline]
    #[must_use]
    pub const fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of elements: 1 for a scalar, 0 where any size is 0. Saturates at `usize::MAX` for a shape that was made
    /// without the check of [`new`](Shape::new); no buffer is ever that large, so allocating one reports it.
    #[inline]
    #[must_use]
    pub fn numel(&self) -> usize {
        self.iter().fold(1usize, |n, &d| n.saturating_mul(d))
    }

    /// The sizes as a slice.
    #[inline]
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        self.dims.as_slice()
    }

    /// Changes the sizes in place.
    #[inline]
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut [usize])) {
        let rank = self.rank();
        self.dims.change(|dims| {
            change(&mut dims[..rank]);
            rank
        });
    }

    /// The same shape with size `n` at `axis`.
    ///
    /// # Panics
    ///
    /// Where [`Shape::try_with`] answers with an error.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn with(self, axis: usize, n: usize) -> Shape {
        or_panic(self.try_with(axis, n))
    }

    /// As [`Shape::with`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Axis`] where `axis` is not below the rank.
    #[inline]
    #[track_caller]
    pub fn try_with(mut self, axis: usize, n: usize) -> Result<Shape> {
        let rank = self.rank();
        if axis >= rank {
            return Err(out_of_range(axis, rank));
        }
        self.dims.change(|dims| {
            dims[axis] = n;
            rank
        });
        Ok(self)
    }

    /// The shape with an axis of size `n` more, which becomes axis `axis`.
    ///
    /// # Panics
    ///
    /// Where [`Shape::try_insert`] answers with an error.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn insert(self, axis: usize, n: usize) -> Shape {
        or_panic(self.try_insert(axis, n))
    }

    /// As [`Shape::insert`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Axis`] where `axis` is above the rank, [`ErrorKind::Shape`] where the rank is [`MAX_RANK`] already.
    #[inline]
    #[track_caller]
    pub fn try_insert(mut self, axis: usize, n: usize) -> Result<Shape> {
        let rank = self.rank();
        if axis > rank {
            return Err(out_of_range(axis, rank));
        }
        if rank == MAX_RANK {
            return Err(too_many(rank + 1));
        }
        self.dims.change(|dims| {
            dims.copy_within(axis..rank, axis + 1);
            dims[axis] = n;
            rank + 1
        });
        Ok(self)
    }

    /// The shape without axis `axis`.
    ///
    /// # Panics
    ///
    /// Where [`Shape::try_remove`] answers with an error.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn remove(self, axis: usize) -> Shape {
        or_panic(self.try_remove(axis))
    }

    /// As [`Shape::remove`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Axis`] where `axis` is not below the rank.
    #[inline]
    #[track_caller]
    pub fn try_remove(mut self, axis: usize) -> Result<Shape> {
        let rank = self.rank();
        if axis >= rank {
            return Err(out_of_range(axis, rank));
        }
        self.dims.change(|dims| {
            dims.copy_within(axis + 1..rank, axis);
            dims[rank - 1] = 0;
            rank - 1
        });
        Ok(self)
    }

    /// The shape to which both can be broadcast by NumPy's rule: aligned at the last axis, sizes equal or one of them 1.
    /// `None` where there is none.
    #[inline]
    #[must_use]
    pub fn broadcast(a: &Shape, b: &Shape) -> Option<Shape> {
        if a == b {
            return Some(*a);
        }
        let (long, short) = if a.rank() >= b.rank() { (a, b) } else { (b, a) };
        let mut out = *long;
        let rank = long.rank();
        let mut fits = true;
        out.dims.change(|dims| {
            for (o, &d) in dims[rank - short.rank()..rank].iter_mut().zip(short.iter()) {
                if *o == 1 {
                    *o = d;
                } else if d != 1 && d != *o {
                    fits = false;
                }
            }
            rank
        });
        fits.then_some(out)
    }
}

impl Deref for Shape {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        self.dims()
    }
}

impl AsRef<[usize]> for Shape {
    fn as_ref(&self) -> &[usize] {
        self
    }
}

impl Default for Shape {
    /// The scalar shape.
    fn default() -> Shape {
        Shape::scalar()
    }
}

impl PartialEq for Shape {
    #[inline]
    fn eq(&self, other: &Shape) -> bool {
        self.dims() == other.dims()
    }
}

impl Eq for Shape {}

impl Hash for Shape {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dims().hash(state);
    }
}

impl PartialEq<[usize]> for Shape {
    fn eq(&self, other: &[usize]) -> bool {
        self.dims() == other
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.dims(), f)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.dims())
    }
}

macro_rules! from_array {
    ($($n:literal)*) => {$(
        impl From<[usize; $n]> for Shape {
            /// The number of elements is not checked, [`Shape::numel`] saturates.
            #[inline]
            fn from(dims: [usize; $n]) -> Shape {
                Shape::of(&dims)
            }
        }

        impl PartialEq<[usize; $n]> for Shape {
            fn eq(&self, other: &[usize; $n]) -> bool {
                self.dims() == other
            }
        }
    )*};
}

from_array!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);

/// The axis that `axis` means in a tensor of rank `rank`: negative ones count from the end.
///
/// # Errors
///
/// [`ErrorKind::Axis`] outside `-rank..rank`.
#[inline]
#[track_caller]
pub fn normalize_axis(axis: isize, rank: usize) -> Result<usize> {
    let from_start = if axis < 0 { axis.wrapping_add_unsigned(rank) } else { axis };
    if from_start >= 0 && (from_start as usize) < rank {
        Ok(from_start as usize)
    } else {
        Err(Error::new("axis", ErrorKind::Axis { axis: axis as i64, rank }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checked_and_unchecked_construction() {
        assert_eq!(Shape::new(&[2, 3]).unwrap(), Shape::from([2, 3]));
        assert_eq!(Shape::new(&[]).unwrap(), Shape::scalar());
        assert!(Shape::new(&[1; MAX_RANK + 1]).is_err());
        assert!(Shape::new(&[usize::MAX]).is_err());
        assert!(Shape::new(&[usize::MAX, 2, 0]).is_err(), "strides of an empty tensor must be computable");
        assert_eq!(Shape::from([usize::MAX, 2]).numel(), usize::MAX);
        assert_eq!(Shape::from([usize::MAX, 2, 0]).numel(), 0);
        assert_eq!(Shape::scalar().numel(), 1);
    }

    #[test]
    fn axes_are_set_inserted_and_removed() {
        let s = Shape::from([2, 3, 4]);
        assert_eq!(s.with(1, 7), Shape::from([2, 7, 4]));
        assert_eq!(s.insert(0, 9), Shape::from([9, 2, 3, 4]));
        assert_eq!(s.insert(3, 9), Shape::from([2, 3, 4, 9]));
        assert_eq!(s.remove(0), Shape::from([3, 4]));
        assert_eq!(s.remove(2).insert(2, 4), s);
        for rank in [7, 8, 9, 15, MAX_RANK] {
            // Across the number of axes that lie inline, and back.
            let dims: Vec<usize> = (2..rank + 2).collect();
            let s = Shape::of(&dims);
            assert_eq!((s.rank(), s.dims()), (rank, &dims[..]));
            assert_eq!(s.remove(rank - 1).insert(rank - 1, rank + 1), s);
            assert_eq!(s.remove(0).insert(0, 2), s);
            assert_eq!(s.with(3, 9).dims()[3], 9);
            assert_eq!(Shape::broadcast(&s, &Shape::from([1, rank + 1])), Some(s));
            assert_eq!(Shape::broadcast(&s, &Shape::from([3])), None);
            if rank < MAX_RANK {
                assert_eq!(s.insert(1, 7).remove(1), s);
            }
        }
    }

    #[test]
    fn axes_that_are_not_there() {
        let s = Shape::from([2, 3]);
        let axis = |axis| ErrorKind::Axis { axis, rank: 2 };
        assert_eq!(*s.try_with(2, 7).unwrap_err().kind(), axis(2));
        assert_eq!(*s.try_remove(2).unwrap_err().kind(), axis(2));
        assert_eq!(*s.try_insert(3, 7).unwrap_err().kind(), axis(3));
        let full = Shape::from([1; MAX_RANK]).try_insert(0, 7).unwrap_err();
        assert!(matches!(full.kind(), ErrorKind::Shape(text) if text.starts_with("17 axes")), "{full}");
    }

    #[test]
    fn broadcasting_follows_numpy() {
        let b = |a: &[usize], b: &[usize]| Shape::broadcast(&Shape::of(a), &Shape::of(b));
        assert_eq!(b(&[2, 3], &[3]), Some(Shape::from([2, 3])));
        assert_eq!(b(&[2, 1], &[3]), Some(Shape::from([2, 3])));
        assert_eq!(b(&[], &[3, 0]), Some(Shape::from([3, 0])));
        assert_eq!(b(&[1], &[0]), Some(Shape::from([0])));
        assert_eq!(b(&[2], &[0]), None);
        assert_eq!(b(&[2, 3], &[4]), None);
    }

    #[test]
    fn axes_count_from_both_ends() {
        assert_eq!(normalize_axis(-1, 3).unwrap(), 2);
        assert_eq!(normalize_axis(0, 3).unwrap(), 0);
        for axis in [3, -4, isize::MIN, isize::MAX] {
            let e = normalize_axis(axis, 3).unwrap_err();
            assert_eq!(*e.kind(), ErrorKind::Axis { axis: axis as i64, rank: 3 });
        }
        assert!(normalize_axis(0, 0).is_err());
    }
}
