//! Names: what Python has of the declared operations, Rust has under the same name.
//!
//! Read from the sources: a new operation cannot forget it.

mod common;

use common::f32s;
use mg_autograd::Tensor;
use mg_autograd::surface::{Place, operations};
use mg_device::DType;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What Rust calls otherwise, and why.
const OTHERWISE: &[(&str, &str, &str)] = &[
    ("where", "where_", "a word of the language"),
    ("clone", "copy", "Rust's `clone` is another handle on the same tensor"),
    ("_histogramdd", "histogramdd", "a part of Python's `histogramdd`"),
];

/// Names that PyTorch has in two rooms with different meanings: Rust has one room, and the second of them another name. What they are in a room is
/// found under the name itself, too.
const TWICE: &[(&str, Place, &str)] = &[
    ("cross", Place::Linalg, "cross_along"),
    ("diagonal", Place::Linalg, "matrix_diagonal"),
    ("norm", Place::Linalg, "vector_or_matrix_norm"),
    ("vander", Place::Linalg, "powers"),
    ("unfold", Place::Nn, "columns"),
    ("lu_solve", Place::Method, "lu_solve_of"),
    ("lu", Place::Method, "lu_packed"),
    ("qr", Place::Method, "qr_some"),
    ("svd", Place::Method, "svd_some"),
];

/// What the Python package does not take from the table: these have their arguments in Rust in other words than Python's.
const BY_HAND: &[&str] = &[
    "zeros",
    "ones",
    "full",
    "empty",
    "arange",
    "linspace",
    "eye",
    "rand",
    "randn",
    "zeros_like",
    "ones_like",
    "full_like",
    "empty_like",
    "rand_like",
    "randn_like",
    "T",
    "mT",
    "detach",
    "requires_grad_",
    "contiguous",
    "is_contiguous",
    "item",
    "add",
    "sub",
    "pow",
    "fmod",
    "where_",
    "manual_seed",
    "broadcast_shapes",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|end| end == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The word that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The names of what is public in the sources of tensors; of a declaration's other names the macro makes methods, too.
fn public_names() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![];
    sources(&root.join("src"), &mut files);
    let mut names = BTreeSet::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let text = text.split("#[cfg(test)]\nmod").next().unwrap();
        for before in ["pub fn r#", "pub fn ", "plain = \"", "alias = \""] {
            names.extend(
                text.match_indices(before).map(|(at, _)| word(&text[at + before.len()..]).to_string()),
            );
        }
        // Pools, whose Rust methods say by their names what they answer with, are made by macros.
        for block in ["\nplain! {", "\nnamed! {"] {
            let listed = text.split(block).skip(1).filter_map(|rest| rest.split("\n}").next());
            names.extend(listed.flat_map(|listed| listed.split_whitespace()).map(str::to_string));
        }
    }
    // Rows: `Name "name" method try_method …`, and `Name method(…): others;`.
    let table = fs::read_to_string(root.join("../mg-kernels/src/rows.rs")).unwrap();
    names.extend(table.match_indices(" try_").map(|(at, _)| {
        let before = &table[..at];
        before.rsplit(' ').next().unwrap().to_string()
    }));
    let rows = fs::read_to_string(root.join("src/ops/rows.rs")).unwrap();
    let others = rows.split("\nalso_called! {").nth(1).unwrap().split("\n}").next().unwrap();
    let others = others.lines().filter_map(|line| line.split_once(": "));
    names.extend(others.flat_map(|(_, names)| names.trim_end_matches(';').split(' ')).map(str::to_string));
    names
}

#[test]
fn what_python_has_rust_has_by_the_same_name() {
    let names = public_names();
    assert!(names.len() > 600, "{} names were found", names.len());
    let otherwise: BTreeMap<&str, &str> = OTHERWISE.iter().map(|&(python, rust, _)| (python, rust)).collect();
    let mut missing = BTreeSet::new();
    for operation in operations().filter(|o| !o.places.is_empty() || o.in_place) {
        for &name in operation.aliases.iter().chain([&operation.name]) {
            // What is in place alone has its twin alone.
            let is_there = match otherwise.get(name) {
                Some(rust) => names.contains(*rust),
                None => names.contains(name) || operation.places.is_empty(),
            };
            if !is_there {
                missing.insert(name);
            }
        }
    }
    missing.extend(BY_HAND.iter().filter(|name| !names.contains(**name)));
    missing.extend(
        TWICE
            .iter()
            .filter(|(name, _, other)| !names.contains(*name) || !names.contains(*other))
            .map(|t| t.0),
    );
    assert!(missing.is_empty(), "PyTorch's names that Rust has no function of: {missing:?}");
    let stale: Vec<&str> = OTHERWISE.iter().map(|o| o.0).filter(|name| names.contains(*name)).collect();
    assert!(stale.is_empty(), "these are there by their own names: {stale:?}");
    for (name, place, _) in TWICE {
        let rooms = operations().filter(|o| o.name == *name);
        let rooms: Vec<bool> = rooms.map(|o| o.places.contains(place)).collect();
        assert!(rooms.len() > 1 && rooms.contains(&true), "{name} is not there twice");
    }
}

#[test]
fn other_names_mean_the_same() {
    let x = f32s(&[4], &[-1.5, 0.0, 2.0, 0.25]);
    let y = f32s(&[4], &[2.0, 4.0, -8.0, 0.5]);
    let same = |a: Tensor, b: Tensor| assert_eq!(a.to_f64_vec().unwrap(), b.to_f64_vec().unwrap());
    same(x.absolute(), x.abs());
    same(x.negative(), x.neg());
    same(x.sgn(), x.sign());
    same(x.fix(), x.trunc());
    same(x.true_divide(&y), x.div(&y));
    same(x.divide(2.0), x.div(2.0));
    same(x.subtract(&y), x.sub(&y));
    same(x.multiply(&y), x.mul(&y));
    same(x.less(&y), x.lt(&y));
    same(x.not_equal(0.0), x.ne(0.0));
    same(x.greater(&y), x.gt(&y));
    same(x.arctan2(&y), x.atan2(&y));
    same(x.vdot(&y), x.dot(&y));
    same(x.ger(&y), x.outer(&y));
    same(x.clip(Some((-1.0).into()), Some(1.0.into())), x.clamp(Some((-1.0).into()), Some(1.0.into())));
    same(Tensor::row_stack(&[&x, &y]).unwrap(), Tensor::vstack(&[&x, &y]).unwrap());
    same(Tensor::concat(&[&x, &y], 0).unwrap(), Tensor::cat(&[&x, &y], 0).unwrap());
    let error = x.try_true_divide(f32s(&[3], &[1.0, 2.0, 3.0])).unwrap_err().to_string();
    assert!(error.contains("div: ") && error.contains("names.rs"), "{error}");
}

#[test]
fn rows_have_twins_in_place() {
    let x = f32s(&[3], &[-1.5, 0.25, 4.0]);
    let seen = x.slice(0, Some(1), None, 1).unwrap();
    x.abs_();
    x.sqrt_();
    assert_eq!(seen.to_f64_vec().unwrap(), [0.5, 2.0]);
    x.add_(&x);
    x.true_divide_(0.5);
    assert_eq!(seen.to_f64_vec().unwrap(), [2.0, 8.0]);
    // What is written shares its memory with what is read.
    let square = f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    square.sub_(square.t());
    assert_eq!(square.to_f64_vec().unwrap(), [0.0, -1.0, 1.0, 0.0]);
    // Gradients are those of what was computed.
    let leaf = f32s(&[2], &[0.5, 1.0]).requires_grad_(true).unwrap();
    let z = &leaf * 1.0;
    z.exp_();
    z.multiply_(3.0);
    z.sum().backward().unwrap();
    let want = [3.0 * 0.5f64.exp(), 3.0 * 1f64.exp()];
    common::assert_close("the gradient", &leaf.grad().unwrap(), &want, 1e-6, 0.0);
    // What does not fit is refused, under the operation's name, and nothing is written.
    let whole = Tensor::arange(2);
    let error = whole.try_exp_().unwrap_err().to_string();
    assert!(error.contains("exp: "), "{error}");
    assert!(whole.try_mul_(f32s(&[3], &[1.0, 2.0, 3.0])).is_err());
    assert_eq!(whole.to_vec::<i64>().unwrap(), [0, 1]);
}

#[test]
fn transposes_views_and_memory() {
    let x = f32s(&[1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(x.T().unwrap().shape(), [3, 2, 1]);
    assert_eq!(x.mT().unwrap().to_f64_vec().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    x.mT().unwrap().select(1, 0).unwrap().assign(0.0).unwrap();
    assert_eq!(x.to_f64_vec().unwrap(), [0.0, 2.0, 3.0, 0.0, 5.0, 6.0]);
    assert!(Tensor::arange(3).mT().unwrap_err().to_string().contains("mT: "));
    assert_eq!(Tensor::scalar(2.0f32).mT().unwrap().rank(), 0);
    assert_eq!(x.view(&[3, -1]).unwrap().shape(), [3, 2]);
    assert!(x.mT().unwrap().view(&[-1]).unwrap_err().to_string().contains("view: "));
    assert_eq!(Tensor::empty(&[2, 2], DType::I32).unwrap().to_vec::<i32>().unwrap(), [0; 4]);
    let like = x.empty_like();
    assert_eq!((like.shape(), like.dtype()), (x.shape(), x.dtype()));
}

#[test]
fn pools_say_by_their_names_what_they_answer_with() {
    let numbers: Vec<f32> = (0..16).map(|i| ((i * 7) % 16) as f32).collect();
    let x = f32s(&[1, 1, 4, 4], &numbers);
    let largest = x.adaptive_max_pool2d(&[Some(2), Some(2)]);
    let (again, places) = x.adaptive_max_pool2d_with_indices(&[Some(2), Some(2)]);
    assert_eq!(largest.to_f64_vec().unwrap(), again.to_f64_vec().unwrap());
    let at: Vec<f64> =
        places.to_vec::<i64>().unwrap().iter().map(|&at| f64::from(numbers[at as usize])).collect();
    assert_eq!(largest.to_f64_vec().unwrap(), at);
    let halves = Tensor::full(&[1, 1, 2], 0.5, DType::F32).unwrap();
    let fractional = x.fractional_max_pool2d(&[2, 2], Some(&[2, 2]), None, Some(&halves));
    let (again, _) = x.fractional_max_pool2d_with_indices(&[2, 2], Some(&[2, 2]), None, Some(&halves));
    assert_eq!(fractional.to_f64_vec().unwrap(), again.to_f64_vec().unwrap());
    assert!(x.try_adaptive_max_pool3d(&[Some(2), Some(2), Some(2)]).is_ok(), "without a batch");
    assert!(
        x.try_adaptive_max_pool2d_with_indices(&[Some(2); 3])
            .unwrap_err()
            .to_string()
            .contains("adaptive_max_pool2d")
    );
}
