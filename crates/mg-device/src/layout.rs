//! [`Layout`]: how the elements of a tensor lie in its buffer, and the views that only change a layout.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::error::{Error, ErrorKind, Result};
use crate::few::Few;
use crate::shape::{MAX_RANK, Shape};

/// Shape, strides and offset of a strided tensor, in elements. `Copy`.
///
/// The element at index `i` lies at `offset + Σ i[a] · strides[a]`. A stride may be 0 (broadcast) or negative (flipped).
/// Views answer with another layout over the same buffer; none of them touches data.
///
/// # Examples
///
/// ```
/// use mg_device::{Layout, Shape};
///
/// let l = Layout::contiguous(Shape::from([2, 3]));
/// let t = l.transpose(0, 1)?;
/// assert_eq!(t.offsets().collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
/// let last_row_backwards = l.select(0, -1)?.slice(0, None, None, -1)?;
/// assert_eq!(last_row_backwards.offsets().collect::<Vec<_>>(), [5, 4, 3]);
/// assert!(t.reshape(&Shape::from([6])).is_none(), "that would need a copy");
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Layout {
    shape: Shape,
    /// As many as the shape has axes.
    strides: Few<isize>,
    offset: usize,
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Layout");
        text.field("shape", &self.shape)
            .field("strides", &self.strides())
            .field("offset", &self.offset)
            .finish()
    }
}

impl Layout {
    /// Row-major and dense, from offset 0.
    #[inline]
    #[must_use]
    pub fn contiguous(shape: Shape) -> Layout {
        let mut out = Layout { shape, strides: Few::zeros(shape.rank()), offset: 0 };
        let mut stride = 1isize;
        out.with_strides(|strides| {
            for (to, &n) in strides.iter_mut().zip(shape.iter()).rev() {
                *to = stride;
                // Wraps only for shapes too large for any buffer; see `Shape::numel`.
                stride = stride.wrapping_mul(n.max(1) as isize);
            }
        });
        out
    }

    /// The layout with these strides and this offset, all in elements.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Shape`] where there is not one stride an axis; [`ErrorKind::Value`] where an element would lie before
    /// the buffer's start or beyond `isize::MAX`. That the buffer is long enough is for its user to check, with
    /// [`extent`](Layout::extent).
    #[track_caller]
    pub fn new(shape: Shape, strides: &[isize], offset: usize) -> Result<Layout> {
        if strides.len() != shape.rank() {
            let text = format!("{} strides for shape {shape}", strides.len());
            return Err(Error::new("layout", ErrorKind::Shape(text)));
        }
        let layout = Layout { shape, strides: Few::of(strides), offset };
        if shape.numel() > 0 {
            let (mut low, mut high) = (offset as i128, offset as i128);
            for (&n, &s) in shape.iter().zip(strides) {
                let reach = (n as i128 - 1).saturating_mul(s as i128);
                if reach < 0 { low = low.saturating_add(reach) } else { high = high.saturating_add(reach) }
            }
            if low < 0 || high > isize::MAX as i128 {
                let text = format!(
                    "shape {shape} with strides {strides:?} at offset {offset} reaches {low}..={high}"
                );
                return Err(Error::new("layout", ErrorKind::Value(text)));
            }
        }
        Ok(layout)
    }

    /// The sizes of the axes.
    #[inline]
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The distance between neighbours along each axis, in elements.
    #[inline]
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        self.strides.as_slice()
    }

    /// The strides with zeros up to [`MAX_RANK`], as [`collapse`](crate::collapse) takes them.
    #[inline]
    #[must_use]
    pub fn padded_strides(&self) -> [isize; MAX_RANK] {
        self.strides.padded()
    }

    /// Where the element at index zero lies, in elements from the buffer's start.
    #[inline]
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The number of axes.
    #[inline]
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The number of elements.
    #[inline]
    #[must_use]
    pub fn numel(&self) -> usize {
        self.shape.numel()
    }

    /// Whether the elements lie one after the other in row-major order, at whatever offset. Strides of axes of size 1 do
    /// not matter; an empty tensor is contiguous.
    #[inline]
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1isize;
        let mut dense = true;
        for (&n, &stride) in self.shape.iter().zip(self.strides()).rev() {
            if n == 0 {
                return true;
            }
            if n != 1 {
                dense &= stride == expected;
                expected = expected.wrapping_mul(n as isize);
            }
        }
        dense
    }

    /// The same elements in the same row-major order under another shape, where a strided layout can say that; `None`
    /// where the elements would have to be copied, or the numbers of elements differ. The algorithm is that of NumPy's
    /// `_attempt_nocopy_reshape`: runs of axes with equal products are matched, and each run must itself be uniform.
    #[must_use]
    pub fn reshape(&self, shape: &Shape) -> Option<Layout> {
        // Beyond `isize::MAX` the products below could overflow, and no buffer is that large.
        if self.numel() != shape.numel() || self.numel() > isize::MAX as usize {
            return None;
        }
        let mut out = Layout::contiguous(*shape);
        out.offset = self.offset;
        if self.is_contiguous() {
            return Some(out);
        }
        // Axes of size 1 constrain nothing, so leave them out of the old layout.
        let mut dims = [0usize; MAX_RANK];
        let mut strides = [0isize; MAX_RANK];
        let mut rank = 0;
        for (&n, &s) in self.shape.iter().zip(self.strides()).filter(|(n, _)| **n != 1) {
            (dims[rank], strides[rank]) = (n, s);
            rank += 1;
        }
        let mut made = out.padded_strides();
        let (mut old, mut new) = (0, 0);
        while old < rank && new < shape.rank() {
            // The shortest runs of axes, from here on, that hold equally many elements.
            let (mut old_end, mut new_end) = (old + 1, new + 1);
            let (mut old_count, mut new_count) = (dims[old], shape[new]);
            while old_count != new_count {
                if new_count < old_count {
                    new_count *= shape[new_end];
                    new_end += 1;
                } else {
                    old_count *= dims[old_end];
                    old_end += 1;
                }
            }
            for axis in old..old_end - 1 {
                if strides[axis] != (dims[axis + 1] as isize).wrapping_mul(strides[axis + 1]) {
                    return None;
                }
            }
            let mut stride = strides[old_end - 1];
            for axis in (new..new_end).rev() {
                made[axis] = stride;
                stride = stride.saturating_mul(to_isize(shape[axis]));
            }
            (old, new) = (old_end, new_end);
        }
        // What is left of the new shape are axes of size 1, whose strides do not matter.
        out.strides = Few::of(&made[..shape.rank()]);
        Some(out)
    }

    /// Axis `i` of the result is axis `axes[i]` of this.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] where `axes` is not a permutation of `0..rank`.
    #[track_caller]
    pub fn permute(&self, axes: &[usize]) -> Result<Layout> {
        let mut seen = 0u32;
        let valid = axes.len() == self.rank()
            && axes.iter().all(|&a| {
                let fresh = a < self.rank() && seen & (1 << a) == 0;
                seen |= if fresh { 1 << a } else { 0 };
                fresh
            });
        if !valid {
            let text = format!("{axes:?} is not a permutation of the {} axes of {}", self.rank(), self.shape);
            return Err(Error::new("permute", ErrorKind::Value(text)));
        }
        let mut out = *self;
        let (dims, strides) = (self.shape.dims(), self.strides());
        out.shape.change(|to| to.iter_mut().zip(axes).for_each(|(to, &a)| *to = dims[a]));
        out.with_strides(|to| to.iter_mut().zip(axes).for_each(|(to, &a)| *to = strides[a]));
        Ok(out)
    }

    /// Axes `a` and `b` exchanged.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Axis`] where either is not below the rank.
    #[track_caller]
    pub fn transpose(&self, a: usize, b: usize) -> Result<Layout> {
        self.check_axis("transpose", a)?;
        self.check_axis("transpose", b)?;
        let mut out = *self;
        out.shape = self.shape.with(a, self.shape[b]).with(b, self.shape[a]);
        out.with_strides(|strides| strides.swap(a, b));
        Ok(out)
    }

    /// What Python's `x[start:end:step]` selects along `axis`: negative bounds count from the end, bounds out of range are
    /// clamped, `None` is the end that `step` starts from or goes to.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Axis`] where `axis` is not below the rank, [`ErrorKind::Value`] for a step of 0.
    #[track_caller]
    pub fn slice(
        &self,
        axis: usize,
        start: Option<isize>,
        end: Option<isize>,
        step: isize,
    ) -> Result<Layout> {
        self.check_axis("slice", axis)?;
        if step == 0 {
            return Err(Error::new("slice", ErrorKind::Value("the step is 0".into())));
        }
        // As CPython's PySlice_AdjustIndices, in i128 so that no bound and no step can overflow.
        let n = self.shape[axis] as i128;
        let step = step as i128;
        let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
        let clamp = |bound: Option<isize>, default: i128| match bound {
            None => default,
            Some(b) => (if b < 0 { b as i128 + n } else { b as i128 }).clamp(low, high),
        };
        let (first, last) = if step > 0 { (low, high) } else { (high, low) };
        let (start, end) = (clamp(start, first), clamp(end, last));
        let span = if step > 0 { end - start } else { start - end };
        let count = if span <= 0 { 0 } else { (span - 1) / step.abs() + 1 };

        let mut out = *self;
        out.shape = self.shape.with(axis, count as usize);
        // With one element the stride is never used, and might not fit.
        let stride = self.strides()[axis];
        let stepped = if count > 1 { stride.wrapping_mul(step as isize) } else { 1 };
        out.with_strides(|strides| strides[axis] = stepped);
        if out.numel() > 0 {
            out.advance(start as isize, stride);
        }
        Ok(out)
    }

    /// Index `index` of `axis`, which goes away; a negative index counts from the end.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Axis`] where `axis` is not below the rank, [`ErrorKind::Index`] where `index` is not in `-size..size`.
    #[doc(alias = "index")]
    #[track_caller]
    pub fn select(&self, axis: usize, index: isize) -> Result<Layout> {
        self.check_axis("select", axis)?;
        let size = self.shape[axis];
        let i = if index < 0 { index.wrapping_add_unsigned(size) } else { index };
        if i < 0 || i as usize >= size {
            return Err(Error::new("select", ErrorKind::Index { index: index as i64, axis, size }));
        }
        let mut out = *self;
        out.drop_axis(axis);
        if out.numel() > 0 {
            out.advance(i, self.strides()[axis]);
        }
        Ok(out)
    }

    /// `axis` in reverse order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Axis`] where `axis` is not below the rank.
    #[track_caller]
    pub fn flip(&self, axis: usize) -> Result<Layout> {
        self.check_axis("flip", axis)?;
        let mut out = *self;
        let stride = self.strides()[axis];
        out.with_strides(|strides| strides[axis] = stride.wrapping_neg());
        if self.numel() > 0 {
            out.advance((self.shape[axis] as isize).wrapping_sub(1), stride);
        }
        Ok(out)
    }

    /// Broadcast to `shape` by NumPy's rule, with strides of 0: axes are added in front, axes of size 1 repeat.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Shape`] where the shape cannot be broadcast to that.
    #[track_caller]
    pub fn expand(&self, shape: &Shape) -> Result<Layout> {
        let fits = shape.rank() >= self.rank()
            && self.shape.iter().rev().zip(shape.iter().rev()).all(|(&from, &to)| from == to || from == 1);
        if !fits {
            let text = format!("shape {} cannot be broadcast to {shape}", self.shape);
            return Err(Error::new("expand", ErrorKind::Shape(text)));
        }
        let lead = shape.rank() - self.rank();
        let mut out = Layout { shape: *shape, strides: Few::zeros(shape.rank()), offset: self.offset };
        out.with_strides(|strides| {
            for (axis, (&n, &stride)) in self.shape.iter().zip(self.strides()).enumerate() {
                if n == shape[axis + lead] {
                    strides[axis + lead] = stride;
                }
            }
        });
        Ok(out)
    }

    /// With an axis of size 1 more, which becomes axis `axis`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Axis`] where `axis` is above the rank, [`ErrorKind::Shape`] where the rank is [`MAX_RANK`] already.
    #[track_caller]
    pub fn insert_axis(&self, axis: usize) -> Result<Layout> {
        if axis > self.rank() {
            let kind = ErrorKind::Axis { axis: axis as i64, rank: self.rank() + 1 };
            return Err(Error::new("unsqueeze", kind));
        }
        if self.rank() == MAX_RANK {
            let text = format!("{} has {MAX_RANK} axes already, the most there can be", self.shape);
            return Err(Error::new("unsqueeze", ErrorKind::Shape(text)));
        }
        let mut out = *self;
        out.shape = self.shape.insert(axis, 1);
        // The stride a contiguous tensor would have there.
        let stride = match (self.shape.get(axis), self.strides().get(axis)) {
            (Some(&n), Some(&s)) => s.saturating_mul(to_isize(n.max(1))),
            _ => 1,
        };
        let rank = self.rank();
        out.strides.change(|strides| {
            strides.copy_within(axis..rank, axis + 1);
            strides[axis] = stride;
            rank + 1
        });
        Ok(out)
    }

    /// Without `axis`, which must be of size 1.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Axis`] where `axis` is not below the rank, [`ErrorKind::Shape`] where its size is not 1.
    #[track_caller]
    pub fn remove_axis(&self, axis: usize) -> Result<Layout> {
        self.check_axis("squeeze", axis)?;
        if self.shape[axis] != 1 {
            let text = format!("axis {axis} of {} has size {}, not 1", self.shape, self.shape[axis]);
            return Err(Error::new("squeeze", ErrorKind::Shape(text)));
        }
        let mut out = *self;
        out.drop_axis(axis);
        Ok(out)
    }

    /// Where a part of the elements lies, which `part` tells of as if all of them lay densely, in row-major order; `None` where no layout tells it.
    #[must_use]
    pub fn part(&self, part: &Layout) -> Option<Layout> {
        let rank = self.rank();
        let (sizes, own) = (&self.shape[..rank], self.strides());
        if self.is_contiguous() || part.numel() == 0 {
            return Layout::new(*part.shape(), part.strides(), self.offset + part.offset()).ok();
        }
        // The indices of one of the elements laid out densely.
        let indices = |mut at: usize| {
            let mut found = [0isize; MAX_RANK];
            for (axis, &n) in sizes.iter().enumerate().rev() {
                found[axis] = (at % n) as isize;
                at /= n;
            }
            found
        };
        let first = indices(part.offset());
        let (mut low, mut high, mut strides) = (first, first, [0isize; MAX_RANK]);
        for (k, (&n, &stride)) in part.shape().iter().zip(part.strides()).enumerate() {
            if n == 1 {
                continue;
            }
            let second = indices(part.offset().checked_add_signed(stride)?);
            for axis in 0..rank {
                let step = second[axis] - first[axis];
                strides[k] += step * own[axis];
                let last = step * (n as isize - 1);
                low[axis] += last.min(0);
                high[axis] += last.max(0);
            }
        }
        // No step carries over to another axis.
        let is_inside = (0..rank).all(|axis| low[axis] >= 0 && high[axis] < sizes[axis] as isize);
        let at = (0..rank).try_fold(self.offset, |at, axis| at.checked_add_signed(first[axis] * own[axis]));
        let layout = |at| Layout::new(*part.shape(), &strides[..part.rank()], at).ok();
        if is_inside { at.and_then(layout) } else { None }
    }

    /// The lowest and the highest element offset that the layout reaches; `None` where it is empty.
    #[inline]
    #[must_use]
    pub fn extent(&self) -> Option<(usize, usize)> {
        let (mut low, mut high) = (self.offset, self.offset);
        for (&n, &s) in self.shape.iter().zip(self.strides()) {
            if n == 0 {
                return None;
            }
            let reach = (n - 1).saturating_mul(s.unsigned_abs());
            if s < 0 { low = low.saturating_sub(reach) } else { high = high.saturating_add(reach) }
        }
        Some((low, high))
    }

    /// Whether two indices may reach the same element: certainly not, where each stride is longer than all that the shorter ones
    /// span together.
    #[must_use]
    pub fn overlaps(&self) -> bool {
        if self.numel() == 0 {
            return false;
        }
        let mut axes = [(0usize, 0usize); MAX_RANK];
        let mut count = 0;
        for (&n, &stride) in self.shape.iter().zip(self.strides()).filter(|(n, _)| **n > 1) {
            axes[count] = (stride.unsigned_abs(), n);
            count += 1;
        }
        axes[..count].sort_unstable();
        let mut span = 0usize;
        axes[..count].iter().any(|&(stride, n)| {
            let met = stride <= span;
            span = span.saturating_add(stride.saturating_mul(n - 1));
            met
        })
    }

    /// The offset of each element in row-major order. For tests and cold paths.
    #[must_use]
    pub fn offsets(&self) -> Offsets {
        Offsets { layout: *self, index: [0; MAX_RANK], at: self.offset as isize, left: self.numel() }
    }

    /// The offset of the element that comes `i`-th in row-major order, `i` below [`numel`](Layout::numel); anything for
    /// other `i`.
    #[inline]
    #[must_use]
    pub fn linear_offset(&self, mut i: usize) -> usize {
        let mut at = self.offset as isize;
        for (&n, &s) in self.shape.iter().zip(self.strides()).rev() {
            let n = n.max(1);
            at = at.wrapping_add(((i % n) as isize).wrapping_mul(s));
            i /= n;
        }
        at as usize
    }

    #[inline]
    fn advance(&mut self, index: isize, stride: isize) {
        self.offset = self.offset.wrapping_add_signed(index.wrapping_mul(stride));
    }

    fn drop_axis(&mut self, axis: usize) {
        let rank = self.rank();
        self.shape = self.shape.remove(axis);
        self.strides.change(|strides| {
            strides.copy_within(axis + 1..rank, axis);
            strides[rank - 1] = 0;
            rank - 1
        });
    }

    /// Changes strides in place, of which there are as many as axes.
    #[inline]
    fn with_strides(&mut self, change: impl FnOnce(&mut [isize])) {
        let rank = self.rank();
        self.strides.change(|strides| {
            change(&mut strides[..rank]);
            rank
        });
    }

    #[inline]
    #[track_caller]
    fn check_axis(&self, op: &'static str, axis: usize) -> Result<()> {
        if axis < self.rank() {
            return Ok(());
        }
        Err(Error::new(op, ErrorKind::Axis { axis: axis as i64, rank: self.rank() }))
    }
}

impl PartialEq for Layout {
    #[inline]
    fn eq(&self, other: &Layout) -> bool {
        self.offset == other.offset && self.shape == other.shape && self.strides() == other.strides()
    }
}

impl Eq for Layout {}

impl Hash for Layout {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.shape.hash(state);
        self.strides().hash(state);
        self.offset.hash(state);
    }
}

/// The iterator of [`Layout::offsets`].
#[derive(Debug, Clone)]
pub struct Offsets {
    layout: Layout,
    index: [usize; MAX_RANK],
    at: isize,
    left: usize,
}

impl Iterator for Offsets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let here = self.at;
        for axis in (0..self.layout.rank()).rev() {
            let (n, stride) = (self.layout.shape[axis], self.layout.strides()[axis]);
            self.index[axis] += 1;
            if self.index[axis] < n {
                self.at = self.at.wrapping_add(stride);
                break;
            }
            self.index[axis] = 0;
            self.at = self.at.wrapping_sub((n as isize).wrapping_sub(1).wrapping_mul(stride));
        }
        Some(here as usize)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Offsets {}

#[inline]
fn to_isize(n: usize) -> isize {
    isize::try_from(n).unwrap_or(isize::MAX)
}
