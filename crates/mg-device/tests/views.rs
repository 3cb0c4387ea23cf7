//! The views of a layout, against a model that knows nothing of strides: a shape, and the offset of each element in
//! row-major order. Every view is worked out there index by index.

use mg_device::{Layout, MAX_RANK, Shape, collapse, merge_dims};
use proptest::prelude::*;

/// A tensor as a list of where its elements lie.
#[derive(Debug, Clone)]
struct Model {
    dims: Vec<usize>,
    at: Vec<usize>,
}

impl Model {
    fn dense(dims: &[usize]) -> Model {
        Model { dims: dims.to_vec(), at: (0..dims.iter().product()).collect() }
    }

    fn get(&self, index: &[usize]) -> usize {
        let mut linear = 0;
        for (&i, &n) in index.iter().zip(&self.dims) {
            assert!(i < n);
            linear = linear * n + i;
        }
        self.at[linear]
    }

    /// The tensor of shape `dims` whose element at `index` is this one's at `source(index)`.
    fn map(&self, dims: Vec<usize>, source: impl Fn(&[usize]) -> Vec<usize>) -> Model {
        let at = indices(&dims).iter().map(|index| self.get(&source(index))).collect();
        Model { dims, at }
    }
}

/// Every index into `dims`, in row-major order.
fn indices(dims: &[usize]) -> Vec<Vec<usize>> {
    dims.iter().fold(vec![vec![]], |heads, &n| {
        heads.iter().flat_map(|head| (0..n).map(move |i| [head.as_slice(), &[i]].concat())).collect()
    })
}

/// What Python's `range(n)[start:end:step]` holds, by walking it.
fn python_slice(n: usize, start: Option<isize>, end: Option<isize>, step: isize) -> Vec<usize> {
    let n = n as i128;
    let wrap = |b: isize| if b < 0 { b as i128 + n } else { b as i128 };
    let mut out = Vec::new();
    if step > 0 {
        let mut i = start.map_or(0, wrap).max(0);
        let end = end.map_or(n, wrap).min(n);
        while i < end {
            out.push(i as usize);
            i += step as i128;
        }
    } else {
        let mut i = start.map_or(n - 1, wrap).min(n - 1);
        let end = end.map_or(-1, |b| wrap(b).max(-1));
        while i > end {
            out.push(i as usize);
            i += step as i128;
        }
    }
    out
}

/// One view, in numbers that `apply` fits to the tensor at hand.
#[derive(Debug, Clone)]
enum View {
    Permute(Vec<usize>),
    Transpose(usize, usize),
    Slice(usize, Option<isize>, Option<isize>, isize),
    Select(usize, isize),
    Flip(usize),
    Expand(Vec<usize>, usize),
    InsertAxis(usize),
    RemoveAxis(usize),
    Reshape(Vec<usize>),
}

fn bound() -> impl Strategy<Value = Option<isize>> {
    prop_oneof![
        1 => Just(None),
        8 => (-7isize..7).prop_map(Some),
        1 => prop_oneof![Just(isize::MIN), Just(isize::MAX), Just(isize::MIN + 1)].prop_map(Some),
    ]
}

fn step() -> impl Strategy<Value = isize> {
    prop_oneof![
        8 => 1isize..4,
        8 => -3isize..0,
        1 => prop_oneof![Just(isize::MIN), Just(isize::MAX)],
    ]
}

fn view() -> impl Strategy<Value = View> {
    let any_axis = 0usize..MAX_RANK;
    prop_oneof![
        Just((0..MAX_RANK).collect::<Vec<_>>()).prop_shuffle().prop_map(View::Permute),
        (any_axis.clone(), any_axis.clone()).prop_map(|(a, b)| View::Transpose(a, b)),
        (any_axis.clone(), bound(), bound(), step()).prop_map(|(a, s, e, t)| View::Slice(a, s, e, t)),
        (any_axis.clone(), -5isize..5).prop_map(|(a, i)| View::Select(a, i)),
        any_axis.clone().prop_map(View::Flip),
        (prop::collection::vec(0usize..4, MAX_RANK), 0usize..3).prop_map(|(d, n)| View::Expand(d, n)),
        any_axis.clone().prop_map(View::InsertAxis),
        any_axis.prop_map(View::RemoveAxis),
        prop::collection::vec(1usize..5, 0..5).prop_map(View::Reshape),
    ]
}

fn dims() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![1 => Just(0usize), 3 => Just(1usize), 10 => 2usize..5];
    prop::collection::vec(size, 0..5)
}

/// Applies `view` to both; `None` where it does not apply to this tensor, after checking that the layout says so too.
fn apply(layout: &Layout, model: &Model, view: &View) -> Option<(Layout, Model)> {
    let rank = model.dims.len();
    let without = |axis: usize| {
        let mut d = model.dims.clone();
        d.remove(axis);
        d
    };
    match view {
        View::Permute(order) => {
            let axes: Vec<usize> = order.iter().copied().filter(|&a| a < rank).collect();
            let dims = axes.iter().map(|&a| model.dims[a]).collect();
            let want = model.map(dims, |i| {
                let mut from = vec![0; rank];
                for (k, &a) in axes.iter().enumerate() {
                    from[a] = i[k];
                }
                from
            });
            Some((layout.permute(&axes).unwrap(), want))
        }
        &View::Transpose(a, b) => {
            let got = layout.transpose(a, b);
            if a >= rank || b >= rank {
                assert!(got.is_err());
                return None;
            }
            let mut dims = model.dims.clone();
            dims.swap(a, b);
            let want = model.map(dims, |i| {
                let mut i = i.to_vec();
                i.swap(a, b);
                i
            });
            Some((got.unwrap(), want))
        }
        &View::Slice(axis, start, end, step) => {
            let got = layout.slice(axis, start, end, step);
            if axis >= rank {
                assert!(got.is_err());
                return None;
            }
            let taken = python_slice(model.dims[axis], start, end, step);
            let mut dims = model.dims.clone();
            dims[axis] = taken.len();
            let want = model.map(dims, |i| {
                let mut i = i.to_vec();
                i[axis] = taken[i[axis]];
                i
            });
            Some((got.unwrap(), want))
        }
        &View::Select(axis, index) => {
            let got = layout.select(axis, index);
            let n = model.dims.get(axis).map_or(0, |&n| n as isize);
            if axis >= rank || !(-n..n).contains(&index) {
                assert!(got.is_err());
                return None;
            }
            let index = index.rem_euclid(n) as usize;
            let want = model.map(without(axis), |i| {
                let mut i = i.to_vec();
                i.insert(axis, index);
                i
            });
            Some((got.unwrap(), want))
        }
        &View::Flip(axis) => {
            let got = layout.flip(axis);
            if axis >= rank {
                assert!(got.is_err());
                return None;
            }
            let want = model.map(model.dims.clone(), |i| {
                let mut i = i.to_vec();
                i[axis] = model.dims[axis] - 1 - i[axis];
                i
            });
            Some((got.unwrap(), want))
        }
        View::Expand(sizes, lead) => {
            let repeated = model.dims.iter().zip(sizes).map(|(&n, &to)| if n == 1 { to } else { n });
            let dims: Vec<usize> = sizes[..*lead].iter().copied().chain(repeated).collect();
            if dims.len() > MAX_RANK || dims.iter().product::<usize>() > 5000 {
                return None;
            }
            let want = model.map(dims.clone(), |i| {
                i[*lead..].iter().zip(&model.dims).map(|(&i, &n)| if n == 1 { 0 } else { i }).collect()
            });
            Some((layout.expand(&Shape::of(&dims)).unwrap(), want))
        }
        &View::InsertAxis(axis) => {
            let got = layout.insert_axis(axis);
            if axis > rank || rank == MAX_RANK {
                assert!(got.is_err());
                return None;
            }
            let mut dims = model.dims.clone();
            dims.insert(axis, 1);
            Some((got.unwrap(), Model { dims, at: model.at.clone() }))
        }
        &View::RemoveAxis(axis) => {
            let got = layout.remove_axis(axis);
            if model.dims.get(axis) != Some(&1) {
                assert!(got.is_err());
                return None;
            }
            Some((got.unwrap(), Model { dims: without(axis), at: model.at.clone() }))
        }
        View::Reshape(sizes) => {
            // A shape with as many elements: sizes that divide what is left, and the rest at the end.
            let mut left = model.at.len();
            let mut dims: Vec<usize> = Vec::new();
            for &n in sizes {
                let n = if left.is_multiple_of(n) { n } else { 1 };
                dims.push(n);
                left /= n;
            }
            dims.push(left);
            let got = layout.reshape(&Shape::of(&dims));
            let want = Model { dims, at: model.at.clone() };
            assert_eq!(got.is_some(), strides_exist(&want), "{layout:?} to {:?}", want.dims);
            Some((got?, want))
        }
    }
}

/// Whether any strides give this sequence of offsets. A stride is the step between the first two elements of its axis, so
/// there is one candidate, and it fits or not.
fn strides_exist(m: &Model) -> bool {
    let Some(&first) = m.at.first() else { return true };
    let step = |axis: usize| {
        let mut index = vec![0; m.dims.len()];
        index[axis] = 1;
        m.get(&index) as isize - first as isize
    };
    let strides: Vec<isize> = (0..m.dims.len()).map(|a| if m.dims[a] < 2 { 0 } else { step(a) }).collect();
    let lies_at =
        |index: &Vec<usize>| index.iter().zip(&strides).map(|(&i, &s)| i as isize * s).sum::<isize>();
    indices(&m.dims).iter().zip(&m.at).all(|(index, &at)| lies_at(index) + first as isize == at as isize)
}

/// Everything a layout says about itself agrees with the model.
fn check(layout: &Layout, model: &Model) {
    assert_eq!(layout.shape()[..], model.dims[..]);
    assert_eq!(layout.numel(), model.at.len());
    let offsets = layout.offsets();
    assert_eq!(offsets.len(), model.at.len());
    assert_eq!(offsets.collect::<Vec<_>>(), model.at, "{layout:?}");
    for (i, &at) in model.at.iter().enumerate() {
        assert_eq!(layout.linear_offset(i), at);
    }
    let extent = model.at.iter().min().copied().zip(model.at.iter().max().copied());
    assert_eq!(layout.extent(), extent);
    let consecutive = model.at.windows(2).all(|w| w[1] == w[0] + 1);
    assert_eq!(layout.is_contiguous(), consecutive, "{layout:?}");
    let again = Layout::new(*layout.shape(), layout.strides(), layout.offset()).unwrap();
    assert_eq!(&again, layout);
}

fn chain(dims: &[usize], views: &[View]) -> (Layout, Model) {
    let mut layout = Layout::contiguous(Shape::new(dims).unwrap());
    let mut model = Model::dense(dims);
    check(&layout, &model);
    for view in views {
        if let Some((l, m)) = apply(&layout, &model, view) {
            check(&l, &m);
            assert!(l.numel() > 0 || l.offset() == layout.offset(), "an empty view points nowhere new");
            (layout, model) = (l, m);
        }
    }
    (layout, model)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Also in `apply`: a reshape is refused only where no strides could say it.
    #[test]
    fn chains_of_views_agree_with_the_model(dims in dims(), views in prop::collection::vec(view(), 0..6)) {
        chain(&dims, &views);
    }

    #[test]
    fn collapsing_keeps_every_operands_sequence(
        dims in dims(),
        one in prop::collection::vec(view(), 0..4),
        two in prop::collection::vec(view(), 0..4),
    ) {
        // Two operands meet in the shape they can both be broadcast to, if there is one.
        let (a, _) = chain(&dims, &one);
        let (b, _) = chain(&dims, &two);
        let b = if Shape::broadcast(a.shape(), b.shape()).is_some() { b } else { a };
        let shape = Shape::broadcast(a.shape(), b.shape()).unwrap();
        prop_assume!(shape.numel() <= 20_000);
        let operands = [a.expand(&shape).unwrap(), b.expand(&shape).unwrap()];

        let mut strides = operands.map(|l| l.padded_strides());
        let merged = collapse(&shape, &mut strides);
        prop_assert_eq!(merge_dims(&shape, [operands[0].strides(), operands[1].strides()]), (merged, strides));
        for (l, s) in operands.iter().zip(&strides) {
            let after = Layout::new(merged, &s[..merged.rank()], l.offset()).unwrap();
            prop_assert!(after.offsets().eq(l.offsets()), "{:?} became {:?}", l, after);
            prop_assert!(s[merged.rank()..].iter().all(|&s| s == 0));
        }
        // Nothing is left to merge or to drop.
        prop_assert!(!merged.contains(&1));
        for axis in 1..merged.rank() {
            let mergeable = strides.iter().all(|s| s[axis - 1] == s[axis] * merged[axis] as isize);
            prop_assert!(!mergeable, "{} {:?}", merged, strides);
        }
    }

    #[test]
    fn broadcasting_is_symmetric_and_what_expand_takes(a in dims(), b in dims()) {
        let (a, b) = (Shape::of(&a), Shape::of(&b));
        let both = Shape::broadcast(&a, &b);
        prop_assert_eq!(both, Shape::broadcast(&b, &a));
        if let Some(both) = both {
            prop_assert!(Layout::contiguous(a).expand(&both).is_ok());
            prop_assert!(Layout::contiguous(b).expand(&both).is_ok());
        }
    }

    /// Sizes, strides, axes and bounds that no tensor could have: errors or answers, never a panic.
    #[test]
    fn nothing_panics_on_absurd_numbers(
        dims in prop::collection::vec(any_size(), 0..10),
        strides in prop::collection::vec(any::<isize>(), 0..10),
        offset in any_size(),
        axes in prop::collection::vec(0usize..10, 0..10),
        bounds in (any::<Option<isize>>(), any::<Option<isize>>(), any::<isize>()),
    ) {
        let _ = Shape::new(&dims);
        let Ok(shape) = <[usize; 4]>::try_from(dims.iter().copied().chain([1; 4]).take(4).collect::<Vec<_>>()) else {
            return Ok(());
        };
        // Unchecked on purpose.
        let shape = Shape::from(shape);
        for l in [Ok(Layout::contiguous(shape)), Layout::new(shape, &strides, offset)].into_iter().flatten() {
            let (start, end, step) = bounds;
            let a = axes.first().copied().unwrap_or(0);
            let b = axes.last().copied().unwrap_or(0);
            let views = [
                l.permute(&axes),
                l.transpose(a, b),
                l.slice(a, start, end, step),
                l.select(a, step),
                l.flip(a),
                l.insert_axis(b),
                l.remove_axis(a),
                l.expand(&Shape::of(&dims[..dims.len().min(8)])),
                l.reshape(&Shape::of(&dims[..dims.len().min(8)])).ok_or_else(|| l.permute(&[99]).unwrap_err()),
            ];
            for v in views.into_iter().flatten().chain([l]) {
                let _ = (v.numel(), v.is_contiguous(), v.extent(), v.linear_offset(offset));
                let _ = v.offsets().take(3).count();
                let mut strides = [v.padded_strides()];
                let _ = collapse(v.shape(), &mut strides);
            }
        }
    }
}

fn any_size() -> impl Strategy<Value = usize> {
    prop_oneof![0usize..4, any::<usize>(), Just(usize::MAX), Just(isize::MAX as usize), Just(1 << 32)]
}

/// Every layout of two or three axes over a handful of strides, to every shape with as many elements.
#[test]
fn reshape_is_refused_only_where_a_copy_is_needed() {
    let steps = [-3isize, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12];
    let mut counts = [0, 0];
    for dims in [[2, 2, 2], [2, 3, 2], [3, 2, 1], [4, 3, 1], [2, 6, 1], [6, 2, 1], [4, 2, 3]] {
        for s in indices(&[steps.len(); 3]) {
            let strides: Vec<isize> = s.iter().map(|&i| steps[i]).collect();
            let layout = Layout::new(Shape::from(dims), &strides, 100).unwrap();
            let at: Vec<usize> = layout.offsets().collect();
            let n = at.len();
            let shapes = indices(&[n + 1, n + 1])
                .into_iter()
                .filter(|d| d[0] > 0 && d[1] > 0 && n.is_multiple_of(d[0] * d[1]));
            for d in shapes {
                let dims = vec![d[0], d[1], n / (d[0] * d[1])];
                let model = Model { dims, at: at.clone() };
                let got = layout.reshape(&Shape::of(&model.dims));
                assert_eq!(got.is_some(), strides_exist(&model), "{layout:?} to {:?}", model.dims);
                counts[usize::from(got.is_some())] += 1;
                if let Some(got) = got {
                    assert!(got.offsets().eq(at.iter().copied()));
                }
            }
        }
    }
    assert!(counts.iter().all(|&c| c > 1000), "both answers are exercised: {counts:?}");
}

#[test]
fn reshape_needs_as_many_elements() {
    let l = Layout::contiguous(Shape::from([2, 3]));
    assert!(l.reshape(&Shape::from([5])).is_none());
    assert!(l.reshape(&Shape::scalar()).is_none());
    assert!(Layout::contiguous(Shape::from([0, 3])).reshape(&Shape::from([7, 0])).is_some());
}

#[test]
fn bad_arguments_say_what_they_got() {
    let l = Layout::contiguous(Shape::from([2, 3]));
    let text = |e: mg_device::Error| e.to_string();
    assert!(
        text(l.select(1, 3).unwrap_err()).starts_with("select: index 3 is out of range for axis 1 of size 3")
    );
    assert!(text(l.slice(0, None, None, 0).unwrap_err()).starts_with("slice: the step is 0"));
    assert!(
        text(l.expand(&Shape::from([2, 4])).unwrap_err()).contains("[2, 3] cannot be broadcast to [2, 4]")
    );
    assert!(text(l.permute(&[0, 0]).unwrap_err()).contains("[0, 0] is not a permutation"));
    assert!(text(Layout::new(Shape::from([3]), &[-2], 3).unwrap_err()).contains("reaches -1..=3"));
    let line = line!() + 1;
    let e = l.flip(2).unwrap_err();
    assert_eq!((e.location().file(), e.location().line()), (file!(), line));
}

#[test]
fn layouts_that_overlap_say_so() {
    let overlaps = |shape: &[usize], strides: &[isize]| {
        let layout = Layout::new(Shape::new(shape).unwrap(), strides, 100).unwrap();
        let mut places: Vec<usize> = layout.offsets().collect();
        places.sort_unstable();
        let met = places.windows(2).any(|pair| pair[0] == pair[1]);
        assert!(layout.overlaps() || !met, "{shape:?} {strides:?}");
        layout.overlaps()
    };
    assert!(!overlaps(&[2, 3], &[3, 1]));
    assert!(!overlaps(&[3, 2], &[-1, 3]));
    assert!(!overlaps(&[2, 2], &[2, 3]));
    assert!(!overlaps(&[1, 3], &[0, 1]));
    assert!(!overlaps(&[0, 3], &[0, 0]));
    assert!(overlaps(&[2, 3], &[0, 1]));
    assert!(overlaps(&[3, 2], &[1, 1]));
    assert!(overlaps(&[3, 3], &[2, -1]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Parts of something that lies anyhow, told as if it lay densely, are where its elements are; and those that views cut off are told.
    #[test]
    fn parts_lie_where_their_elements_do(
        dims in dims(),
        one in prop::collection::vec(view(), 0..4),
        two in prop::collection::vec(view(), 0..4),
    ) {
        let (whole, _) = chain(&dims, &one);
        let (part, _) = chain(whole.shape(), &two);
        let found = whole.part(&part);
        if let Some(found) = found {
            prop_assert_eq!(found.shape(), part.shape());
            let places: Vec<usize> = part.offsets().map(|i| whole.linear_offset(i)).collect();
            prop_assert_eq!(found.offsets().collect::<Vec<_>>(), places, "{:?} of {:?}", part, whole);
        }
        let are_cut = two.iter().all(|view| !matches!(view, View::Reshape(..)));
        prop_assert!(found.is_some() || !are_cut, "{:?} of {:?}", part, whole);
    }
}
