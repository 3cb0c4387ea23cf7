//! Values of the rows.

use crate::common::*;
use crate::host::{evaluate, meant, reference, tolerance};
use mg_autograd::Tensor;
use mg_device::{DType, ErrorKind, Result, bf16, f16};
use mg_graph::Node;
use mg_kernels::Row;
use mg_kernels::rows::RowClass;

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

macro_rules! one {
    // The gradients of relu and gelu have no method, the power of integers not one of its own; `softplus` and `gelu` take more.
    (IntPow $try_method:ident $x:ident ($($arg:ident)+)) => {
        Ok(Tensor::from_node(Node::map(Row::IntPow, &[&$x[0].node(), &$x[1].node()])?))
    };
    (Gate $try_method:ident $x:ident ($($arg:ident)+)) => {
        Ok(Tensor::from_node(Node::map(Row::Gate, &[&$x[0].node(), &$x[1].node()])?))
    };
    (Softplus $try_method:ident $x:ident ($($arg:ident)+)) => {
        $x[0].try_softplus(1.0, 20.0)
    };
    (Gelu $try_method:ident $x:ident ($($arg:ident)+)) => {
        $x[0].try_gelu("none")
    };
    (GeluSlope $try_method:ident $x:ident ($($arg:ident)+)) => {
        Ok(Tensor::from_node(Node::map(Row::GeluSlope, &[&$x[0].node()])?))
    };
    (Where $try_method:ident $x:ident ($($arg:ident)+)) => {
        Tensor::where_($x[0], $x[1], $x[2])
    };
    ($Name:ident $try_method:ident $x:ident ($a:ident)) => {
        $x[0].$try_method()
    };
    ($Name:ident $try_method:ident $x:ident ($a:ident $b:ident)) => {
        $x[0].$try_method($x[1])
    };
}
macro_rules! by_method {
    ($([$($doc:literal)+] $Name:ident $name:literal $method:ident $try_method:ident $class:ident ($($arg:ident)+);)*) => {
        /// The public method of a row.
        fn call(row: Row, x: &[&Tensor]) -> Result<Tensor> {
            match row {
                $(Row::$Name => one!($Name $try_method x ($($arg)+)),)*
            }
        }
    };
}
mg_kernels::for_each_row!(by_method);

/// Calls the row's method; what it answers with is compared with the others.
#[track_caller]
fn expect(all: &mut Together, row: Row, what: &str, x: &[&Pair]) {
    let dtypes: Vec<DType> = x.iter().map(|p| p.a.dtype).collect();
    let what = format!("{} of {dtypes:?}, {what}", row.name());
    let Some((meant, dtype)) = meant(row, &dtypes) else {
        let refused = call(row, &x.iter().map(|p| &p.t).collect::<Vec<_>>()).expect_err(&what);
        assert!(matches!(refused.kind(), ErrorKind::DType(_)), "{what}: {refused}");
        return;
    };
    // Of integers it is a composition, which refuses zeros: tested by itself.
    if row == Row::Fmod && dtypes.iter().all(|d| !d.is_float()) {
        return;
    }
    let expected = evaluate(meant, &x.iter().map(|p| &p.a).collect::<Vec<_>>(), dtype);
    let called = |x: &[&Tensor]| call(row, x).unwrap_or_else(|e| panic!("{what}: {e}"));
    let got = called(&x.iter().map(|p| &p.t).collect::<Vec<_>>());
    let twins: Option<Vec<&Tensor>> = x.iter().map(|p| p.twin.as_ref()).collect();
    let twin = twins.map(|twins| called(&twins));
    let tolerance = tolerance(meant, expected.dtype);
    all.add(what, got, twin, expected, tolerance);
}

/// Calls the row's method, and compares what a program of it alone gives.
#[track_caller]
fn check(row: Row, what: &str, x: &[&Pair]) {
    let mut alone = Together::default();
    expect(&mut alone, row, what, x);
    alone.compare();
}

/// All rows that take operands of a dtype.
fn rows_of(dtype: DType, arity: usize) -> impl Iterator<Item = Row> {
    Row::ALL.iter().copied().filter(move |&row| row.arity() == arity && dtypes(row).any(|d| d == dtype))
}

/// The dtypes that operands are given in; some rows are called by the engine alone, and do not promote.
fn dtypes(row: Row) -> impl Iterator<Item = DType> {
    let engine = matches!(row, Row::Gate | Row::GeluSlope | Row::IntPow);
    let takes = move |d: DType| (!engine || row.operand(d) == d) && (!d.is_narrow() || row.takes_narrow());
    DType::ALL.into_iter().filter(move |&d| takes(d))
}

fn conditions(rng: &mut Rng) -> Vec<Pair> {
    layouts(rng, DType::Bool, Rng::cell).into_iter().map(|(_, p)| p).collect()
}

fn every_layout_of(dtype: DType) {
    let mut rng = Rng(1);
    let mut all = Together::default();
    let a = layouts(&mut rng, dtype, Rng::cell);
    let b = layouts(&mut rng, dtype, Rng::cell);
    for (i, (name, p)) in a.iter().enumerate() {
        rows_of(dtype, 1).for_each(|row| expect(&mut all, row, name, &[p]));
        all.compare();
        let c = conditions(&mut rng);
        for (j, (other, q)) in b.iter().enumerate() {
            let what = format!("{name} and {other}");
            rows_of(dtype, 2).for_each(|row| expect(&mut all, row, &what, &[p, q]));
            all.compare();
            check(Row::Where, &what, &[&c[(i + j) % c.len()], p, q]);
        }
    }
}

/// A test a dtype: they are the longest on a GPU, where tests of one process wait for each other.
macro_rules! every_row_takes_every_layout_of {
    (() $($Name:ident $name:ident $Type:tt $names:tt $category:ident $signed:literal $exponent:literal $legacy:literal $code:literal
        $dlpack:literal $onnx:literal $doc:literal;)*) => {
        mod every_row_takes_every_layout_of {
            $(#[test]
            fn $name() {
                super::every_layout_of(super::DType::$Name);
            })*
        }
    };
}
mg_device::for_each_dtype!([every_row_takes_every_layout_of]);

#[test]
fn every_row_takes_odd_shapes() {
    let mut rng = Rng(2);
    let mut all = Together::default();
    for dtype in DType::ALL {
        let a = odd_shapes(&mut rng, dtype, Rng::cell);
        let b = odd_shapes(&mut rng, dtype, Rng::cell);
        let c = odd_shapes(&mut rng, DType::Bool, Rng::cell);
        for (((name, a), (_, b)), (_, c)) in a.iter().zip(&b).zip(&c) {
            rows_of(dtype, 1).for_each(|row| expect(&mut all, row, name, &[a]));
            rows_of(dtype, 2).for_each(|row| expect(&mut all, row, name, &[a, b]));
            rows_of(dtype, 3).for_each(|row| expect(&mut all, row, name, &[c, a, b]));
            all.compare();
        }
    }
}

#[test]
fn operands_broadcast() {
    let mut rng = Rng(3);
    let shapes: [(&[usize], &[usize]); 9] = [
        (&[3, 4, 5], &[5]),
        (&[3, 4, 5], &[4, 1]),
        (&[3, 4, 5], &[]),
        (&[1, 3], &[2, 1]),
        (&[1, 2], &[2, 2, 1]),
        (&[3], &[2, 3]),
        (&[3, 1, 5], &[1, 4, 1]),
        (&[0, 3], &[1, 3]),
        (&[1], &[2, 0]),
    ];
    let mut all = Together::default();
    for dtype in DType::ALL {
        for (a, b) in shapes {
            for (a, b) in [(a, b), (b, a)] {
                let x = array(&mut rng, a, dtype, Rng::cell).pair();
                let y = array(&mut rng, b, dtype, Rng::cell).pair();
                let what = format!("shapes {a:?} and {b:?}");
                rows_of(dtype, 2).for_each(|row| expect(&mut all, row, &what, &[&x, &y]));
                for c in [a, b] {
                    let c = array(&mut rng, c, DType::Bool, Rng::cell).pair();
                    expect(&mut all, Row::Where, &what, &[&c, &x, &y]);
                }
                all.compare();
            }
        }
    }
}

#[test]
fn unlike_dtypes_are_promoted() {
    let mut rng = Rng(4);
    let mut all = Together::default();
    for a in DType::computed() {
        for b in DType::computed() {
            let x = array(&mut rng, &[4, 9], a, Rng::cell).pair();
            let y = array(&mut rng, &[9], b, Rng::cell).pair();
            let c = array(&mut rng, &[4, 9], DType::Bool, Rng::cell).pair();
            for &row in Row::ALL.iter().filter(|r| !matches!(r, Row::Gate | Row::IntPow)) {
                match row.arity() {
                    2 => expect(&mut all, row, "promoted", &[&x, &y]),
                    3 => expect(&mut all, row, "promoted", &[&c, &x, &y]),
                    _ => {}
                }
            }
            all.compare();
        }
    }
}

#[test]
fn exceptional_numbers_meet_each_other() {
    for &row in Row::ALL.iter().filter(|r| r.class() != RowClass::Integer) {
        for dtype in FLOATS {
            let v: Vec<Cell> = special(dtype).into_iter().map(Cell::F).collect();
            let column = Array::new(&[v.len(), 1], dtype, v.clone()).pair();
            let line = Array::new(&[v.len()], dtype, v.clone()).pair();
            let condition = Array::new(&[2, 1, 1], DType::Bool, vec![Cell::B(true), Cell::B(false)]).pair();
            match row.arity() {
                1 => check(row, "exceptional", &[&line]),
                2 => check(row, "exceptional", &[&column, &line]),
                _ => check(row, "exceptional", &[&condition, &column, &line]),
            }
        }
    }
}

/// Random bit patterns reach every exponent, denormals, infinities and NaN.
#[test]
fn floats_of_every_magnitude() {
    let mut rng = Rng(5);
    let any = |rng: &mut Rng, dtype: DType| {
        let bits = rng.next();
        Cell::F(match dtype {
            DType::F64 => f64::from_bits(bits),
            DType::F32 => f32::from_bits(bits as u32) as f64,
            DType::F16 => mg_device::f16::from_bits(bits as u16).to_f64(),
            _ => mg_device::bf16::from_bits(bits as u16).to_f64(),
        })
    };
    // Where elementary functions do something.
    let near = |rng: &mut Rng, dtype: DType| {
        let v = f64::powi(2.0, rng.below(20) as i32 - 10) * rng.uniform(-1.0, 1.0);
        Cell::F(v).cast(dtype)
    };
    for &row in Row::ALL.iter().filter(|r| r.arity() < 3 && r.class() != RowClass::Integer) {
        for dtype in FLOATS {
            let n = 20_000;
            for draw in [any as Draw, near as Draw] {
                let x = array(&mut rng, &[n], dtype, draw).pair();
                let y = array(&mut rng, &[n], dtype, draw).pair();
                if row.arity() == 1 { check(row, "any", &[&x]) } else { check(row, "any", &[&x, &y]) }
            }
        }
    }
}

/// Rows of numbers that take every float; half types have no neighbours of their own.
fn in_every_float(row: Row) -> bool {
    matches!(row.class(), RowClass::Float | RowClass::Numeric) && row != Row::NextAfter
}

/// The result of a half type is that of f32, rounded once.
#[test]
fn half_types_compute_in_f32() {
    let mut rng = Rng(6);
    for &row in Row::ALL.iter().filter(|r| in_every_float(**r)) {
        for dtype in [DType::F16, DType::BF16] {
            let x: Vec<Tensor> =
                (0..row.arity()).map(|_| array(&mut rng, &[5000], dtype, Rng::cell).tensor()).collect();
            let wide: Vec<Tensor> = x.iter().map(|t| t.to_dtype(DType::F32)).collect();
            let half = call(row, &x.iter().collect::<Vec<_>>()).unwrap();
            let single = call(row, &wide.iter().collect::<Vec<_>>()).unwrap();
            let rounded = Array::of(&single).cast(dtype);
            assert_ulps(&format!("{} of {dtype}", row.name()), &half, &rounded, 0);
        }
    }
}

/// Zeros keep their sign where IEEE arithmetic keeps it.
#[test]
fn zeros_have_signs() {
    for dtype in FLOATS {
        let t = |v: f64| Array::new(&[1], dtype, vec![Cell::F(v)]).tensor();
        let negative = |t: Tensor| t.to_f64_vec().unwrap()[0].is_sign_negative();
        assert!(negative(t(0.0).neg()) && !negative(t(-0.0).neg()), "neg, {dtype}");
        assert!(negative(&t(-0.0) + &t(-0.0)) && !negative(&t(-0.0) + &t(0.0)), "add, {dtype}");
        assert!(negative(&t(0.0) * -1.0) && !negative(&t(-0.0) * -1.0), "mul, {dtype}");
        assert!(negative(&t(-1.0) / f64::INFINITY), "div, {dtype}");
        assert!(negative(t(-0.0).sqrt()) && !negative(t(-0.0).abs()), "sqrt, abs, {dtype}");
        assert!(!negative(&t(-0.0) + 0.0), "a literal zero is not neutral for −0, {dtype}");
    }
}

#[test]
fn integers_wrap_and_divide_truncating() {
    let mut rng = Rng(7);
    for dtype in DType::ALL.into_iter().filter(|d| d.is_int()) {
        let a = array(&mut rng, &[500], dtype, Rng::cell).pair();
        let mut b = array(&mut rng, &[500], dtype, Rng::cell);
        b.data.iter_mut().filter(|c| c.i() == 0).for_each(|c| *c = Cell::I(3));
        let b = b.pair();
        let got = Tensor::from_node(Node::map(Row::Div, &[&a.t.node(), &b.t.node()]).unwrap());
        assert_ulps("div", &got, &evaluate(Row::Div, &[&a.a, &b.a], dtype), 0);
    }
}

#[test]
fn an_integer_divided_by_zero_is_an_error() {
    for dtype in DType::ALL.into_iter().filter(|d| d.is_int()) {
        let a = Array::new(&[3], dtype, vec![Cell::I(1), Cell::I(2), Cell::I(3)]).tensor();
        let b = Array::new(&[3], dtype, vec![Cell::I(1), Cell::I(0), Cell::I(3)]).tensor();
        let q = Tensor::from_node(Node::map(Row::Div, &[&a.node(), &b.node()]).unwrap());
        let error = q.to_f64_vec().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Value(_)), "{error}");
        assert!(error.to_string().contains("zero"), "{error}");
        // True division is another matter.
        assert_eq!((&a / &b).to_f64_vec().unwrap()[1], f64::INFINITY);
    }
}

#[test]
fn every_dtype_converts_to_every_other() {
    let mut rng = Rng(8);
    let mut all = Together::default();
    for from in DType::ALL {
        for (name, p) in layouts(&mut rng, from, Rng::cell) {
            for to in DType::ALL {
                let twin = p.twin.as_ref().map(|t| t.to_dtype(to));
                let what = format!("{from} to {to}, {name}");
                all.add(what, p.t.to_dtype(to), twin, p.a.cast(to), 0);
            }
            all.compare();
        }
        for to in DType::ALL {
            let mut cells: Vec<Cell> = match from {
                d if d.is_float() => special(d).into_iter().map(Cell::F).collect(),
                DType::Bool => vec![Cell::B(false), Cell::B(true)],
                _ => [
                    0,
                    1,
                    -1,
                    255,
                    256,
                    257,
                    -255,
                    65_535,
                    65_537,
                    16_777_217,
                    -16_777_219,
                    i64::MAX.into(),
                    i64::MIN.into(),
                    u64::MAX.into(),
                    1 << 53,
                ]
                .into_iter()
                .map(Cell::I)
                .collect(),
            };
            // Just above the middle of two neighbours of a half type: two roundings go wrong here.
            cells.push(Cell::F(1.0 + f64::powi(2.0, -11) + f64::powi(2.0, -40)));
            cells.push(Cell::F(1.0 + f64::powi(2.0, -8) + f64::powi(2.0, -40)));
            cells.extend([1e10, -1e10, 255.5, -0.5, 300.0, 3e38].map(Cell::F));
            if from.is_int() {
                cells.extend([(1 << 40) + 1, (1 << 33) + (1 << 25) + 1, 2049, 4097].map(Cell::I));
            }
            let a = Array::new(&[cells.len()], from, cells);
            assert_ulps(&format!("{from} to {to}"), &a.tensor().to_dtype(to), &a.cast(to), 0);
        }
    }
}

/// Around the middle of two neighbours at every magnitude, where each of two roundings may go its own way.
#[test]
fn integers_round_once() {
    let mut rng = Rng(12);
    let mut cells = vec![];
    for order in 0..63 {
        for bits in [8, 11, 24, 53] {
            let unit = 1i64 << (order as u32).saturating_sub(bits - 1);
            for _ in 0..8 {
                // A number of that many bits, or between two: exactly, by one off, by one place of f32 or f64 off.
                let random = ((rng.below(1 << 31) << 32) | rng.below(1 << 31)) as i64;
                let whole = (1i64 << order) | (random & ((1i64 << order) - unit));
                let middle = whole.saturating_add(unit / 2);
                let near = [0, 1, unit >> 17, unit >> 45, (unit >> 45) + 1];
                for v in near.into_iter().flat_map(|d| [middle.saturating_add(d), middle.saturating_sub(d)]) {
                    cells.extend([Cell::I(v.into()), Cell::I(v.wrapping_neg().into())]);
                }
            }
        }
    }
    cells.extend([i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1].map(|v| Cell::I(v.into())));
    let unsigned = Array::new(&[cells.len()], DType::U64, cells.clone());
    let a = Array::new(&[cells.len()], DType::I64, cells);
    for to in FLOATS {
        assert_ulps(&format!("u64 to {to}"), &unsigned.tensor().to_dtype(to), &unsigned.cast(to), 0);
        assert_ulps(&format!("i64 to {to}"), &a.tensor().to_dtype(to), &a.cast(to), 0);
        // Beside a tensor of that dtype, and read as a number.
        let zero = Tensor::zeros(&[], to).unwrap();
        for at in (0..a.numel()).step_by(37) {
            let v = a.data[at].i() as i64;
            let expected = a.data[at].cast(to).f();
            let sum = zero.try_add(v).unwrap().to_f64_vec().unwrap()[0];
            assert_eq!(sum, expected, "0 + {v} in {to}");
            let read = match to {
                DType::F64 => Tensor::scalar(v).item::<f64>().unwrap(),
                DType::F32 => Tensor::scalar(v).item::<f32>().unwrap() as f64,
                DType::F16 => Tensor::scalar(v).item::<f16>().unwrap().to_f64(),
                _ => Tensor::scalar(v).item::<bf16>().unwrap().to_f64(),
            };
            assert_eq!(read, expected, "{v} read as {to}");
        }
    }
}

/// What operations are fused with changes no bit of a result.
#[test]
fn fusion_changes_nothing() {
    let mut rng = Rng(9);
    let rows: Vec<Row> = Row::ALL.iter().copied().filter(|&r| in_every_float(r)).collect();
    for dtype in FLOATS {
        for _ in 0..60 {
            let leaves: Vec<Tensor> =
                (0..3).map(|_| array(&mut rng, &[7, 31], dtype, Rng::cell).tensor()).collect();
            let (mut fused, mut single) = (leaves.clone(), leaves);
            let mut names = vec![];
            for _ in 0..10 {
                let row = rows[rng.below(rows.len())];
                let x: Vec<usize> = (0..row.arity()).map(|_| rng.below(fused.len())).collect();
                names.push((row.name(), x.clone()));
                fused.push(call(row, &x.iter().map(|&i| &fused[i]).collect::<Vec<_>>()).unwrap());
                let step = call(row, &x.iter().map(|&i| &single[i]).collect::<Vec<_>>()).unwrap();
                step.realize().unwrap();
                single.push(step);
            }
            let last = fused.pop().unwrap();
            drop(fused);
            let expected = Array::of(single.last().unwrap());
            assert_ulps(&format!("{dtype} {names:?}"), &last, &expected, 0);
        }
    }
}

#[test]
fn the_host_reference_knows_every_row() {
    for &row in Row::ALL {
        let x = vec![Cell::I(1); row.arity()];
        let dtype = row.operand(DType::F32);
        let x: Vec<Cell> = x.into_iter().map(|c| c.cast(dtype)).collect();
        reference(row, dtype, &x);
        assert!(!row.doc().trim().is_empty(), "{}", row.name());
        assert!((1..=3).contains(&row.arity()));
    }
}

#[test]
fn numbers_beside_a_tensor_take_its_dtype() {
    for dtype in DType::computed() {
        let t = Array::new(&[2], dtype, vec![Cell::I(1), Cell::I(2)]).tensor();
        let with_float = (&t + 0.5).dtype();
        assert_eq!(with_float, if dtype.is_float() { dtype } else { DType::F32 }, "{dtype} + 0.5");
        let with_int = (&t + 1i64).dtype();
        assert_eq!(with_int, if dtype == DType::Bool { DType::I64 } else { dtype }, "{dtype} + 1");
        assert_eq!((&t / 2i64).dtype(), if dtype.is_float() { dtype } else { DType::F32 }, "{dtype} / 2");
        assert_eq!(t.lt(1i64).dtype(), DType::Bool);
    }
    let t = Tensor::from_slice(&[i64::MAX]);
    assert_eq!((&t + 1i64).to_vec::<i64>().unwrap(), [i64::MIN], "integers wrap");
    assert_eq!((&t - 1i64).to_vec::<i64>().unwrap(), [i64::MAX - 1], "no detour by f64");
}
