//! Writing through views, and what other views see of it.

mod common;

use common::{Rng, f32s, indices};
use mg_autograd::{Index, Tensor, no_grad};
use mg_device::{Buffer, DType, Device, ErrorKind, Result, Shape};

fn base() -> Tensor {
    f32s(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
}

fn values(t: &Tensor) -> Vec<f32> {
    t.to_vec::<f32>().unwrap()
}

/// The same base, before and after its value is known.
fn bases() -> [(&'static str, Tensor); 3] {
    let realized = base().copy();
    realized.realize().unwrap();
    [("data", base()), ("pending", base().copy()), ("realized", realized)]
}

#[test]
fn a_write_through_a_view_is_seen_by_the_base_and_by_other_views() {
    type View = fn(&Tensor) -> Result<Tensor>;
    let views: [(&str, View, [f32; 6]); 12] = [
        ("row", |x| x.select(0, 1), [0.0, 1.0, 2.0, 9.0, 9.0, 9.0]),
        ("column", |x| x.select(1, -1), [0.0, 1.0, 9.0, 3.0, 4.0, 9.0]),
        ("slice", |x| x.slice(1, Some(1), None, 1), [0.0, 9.0, 9.0, 3.0, 9.0, 9.0]),
        ("steps", |x| x.slice(1, None, None, 2), [9.0, 1.0, 9.0, 9.0, 4.0, 9.0]),
        ("backwards", |x| x.slice(1, Some(0), None, -1), [9.0, 1.0, 2.0, 9.0, 4.0, 5.0]),
        ("transpose", |x| x.t().select(0, 1), [0.0, 9.0, 2.0, 3.0, 9.0, 5.0]),
        ("reshape", |x| x.reshape(&[6])?.narrow(0, 2, 2), [0.0, 1.0, 9.0, 9.0, 4.0, 5.0]),
        (
            "axis in front of a transpose",
            |x| x.t().reshape(&[1, 3, 2])?.select(2, 1),
            [0.0, 1.0, 2.0, 9.0, 9.0, 9.0],
        ),
        (
            "view of a view of a view",
            |x| x.slice(0, None, None, -1)?.t().select(0, 2)?.narrow(0, 0, 1),
            [0.0, 1.0, 2.0, 3.0, 4.0, 9.0],
        ),
        ("transpose of a transpose", |x| x.t().t().select(0, 0), [9.0, 9.0, 9.0, 3.0, 4.0, 5.0]),
        (
            "backwards of backwards",
            |x| x.slice(1, None, None, -1)?.slice(1, None, None, -1)?.select(1, 0),
            [9.0, 1.0, 2.0, 9.0, 4.0, 5.0],
        ),
        ("all of it", |x| x.reshape(&[3, 2]), [9.0; 6]),
    ];
    for (name, view, expected) in views {
        for (state, x) in bases() {
            let (whole, turned) = (x.reshape(&[6]).unwrap(), x.t());
            let v = view(&x).unwrap();
            v.assign(9.0).unwrap();
            let what = format!("{name} of {state}");
            assert_eq!(values(&x), expected, "{what}: the base");
            assert_eq!(values(&whole), expected, "{what}: a view made before");
            let e = expected;
            assert_eq!(
                values(&turned),
                [e[0], e[3], e[1], e[4], e[2], e[5]],
                "{what}: a transpose made before"
            );
            assert!(values(&v).iter().all(|&n| n == 9.0), "{what}: the view");
        }
    }
}

#[test]
fn the_value_broadcasts_and_is_converted() {
    let x = base();
    x.assign(Tensor::from_slice(&[7i64, 8, 9])).unwrap();
    assert_eq!(values(&x), [7.0, 8.0, 9.0, 7.0, 8.0, 9.0]);
    x.select(0, 0).unwrap().assign(1i64).unwrap();
    assert_eq!(values(&x), [1.0, 1.0, 1.0, 7.0, 8.0, 9.0]);
    let n = Tensor::from_slice(&[1i64, 2, 3]);
    n.narrow(0, 0, 2).unwrap().assign(2.9).unwrap();
    assert_eq!(n.to_vec::<i64>().unwrap(), [2, 2, 3]);
    assert_eq!(n.dtype(), DType::I64);
}

#[test]
fn a_tensor_can_be_written_with_its_own_parts() {
    let x = base();
    x.assign(x.flip(&[1]).unwrap()).unwrap();
    assert_eq!(values(&x), [2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
    let (a, b) = (x.select(0, 0).unwrap(), x.select(0, 1).unwrap());
    a.assign(&b + &a).unwrap();
    assert_eq!(values(&x), [7.0, 5.0, 3.0, 5.0, 4.0, 3.0]);
    let line = Tensor::from_slice(&[0.0f32, 1.0, 2.0, 3.0, 4.0]);
    line.narrow(0, 1, 4).unwrap().assign(line.narrow(0, 0, 4).unwrap()).unwrap();
    assert_eq!(values(&line), [0.0, 0.0, 1.0, 2.0, 3.0], "the value is taken before it is written");
}

#[test]
fn what_was_computed_before_keeps_its_value() {
    for (state, x) in bases() {
        let (pending, copy) = (&x * 10.0, x.copy());
        let detached = x.detach();
        x.select(0, 0).unwrap().assign(-1.0).unwrap();
        assert_eq!(values(&pending), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0], "{state}");
        assert_eq!(values(&copy), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "{state}");
        assert_eq!(values(&x), [-1.0, -1.0, -1.0, 3.0, 4.0, 5.0], "{state}");
        drop(detached);
    }
}

#[test]
fn handles_of_one_tensor_are_one() {
    let x = base();
    let y = x.clone();
    y.assign(3.0).unwrap();
    assert_eq!(values(&x), [3.0; 6]);
    let same = x.reshape(&[2, 3]).unwrap();
    same.select(1, 0).unwrap().assign(4.0).unwrap();
    assert_eq!(values(&y), [4.0, 3.0, 3.0, 4.0, 3.0, 3.0]);
}

#[test]
fn broadcast_views_cannot_be_written() {
    for (state, x) in bases() {
        let wide = x.select(1, 0).unwrap().unsqueeze(1).unwrap().expand(&[2, 4]).unwrap();
        for view in [wide.clone(), wide.t(), wide.narrow(1, 1, 2).unwrap(), wide.select(0, 1).unwrap()] {
            let error = view.assign(1.0).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Value(_)), "{state}: {error}");
            assert!(error.to_string().contains("broadcast"), "{state}: {error}");
        }
        assert_eq!(values(&x), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "{state}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let x = base();
    let error = x.select(0, 0).unwrap().assign(Tensor::from_slice(&[1f32, 2.0])).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Shape(_)) && error.to_string().contains("[2]"), "{error}");
    let error = x.assign(x.unsqueeze(0).unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Shape(_)), "{error}");
    assert_eq!(values(&x), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn empty_views_are_written_with_nothing() {
    for (state, x) in bases() {
        x.narrow(1, 1, 0).unwrap().assign(9.0).unwrap();
        x.slice(0, Some(5), None, 1).unwrap().assign(9.0).unwrap();
        assert_eq!(values(&x), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "{state}");
    }
    let nothing = f32s(&[0, 3], &[]);
    nothing.assign(1.0).unwrap();
    assert_eq!(values(&nothing), []);
}

#[test]
fn gradients_flow_through_writes() {
    let leaf = |v: &[f64]| Tensor::from_slice(v).requires_grad_(true).unwrap();
    let (a, b) = (leaf(&[1.0, 2.0, 3.0, 4.0]), leaf(&[10.0, 20.0]));
    let x = &a * 2.0;
    let middle = x.narrow(0, 1, 2).unwrap();
    middle.assign(&b * 3.0).unwrap();
    let y = (&x * &x).sum();
    assert_eq!(y.item::<f64>().unwrap(), 4.0 + 900.0 + 3600.0 + 64.0);
    y.backward().unwrap();
    assert_eq!(
        a.grad().unwrap().to_f64_vec().unwrap(),
        [8.0, 0.0, 0.0, 32.0],
        "what was overwritten has no gradient"
    );
    assert_eq!(b.grad().unwrap().to_f64_vec().unwrap(), [180.0, 360.0]);
    // The view, too, is now what was written.
    b.zero_grad();
    let (x, c) = (&a * 1.0, leaf(&[5.0]));
    let part = x.narrow(0, 0, 1).unwrap();
    part.assign(&c).unwrap();
    (&part * &part).sum().backward().unwrap();
    assert_eq!(c.grad().unwrap().to_f64_vec().unwrap(), [10.0]);
}

#[test]
fn writing_what_needs_a_gradient_into_a_constant_makes_it_need_one() {
    let w = Tensor::from_slice(&[2.0f32]).requires_grad_(true).unwrap();
    let x = f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    assert!(!x.requires_grad());
    x.select(0, 1).unwrap().assign(&w).unwrap();
    assert!(x.requires_grad());
    x.square().sum().backward().unwrap();
    assert_eq!(values(&w.grad().unwrap()), [8.0]);
}

#[test]
fn a_leaf_is_changed_under_no_grad_only() {
    let w = base().requires_grad_(true).unwrap();
    for view in [w.clone(), w.t(), w.select(0, 1).unwrap(), w.reshape(&[6]).unwrap().narrow(0, 1, 2).unwrap()]
    {
        let error = view.assign(0.0).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Gradient(_)) && error.to_string().contains("no_grad"),
            "{error}"
        );
    }
    {
        let _off = no_grad();
        w.select(0, 1).unwrap().assign(-1.0).unwrap();
        w.t().select(0, 0).unwrap().assign(7.0).unwrap();
    }
    assert_eq!(values(&w), [7.0, 1.0, 2.0, 7.0, -1.0, -1.0]);
    assert!(w.requires_grad() && w.is_leaf());
    w.square().sum().backward().unwrap();
    assert_eq!(values(&w.grad().unwrap()), [14.0, 2.0, 4.0, 14.0, -2.0, -2.0]);
}

#[test]
fn a_gradient_made_of_a_value_that_was_changed_is_an_error() {
    let w = Tensor::from_slice(&[3.0f32]).requires_grad_(true).unwrap();
    let (y, made) = ((&w * &w).sum(), line!());
    let changed = {
        let _off = no_grad();
        w.assign(100.0).unwrap();
        line!() - 1
    };
    let error = y.backward().unwrap_err().to_string();
    assert!(matches!(y.backward().unwrap_err().kind(), ErrorKind::Gradient(_)), "{error}");
    assert!(error.contains(&format!("views.rs:{made}:")), "{error}");
    assert!(error.contains(&format!("views.rs:{changed}:")), "{error}");
    assert_eq!(y.item::<f32>().unwrap(), 9.0);
    w.zero_grad();
    (&w * &w).sum().backward().unwrap();
    assert_eq!(values(&w.grad().unwrap()), [200.0]);
    // What needs no value needs no old one.
    let z = (&w * 2.0).sum();
    {
        let _off = no_grad();
        w.select(0, 0).unwrap().assign(1.0).unwrap();
    }
    w.zero_grad();
    z.backward().unwrap();
    assert_eq!(values(&w.grad().unwrap()), [2.0]);
}

#[test]
fn what_is_saved_of_a_view_or_of_a_result_is_seen_to_change() {
    let w = Tensor::from_slice(&[3.0f32, 4.0]).requires_grad_(true).unwrap();
    for known in [false, true] {
        let x = f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]).copy();
        if known {
            x.realize().unwrap();
        }
        let y = (&w * &x.select(0, 1).unwrap()).sum();
        x.assign(0.0).unwrap();
        assert!(y.backward().is_err(), "a view of constants, known: {known}, {:?}", y.node().sources());
        let y = (&w * &x.detach()).sum();
        x.select(0, 0).unwrap().assign(1.0).unwrap();
        assert!(y.backward().is_err(), "another line on its memory, known: {known}");
        let y = w.exp();
        let loss = y.sum();
        y.detach().assign(0.0).unwrap();
        assert!(loss.backward().is_err(), "a result that is saved, known: {known}");
        // An operation in place reads what it replaces.
        let y = &w * 2.0;
        mg_autograd::in_place(|| y.assign(y.try_mul(&w)?)).unwrap();
        w.zero_grad();
        y.sum().backward().unwrap();
        assert_eq!(values(&w.grad().unwrap()), [12.0, 16.0]);
    }
}

#[test]
fn many_writes_in_a_row() {
    let x = Tensor::zeros(&[100], DType::F32).unwrap();
    for i in 0..100 {
        x.select(0, i).unwrap().assign(i as f64).unwrap();
    }
    assert_eq!(values(&x), (0..100).map(|i| i as f32).collect::<Vec<_>>());
    let counter = Tensor::scalar(0.0f32);
    for _ in 0..20_000 {
        counter.assign(&counter + 1.0).unwrap();
    }
    assert_eq!(counter.item::<f32>().unwrap(), 20_000.0);
}

/// A view in the model: where each of its elements lies in the base.
#[derive(Clone)]
struct Seen {
    t: Tensor,
    shape: Vec<usize>,
    at: Vec<usize>,
    broadcast: bool,
    how: String,
}

impl Seen {
    fn pick(&self, t: Tensor, shape: Vec<usize>, how: String, from: impl Fn(&[usize]) -> Vec<usize>) -> Seen {
        let at = indices(&shape)
            .iter()
            .map(|i| self.at[from(i).iter().zip(&self.shape).fold(0, |f, (&i, &n)| f * n + i)])
            .collect();
        Seen { t, shape, at, broadcast: self.broadcast, how: format!("{}.{how}", self.how) }
    }

    fn random_view(&self, rng: &mut Rng) -> Seen {
        let rank = self.shape.len();
        let axis = rng.below(rank.max(1));
        match rng.below(8) {
            0 if rank > 0 => {
                let (n, start) = (self.shape[axis], rng.below(self.shape[axis] + 1));
                let step = 1 + rng.below(2);
                let stop = (start + rng.below(n + 1)).min(n);
                let mut shape = self.shape.clone();
                shape[axis] = (stop - start).div_ceil(step);
                let (s, e) = (Some(start as isize), Some(stop as isize));
                let t = self.t.slice(axis as isize, s, e, step as isize).unwrap();
                self.pick(t, shape, format!("slice({axis}, {start}, {stop}, {step})"), |i| {
                    let mut from = i.to_vec();
                    from[axis] = start + i[axis] * step;
                    from
                })
            }
            1 if rank > 0 => {
                let n = self.shape[axis];
                let t = self.t.slice(axis as isize, None, None, -1).unwrap();
                self.pick(t, self.shape.clone(), format!("backwards({axis})"), |i| {
                    let mut from = i.to_vec();
                    from[axis] = n - 1 - i[axis];
                    from
                })
            }
            2 if rank > 0 && self.shape[axis] > 0 => {
                let index = rng.below(self.shape[axis]);
                let t = self.t.select(axis as isize, index as isize).unwrap();
                let mut shape = self.shape.clone();
                shape.remove(axis);
                self.pick(t, shape, format!("select({axis}, {index})"), |i| {
                    let mut from = i.to_vec();
                    from.insert(axis, index);
                    from
                })
            }
            3 | 4 if rank > 1 => {
                let mut axes: Vec<usize> = (0..rank).collect();
                (1..rank).for_each(|i| axes.swap(i, rng.below(i + 1)));
                let signed: Vec<isize> = axes.iter().map(|&a| a as isize).collect();
                let t = self.t.permute(&signed).unwrap();
                let shape = axes.iter().map(|&a| self.shape[a]).collect();
                self.pick(t, shape, format!("permute({axes:?})"), |i| {
                    let mut from = vec![0; rank];
                    axes.iter().zip(i).for_each(|(&a, &i)| from[a] = i);
                    from
                })
            }
            5 => {
                let n: usize = self.shape.iter().product();
                let split = (2..=n).find(|d| n.is_multiple_of(*d)).filter(|_| n > 1);
                let shape = match (rng.below(2), split) {
                    (0, Some(d)) => vec![d, n / d],
                    _ => vec![n],
                };
                let signed: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
                // Where there is no such view, there is a copy, which is nobody's part.
                let Ok(t) = self.t.view(&signed) else {
                    let copy = self.t.reshape(&signed).unwrap();
                    copy.assign(-1.0).unwrap();
                    return self.clone();
                };
                let how = format!("{}.view({shape:?})", self.how);
                Seen { t, shape, at: self.at.clone(), broadcast: self.broadcast, how }
            }
            6 if rank < 4 => {
                let t = self.t.unsqueeze(axis as isize).unwrap();
                let mut shape = self.shape.clone();
                shape.insert(axis, 1);
                let how = format!("{}.unsqueeze({axis})", self.how);
                Seen { t, shape, at: self.at.clone(), broadcast: self.broadcast, how }
            }
            7 if rank < 4 && rng.below(3) == 0 => {
                let shape = [vec![2], self.shape.clone()].concat();
                let signed: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
                let t = self.t.expand(&signed).unwrap();
                let mut seen = self.pick(t, shape, "expand in front".into(), |i| i[1..].to_vec());
                seen.broadcast = true;
                seen
            }
            _ => self.clone(),
        }
    }
}

/// Random views of views, random writes through any of them, in random states of computation: every view always shows
/// what the model says.
#[test]
fn views_and_writes_agree_with_a_model() {
    for seed in 0..400 {
        let mut rng = Rng(seed);
        let shape: Vec<usize> = (0..1 + rng.below(3)).map(|_| 1 + rng.below(4)).collect();
        let n: usize = shape.iter().product();
        let mut model: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let data = Tensor::from_vec(model.clone(), &shape).unwrap();
        let (t, how) = match rng.below(3) {
            0 => (data, "data"),
            1 => (&data * 1.0, "pending"),
            _ => {
                let t = &data * 1.0;
                t.realize().unwrap();
                (t, "realized")
            }
        };
        let first = Seen {
            t,
            shape: shape.clone(),
            at: (0..n).collect(),
            broadcast: false,
            how: format!("{how} {shape:?}"),
        };
        let mut views = vec![first];
        let mut log: Vec<String> = vec![];
        for step in 0..14 {
            let v = views[rng.below(views.len())].clone();
            match rng.below(6) {
                0..=2 => views.push(v.random_view(&mut rng)),
                3 => {
                    v.t.realize().unwrap();
                    log.push(format!("realize {}", v.how));
                }
                _ => {
                    let source = views[rng.below(views.len())].clone();
                    let as_tensor = source.shape == v.shape && rng.below(2) == 0;
                    let number = (100 * (step + 1)) as f64;
                    let new: Vec<f64> = match as_tensor {
                        true => source.at.iter().map(|&at| model[at] + number).collect(),
                        false => vec![number; v.at.len()],
                    };
                    let result = if as_tensor { v.t.assign(&source.t + number) } else { v.t.assign(number) };
                    log.push(format!("{} = {}", v.how, if as_tensor { &source.how } else { "number" }));
                    // What shows an element twice cannot be written; what was broadcast on the way may be refused.
                    let twice = (1..v.at.len()).any(|i| v.at[..i].contains(&v.at[i]));
                    assert!(!twice || result.is_err(), "seed {seed}: {log:#?}");
                    if v.broadcast && result.is_err() {
                        continue;
                    }
                    result.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{log:#?}"));
                    v.at.iter().zip(new).for_each(|(&at, value)| model[at] = value);
                }
            }
            if rng.below(3) == 0 {
                let v = &views[rng.below(views.len())];
                check(v, &model, seed, &log);
            }
        }
        for v in &views {
            check(v, &model, seed, &log);
        }
    }
}

#[track_caller]
fn check(v: &Seen, model: &[f64], seed: u64, log: &[String]) {
    assert_eq!(v.t.shape().to_vec(), v.shape, "seed {seed}: {}", v.how);
    let expected: Vec<f64> = v.at.iter().map(|&at| model[at]).collect();
    assert_eq!(v.t.to_vec::<f64>().unwrap(), expected, "seed {seed}: {} after\n{log:#?}", v.how);
}

#[test]
fn threads_that_write_through_views_of_one_tensor_lose_nothing() {
    let base = Tensor::zeros(&[4, 8], DType::F32).unwrap();
    std::thread::scope(|scope| {
        for row in 0..4 {
            let row = base.select(0, row).unwrap();
            scope.spawn(move || {
                for i in 0..2000 {
                    row.assign(i as f64).unwrap();
                    assert_eq!(row.to_vec::<f32>().unwrap(), [i as f32; 8]);
                }
            });
        }
    });
    assert_eq!(base.to_vec::<f32>().unwrap(), [1999.0; 32]);
}

#[test]
fn memory_that_goes_may_look_at_the_tensor_that_it_was() {
    struct Looks(Tensor, std::sync::mpsc::Sender<(Vec<f32>, bool)>);
    impl Drop for Looks {
        fn drop(&mut self) {
            let _ = self.1.send((self.0.to_vec().unwrap(), self.0.grad().is_some()));
        }
    }
    let foreign = |of: &Tensor| {
        let (said, heard) = std::sync::mpsc::channel();
        let memory = vec![5.0f32; 2].leak();
        let owner = Box::new(std::sync::Mutex::new(Looks(of.clone(), said)));
        // SAFETY: the memory is never freed, and nobody else has it.
        let buffer = unsafe { Buffer::from_foreign(memory.as_mut_ptr().cast(), 2, DType::F32, owner) };
        (Tensor::from_buffer(buffer, Shape::from([2])).unwrap(), heard)
    };
    // The foreign memory is the host's.
    let x = Tensor::from_slice(&[1.0f32, 2.0]).to(Device::cpu()).unwrap();
    let (value, heard) = foreign(&x);
    x.assign(&value).unwrap();
    drop(value);
    assert_eq!(heard.recv_timeout(std::time::Duration::from_secs(5)).unwrap(), (vec![5.0, 5.0], false));
    let (value, heard) = foreign(&x);
    x.set_data(&value).unwrap();
    drop(value);
    x.set_data(&Tensor::from_slice(&[3.0f32, 3.0]).to(Device::cpu()).unwrap()).unwrap();
    assert_eq!(heard.recv_timeout(std::time::Duration::from_secs(5)).unwrap(), (vec![3.0, 3.0], false));
    let (gradient, heard) = foreign(&x);
    x.set_grad(Some(&gradient)).unwrap();
    drop(gradient);
    x.set_grad(None).unwrap();
    assert_eq!(heard.recv_timeout(std::time::Duration::from_secs(5)).unwrap(), (vec![3.0, 3.0], false));
}

#[test]
fn the_first_power_is_another_tensor() {
    let x = Tensor::from_slice(&[1.0f32, 2.0]);
    x.pow(1).assign(7.0).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    let truths = Tensor::from_slice(&[true, false]);
    for n in 0..4 {
        assert_eq!(truths.pow(n).dtype(), DType::I64, "to the power {n}");
    }
}

#[test]
fn indices_that_are_known_are_checked_at_once() {
    if mg_autograd::default_device().is_cuda() {
        eprintln!("skipped: what is known of indices is what the host has");
        return;
    }
    let index = Tensor::from_slice(&[0i64, 2, -1, 1]);
    assert_eq!(index.check_indices("test", -3, 0, 3).unwrap(), Some(true));
    assert_eq!(
        index.slice(0, None, Some(2), 1).unwrap().check_indices("test", 0, 0, 3).unwrap(),
        Some(false)
    );
    let e = index.check_indices("test", 0, 1, 3).unwrap_err();
    assert_eq!(*e.kind(), ErrorKind::Index { index: -1, axis: 1, size: 3 });
    let every_other = index.slice(0, Some(1), None, 2).unwrap();
    every_other.realize().unwrap();
    let e = every_other.check_indices("test", 0, 0, 2).unwrap_err();
    assert_eq!(*e.kind(), ErrorKind::Index { index: 2, axis: 0, size: 2 });
    for dtype in [DType::I32, DType::U8] {
        let index = Tensor::from_slice(&[0i64, 7]).to_dtype(dtype);
        // Not computed, so not known.
        assert_eq!(index.check_indices("test", 0, 0, 3).unwrap(), None);
        index.realize().unwrap();
        assert!(index.check_indices("test", 0, 0, 3).is_err());
        assert_eq!(index.check_indices("test", 0, 0, 8).unwrap(), Some(false));
    }
    assert!(matches!(
        Tensor::from_slice(&[0.0f32]).check_indices("test", 0, 0, 3).unwrap_err().kind(),
        ErrorKind::DType(_)
    ));
}

#[test]
fn diagonals_and_windows_share_memory() {
    for (name, x) in bases() {
        let (diagonal, pairs) = (x.diagonal(1, 0, 1).unwrap(), x.t().unfold(0, 2, 2).unwrap());
        diagonal.assign(9.0).unwrap();
        assert_eq!(values(&x), [0.0, 9.0, 2.0, 3.0, 4.0, 9.0], "{name}");
        assert_eq!(values(&pairs), [0.0, 9.0, 3.0, 4.0], "{name}");
        pairs.assign(f32s(&[2], &[-1.0, -2.0])).unwrap();
        assert_eq!(values(&x), [-1.0, -2.0, 2.0, -1.0, -2.0, 9.0], "{name}");
        let overlapping = x.unfold(1, 2, 1).unwrap();
        assert_eq!(overlapping.shape(), [2, 2, 2]);
        assert_eq!(values(&overlapping), [-1.0, -2.0, -2.0, 2.0, -1.0, -2.0, -2.0, 9.0], "{name}");
        assert!(matches!(overlapping.assign(0.0).unwrap_err().kind(), ErrorKind::Value(_)), "{name}");
        let strided = x.select(0, 1).unwrap().as_strided(&[2, 2], &[1, 1], None).unwrap();
        assert_eq!(values(&strided), [-1.0, -2.0, -2.0, 9.0], "{name}");
        assert!(x.as_strided(&[2, 3], &[3, 2], Some(0)).is_err(), "{name}");
    }
}

#[test]
fn what_windows_share_has_the_sum_of_their_gradients() {
    let x = base().requires_grad_(true).unwrap();
    let weights = f32s(&[2, 2, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    x.unfold(1, 2, 1).unwrap().try_mul(&weights).unwrap().sum().backward().unwrap();
    assert_eq!(values(&x.grad().unwrap()), [1.0, 5.0, 4.0, 5.0, 13.0, 8.0]);
    x.zero_grad();
    x.diagonal(-1, 0, 1).unwrap().try_mul(3.0).unwrap().sum().backward().unwrap();
    assert_eq!(values(&x.grad().unwrap()), [0.0, 0.0, 0.0, 3.0, 0.0, 0.0]);
}

#[test]
fn several_indices_at_once() {
    let x = base();
    let rows = Tensor::from_slice(&[1i64, 0, -1]);
    let columns = Tensor::from_slice(&[2i8, 0, 1]);
    let picked = x.index(&[Index::from(&rows), Index::from(&columns)]).unwrap();
    assert_eq!(values(&picked), [5.0, 0.0, 4.0]);
    // Bytes are truth values.
    let mask = Index::Tensor(Tensor::from_slice(&[2u8, 0, 1]));
    assert_eq!(values(&x.index(&[Index::Rest, mask.clone()]).unwrap()), [0.0, 2.0, 3.0, 5.0]);
    assert!(x.index(&[mask]).and_then(|t| t.to_vec::<f32>()).is_err(), "a mask of three for an axis of two");
    let bytes = Tensor::from_slice(&[0u8, 3, 0]);
    assert_eq!(values(&Tensor::where_(&bytes, &x, -1.0).unwrap()), [-1.0, 1.0, -1.0, -1.0, 4.0, -1.0]);
    let view = x.index(&[Index::Rest, Index::from(1..)]).unwrap();
    view.assign(7.0).unwrap();
    assert_eq!(values(&x), [0.0, 7.0, 7.0, 3.0, 7.0, 7.0]);
    x.set_index(&[Index::Tensor(x.try_lt(5.0).unwrap())], -1.0).unwrap();
    assert_eq!(values(&x), [-1.0, 7.0, 7.0, -1.0, 7.0, 7.0]);
    x.set_index(&[Index::from(..), Index::Tensor(Tensor::from_slice(&[2i64, 2]))], f32s(&[2], &[1.0, 2.0]))
        .unwrap();
    assert_eq!(values(&x), [-1.0, 7.0, 2.0, -1.0, 7.0, 2.0]);
    let outside = x.index(&[Index::Tensor(Tensor::from_slice(&[2i64]))]).and_then(|t| t.to_vec::<f32>());
    assert!(matches!(outside.unwrap_err().kind(), ErrorKind::Index { index: 2, axis: 0, size: 2 }));
    assert!(x.index(&[Index::from(0), Index::from(0), Index::from(0)]).is_err());
}

#[test]
fn what_a_view_was_cut_off_from_may_go_and_nobody_sees_when() {
    type Look = fn(&Tensor);
    let looks: [Look; 3] = [|_| (), |t| drop(values(t)), |t| drop(values(&t.select(0, 1).unwrap()))];
    for look in looks {
        let turned = base().t().detach();
        let cut = base().slice(1, Some(1), None, 1).unwrap().detach();
        let leaf = base().t().requires_grad_(true).unwrap();
        for _ in 0..2 {
            let lie = |t: &Tensor| {
                let lie = t.lie().unwrap();
                (lie.strides().to_vec(), lie.offset())
            };
            assert_eq!(lie(&turned), (vec![1, 3], 0));
            assert_eq!(lie(&turned.select(0, 1).unwrap()), (vec![3], 1));
            assert_eq!(lie(&turned.t()), (vec![3, 1], 0));
            assert_eq!(lie(&cut), (vec![3, 1], 1));
            assert_eq!(lie(&leaf), (vec![1, 3], 0));
            assert_eq!(lie(&leaf.detach()), (vec![1, 3], 0), "made anew of what nobody else has any more");
            [&turned, &cut, &leaf].into_iter().for_each(look);
        }
        turned.contiguous().unwrap().assign(0.0).unwrap();
        turned.reshape(&[-1]).unwrap().assign(0.0).unwrap();
        assert_eq!(values(&turned), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        turned.select(0, 1).unwrap().assign(9.0).unwrap();
        assert_eq!(values(&turned), [0.0, 3.0, 9.0, 9.0, 2.0, 5.0]);
        assert!(turned.address().unwrap() > 0);
        let value = turned.value().unwrap();
        assert_eq!(
            value.layout.strides(),
            [1, 3],
            "whoever asks for the address finds the elements as is told"
        );
        assert_eq!(values(&turned), [0.0, 3.0, 9.0, 9.0, 2.0, 5.0]);
    }
}

#[test]
fn a_dense_value_is_dense_whatever_was_written() {
    let x = Tensor::zeros(&[2, 3], DType::F32).unwrap();
    x.assign(Tensor::from_slice(&[1.0f32, 2.0, 3.0])).unwrap();
    let turned = Tensor::zeros(&[3, 2], DType::F32).unwrap();
    turned.assign(base().t()).unwrap();
    for (t, wanted) in [(x, [1.0f32, 2.0, 3.0, 1.0, 2.0, 3.0]), (turned, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0])] {
        let value = t.dense_value().unwrap();
        let wanted: Vec<u8> = wanted.iter().flat_map(|v| v.to_ne_bytes()).collect();
        assert_eq!(value.dense_bytes().unwrap(), wanted);
        let value = t.value().unwrap();
        if !value.layout.is_contiguous() && value.buffer.device().is_cpu() {
            assert!(value.dense_bytes().unwrap_err().to_string().contains("one after the other"));
        }
    }
}
