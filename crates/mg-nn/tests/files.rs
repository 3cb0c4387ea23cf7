//! Files of others: NumPy's `.npy` and `.npz`, PyTorch's `.pt`. Those in `files` were written by NumPy 2.3 and PyTorch 2.15.

mod directory;

use std::fs;
use std::path::{Path, PathBuf};

use directory::Dir;
use mg_autograd::Tensor;
use mg_device::{DType, ErrorKind};
use mg_nn::pt::Object;
use mg_nn::{Linear, Module, State, npz, pt};
use proptest::prelude::*;

fn theirs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn numbers(t: &Tensor) -> Vec<f64> {
    t.to_f64_vec().unwrap()
}

#[track_caller]
fn complains<T>(read: mg_device::Result<T>, text: &str) {
    let e = read.map(drop).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Format(_)) && e.to_string().contains(text), "{e}");
    assert!(e.to_string().contains("tests/files.rs"), "{e}");
}

#[test]
fn numpys_files_are_read() {
    let read = npz::loadz(theirs("n.npz")).unwrap();
    assert_eq!(read.keys().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert_eq!((read["a"].dtype(), numbers(&read["a"])), (DType::F32, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
    // Big-endian, column-major.
    assert_eq!((read["b"].dtype(), numbers(&read["b"])), (DType::I32, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
    assert_eq!((&read["b"].shape()[..], &read["d"].shape()[..]), (&[2, 3][..], &[0, 2][..]));
    assert!(read["c"].item::<bool>().unwrap());
    let read = npz::loadz(theirs("z.npz")).unwrap();
    assert_eq!((read["x"].numel(), numbers(&read["y"])), (100_000, vec![0.0, 1.0, 2.0]));
    let own = npz::load(theirs("a.npy")).unwrap().dtype();
    assert_eq!((own.size(), own.is_float(), own.is_signed()), (2, false, false));
    assert_eq!(read["y"].dtype(), DType::F16);
}

#[test]
fn every_dtype_goes_through_numpys_files() {
    let dir = Dir::new("npz");
    for dtype in DType::ALL {
        let t = Tensor::from_vec(vec![0.0f64, 1.0, 2.0, 1.0, 0.0, 1.0], &[2, 3]).unwrap().to_dtype(dtype);
        let turned = t.try_t().unwrap();
        for (name, t) in
            [("t", &t), ("turned", &turned), ("scalar", &t.select(0, 0).unwrap().select(0, 1).unwrap())]
        {
            let path = dir.0.join(format!("{name}-{dtype}.npy"));
            npz::save(&path, t).unwrap();
            let read = npz::load(&path).unwrap();
            let kept = if dtype.numpy_name().is_some() { dtype } else { DType::F32 };
            assert_eq!((read.dtype(), read.shape(), numbers(&read)), (kept, t.shape(), numbers(t)));
        }
        let (plain, small) = (dir.0.join("a.npz"), dir.0.join("b.npz"));
        npz::savez(&plain, [("t", &t), ("turned", &turned)]).unwrap();
        npz::savez_compressed(&small, [("t", &t), ("turned", &turned)]).unwrap();
        for path in [plain, small] {
            let read = npz::loadz(path).unwrap();
            assert_eq!((numbers(&read["t"]), numbers(&read["turned"])), (numbers(&t), numbers(&turned)));
        }
    }
    // What NumPy itself writes, byte by byte.
    let path = dir.0.join("line.npy");
    npz::save(&path, &Tensor::from_slice(&[1.0f32])).unwrap();
    let want = [
        &b"\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"[..],
        &[b' '; 60],
        &b"\n\0\0\x80\x3f"[..],
    ];
    assert_eq!(fs::read(&path).unwrap(), want.concat());
    let e =
        npz::savez(dir.0.join("c.npz"), [("t", &Tensor::arange(2)), ("t", &Tensor::arange(2))]).unwrap_err();
    assert!(e.to_string().contains("two tensors are called \"t\""), "{e}");
    assert!(!dir.names().iter().any(|name| name == "c.npz" || name.ends_with("tmp")));
}

#[test]
fn files_that_are_not_numpys_are_refused() {
    let dir = Dir::new("npy");
    let npy = |header: &str, data: usize| {
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len() + data, 0);
        dir.file("a.npy", &bytes)
    };
    let of =
        |descr: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}");
    for (header, data, text) in [
        (
            of("'<f4'", "(2, 2)"),
            15,
            "truncated: elements of shape [2, 2] and type \"<f4\" take 16 bytes, 15 are there",
        ),
        (of("'<f4'", "(2, 2)"), 17, "longer than its header says"),
        (of("'<f4'", "(4611686018427387904, 4)"), 8, "more bytes than there can be"),
        (of("'<f4'", "(-1,)"), 4, "\"\" is no size"),
        (of("'|O'", "(1,)"), 8, "elements of type \"|O\"; taken are"),
        (of("[('a', '<f4')]", "(1,)"), 4, "elements of several fields"),
        (of("'|b1'", "(1,)"), 4, "longer"),
        ("{'descr': '<f4'}".into(), 4, "it does not say \"fortran_order\""),
        ("{'descr': '<f4".into(), 4, "a text without an end"),
        ("__import__('os')".into(), 4, "'{' is missing"),
        (of("'<f4'", "(1,)") + " and", 4, "behind it"),
    ] {
        complains(npz::load(npy(&header, data)), text);
    }
    complains(npz::load(dir.file("b.npy", b"\x93NUMPY\x01\0\xff\xff")), "truncated in its header");
    complains(
        npz::load(dir.file("c.npy", b"\x93NUMPY\x02\0\xff\xff\xff\xff")),
        "a header of 4294967295 bytes",
    );
    complains(npz::load(theirs("n.npz")), "no .npy file");
    complains(npz::loadz(theirs("a.npy")), "no zip file");
    let e = npz::load(dir.0.join("none.npy")).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Io(_)), "{e}");
    let bool_of_two = [&fs::read(npy(&of("'|b1'", "(1,)"), 0)).unwrap()[..], &[2]].concat();
    complains(npz::load(dir.file("d.npy", &bool_of_two)), "a byte 2 is no truth value");
}

#[test]
fn pytorchs_states_are_read() {
    let state = State::load_pt(theirs("linear.pt")).unwrap();
    assert_eq!(state.metadata["epoch"], "7");
    assert_eq!(state.metadata["rates.1"], "0.01");
    let layer = Linear::new(3, 2).unwrap();
    layer.load_state(&state.part("model")).unwrap();
    assert_eq!(numbers(&layer.weight), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(numbers(layer.bias.as_ref().unwrap()), [-1.0, 0.5]);
    // By protocol 4.
    let state = State::load_pt(theirs("adam.pt")).unwrap();
    assert_eq!(state.metadata["optim.param_groups.0.lr"], "0.1");
    assert_eq!(numbers(&state.tensors["optim.state.1.step"]), [1.0]);
    assert_eq!(*state.tensors["optim.state.0.exp_avg"].shape(), [2, 3]);
}

/// What of a training is beside its model: generators' states, and NumPy's.
#[test]
fn whole_trainings_are_read() {
    let all = pt::load(theirs("training.pt")).unwrap();
    let Some(Object::Tuple(numpy)) = all.get("np") else { panic!("NumPy's state") };
    assert_eq!((numpy[0].as_str(), numpy[1].as_tensor().map(Tensor::numel)), (Some("MT19937"), Some(624)));
    assert_eq!(all.get("rng").and_then(Object::as_tensor).map(Tensor::dtype), Some(DType::U8));
    assert_eq!(all.get("buf").and_then(Object::as_tensor).map(numbers), Some(vec![1.0, 1.0]));
    let generator = all.get("gen").and_then(|g| g.get("state")).and_then(|s| s.get("inc"));
    // 128 bits and no sign.
    assert!(
        matches!(generator, Some(Object::Int(n)) if *n > 1 << 64)
            || matches!(generator, Some(Object::Made("int", _)))
    );
    assert!(
        matches!(all.get("names"), Some(Object::Made("numpy.ndarray", parts)) if parts[0].as_str() == Some("<U2"))
    );
}

#[test]
fn whatever_pytorch_keeps_is_read() {
    let all = pt::load(theirs("kinds.pt")).unwrap();
    let tensor = |key: &str| all.get(key).and_then(Object::as_tensor).unwrap_or_else(|| panic!("{key}"));
    for (key, dtype, shape, want) in [
        (
            "view",
            DType::F32,
            &[4, 3][..],
            &[0.0, 4.0, 8.0, 1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0][..],
        ),
        ("tail", DType::F32, &[4], &[8.0, 9.0, 10.0, 11.0]),
        ("row", DType::F32, &[3], &[0.0; 3]),
        ("half", DType::F16, &[2], &[1.5, -2.0]),
        ("bf16", DType::BF16, &[2], &[1.5, 3.0]),
        ("bool", DType::Bool, &[2], &[1.0, 0.0]),
        ("long", DType::I64, &[], &[-5.0]),
        ("empty", DType::F32, &[0, 3], &[]),
        ("u8", DType::U8, &[2], &[1.0, 255.0]),
        ("parameter", DType::F32, &[2], &[1.0, 1.0]),
        ("numpy", DType::F64, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ("fortran", DType::I64, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ("best", DType::F64, &[], &[0.75]),
    ] {
        let t = tensor(key);
        assert_eq!((t.dtype(), &t.shape()[..], &numbers(t)[..]), (dtype, shape, want), "{key}");
    }
    assert!(tensor("parameter").requires_grad() && tensor("parameter").is_leaf());
    // Tensors of one storage share it, and what was one is one.
    assert!(tensor("same").is(tensor("base")));
    tensor("base").narrow(0, 8, 1).unwrap().assign(77.0).unwrap();
    assert_eq!((numbers(tensor("tail"))[0], numbers(tensor("view"))[2]), (77.0, 77.0));
    let Some(Object::List(twice)) = all.get("twice") else { panic!("a list") };
    let (Object::List(a), Object::List(b)) = (&twice[0], &twice[1]) else { panic!("lists") };
    assert!(std::sync::Arc::ptr_eq(a, b) && a[1].as_i64() == Some(2));

    assert!(matches!(all.get("big"), Some(Object::Int(n)) if *n == 1 << 100));
    assert!(matches!(all.get("none"), Some(Object::None)));
    assert!(matches!(all.get("bytes"), Some(Object::Bytes(b)) if **b == [0, 255]));
    assert!(matches!(all.get("set"), Some(Object::Set(s)) if s.len() == 2));
    assert!(matches!(all.get("dtype"), Some(Object::DType(DType::F64))));
    assert!(matches!(all.get("size"), Some(Object::Tuple(s)) if s[1].as_i64() == Some(3)));
    assert!(matches!(all.get("date"), Some(Object::Made("datetime.date", _))));
    assert!(
        matches!(all.get("device"), Some(Object::Made("torch.device", kind)) if kind[0].as_str() == Some("cpu"))
    );
    assert!(
        matches!(all.get("complex"), Some(Object::Made("complex", parts)) if parts[1].as_f64() == Some(2.0))
    );
    assert_eq!(all.get("count").and_then(|c| c.get("a")).and_then(Object::as_i64), Some(2));
    assert_eq!(all.get("text").and_then(Object::as_str), Some("ünï"));
    // A state has the tensors under their names.
    let state = State::load_pt(theirs("kinds.pt")).unwrap();
    assert_eq!((state.tensors.len(), state.metadata["default.k.0"].as_str()), (15, "1"));
}

/// A file of PyTorch's with this pickle and one storage, `0`, of four f32.
fn with_pickle(dir: &Dir, pickle: &[u8]) -> PathBuf {
    archive(dir, &[("a/data.pkl".into(), pickle.to_vec()), ("a/data/0".into(), vec![0; 16])])
}

/// A zip archive of these files, stored.
fn archive(dir: &Dir, files: &[(String, Vec<u8>)]) -> PathBuf {
    let (mut bytes, mut directory) = (vec![], vec![]);
    for (name, contents) in files {
        let common = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..],
            &crc(contents).to_le_bytes(),
            &(contents.len() as u32).to_le_bytes(),
            &(contents.len() as u32).to_le_bytes(),
            &(name.len() as u16).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        let at = (bytes.len() as u32).to_le_bytes();
        directory.extend([&b"PK\x01\x02\x14\0"[..], &common, &[0; 10], &at, name.as_bytes()].concat());
        bytes.extend([&b"PK\x03\x04"[..], &common, name.as_bytes(), contents].concat());
    }
    let count = (files.len() as u16).to_le_bytes();
    let end = [
        &b"PK\x05\x06\0\0\0\0"[..],
        &count,
        &count,
        &(directory.len() as u32).to_le_bytes(),
        &(bytes.len() as u32).to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    dir.file("a.pt", &[bytes, directory, end].concat())
}

/// The files in an archive, which are stored.
fn stored(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let number =
        |at: usize, n: usize| bytes[at..at + n].iter().rev().fold(0, |all, &b| all << 8 | usize::from(b));
    let entries = (0..bytes.len() - 4).filter(|&at| bytes[at..].starts_with(b"PK\x01\x02"));
    let file = |at: usize| {
        let (size, header, name) = (number(at + 24, 4), number(at + 42, 4), number(at + 28, 2));
        let start = header + 30 + number(header + 26, 2) + number(header + 28, 2);
        let name = String::from_utf8(bytes[at + 46..at + 46 + name].to_vec()).unwrap();
        (name, bytes[start..start + size].to_vec())
    };
    entries.map(file).collect()
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[test]
fn pickles_that_are_none_of_pytorchs_are_refused() {
    let dir = Dir::new("pickles");
    let refused = |pickle: &[u8], text: &str| complains(pt::load(with_pickle(&dir, pickle)), text);
    assert!(matches!(pt::load(with_pickle(&dir, b"\x80\x02K\x07.")).unwrap(), Object::Int(7)));
    refused(
        b"cos\nsystem\n(Vls\ntR.",
        "a.pt: it names os.system. Only tensors and plain containers are read",
    );
    refused(b"ctorch.nn.modules.linear\nLinear\n)\x81.", "it names torch.nn.modules.linear.Linear");
    refused(b"c__builtin__\neval\n(V1\ntR.", "it names builtins.eval");
    refused(b"", "truncated");
    refused(b"K", "truncated");
    refused(b"X\xff\xff\xff\x7fab.", "truncated");
    refused(b"\x8e\xff\xff\xff\xff\xff\xff\xff\xffab.", "truncated");
    refused(b".", "it takes more than it made");
    refused(b"(0.", "it takes more than it made");
    refused(b"K\x01(.", "it takes more than it made");
    refused(b"h\x05.", "it remembers nothing as 5");
    refused(b"K\x01K\x02s.", "it takes more than it made");
    refused(b"K\x01K\x02K\x03s.", "no dictionary");
    refused(b"]q\x00h\x00a.", "contains itself");
    refused(
        &[&b"]"[..].repeat(1000), &b"a"[..].repeat(999), &b"."[..]].concat(),
        "nested more than 200 deep",
    );
    refused(&[&b")"[..], &b"\x85"[..].repeat(1_000_000), &b"."[..]].concat(), "nested more than 200 deep");
    let long = pt::load(with_pickle(&dir, b"\x8a\x1100000000000000000.")).unwrap();
    assert!(
        matches!(long, Object::Made("int", bytes) if matches!(&bytes[0], Object::Bytes(b) if **b == [b'0'; 17]))
    );
    refused(b"cbuiltins\nlist\n.", "it holds a class or a function");
    refused(b"\x82\x01.", "the opcode 0x82 is none that is taken");
    // What is remembered is handed over again and again.
    let bytes = [
        &b"cbuiltins\nbytes\nq\x00(B\xe8\x03\x00\x00"[..],
        &[0; 1000],
        b"tq\x01",
        &b"h\x00h\x01R"[..].repeat(9),
        b".",
    ];
    refused(&bytes.concat(), "its pickle makes more of its bytes than it has");

    let tensor = |offset: &str, sizes: &str, strides: &str, count: &str, key: &str| {
        let storage = format!("(Vstorage\nctorch\nFloatStorage\nV{key}\nVcpu\nI{count}\ntQ");
        format!("ctorch._utils\n_rebuild_tensor_v2\n({storage}I{offset}\n({sizes}t({strides}tI00\nN(dtR.")
    };
    let load = |text: String| pt::load(with_pickle(&dir, text.as_bytes()));
    let t = load(tensor("1", "I3\n", "I1\n", "4", "0")).unwrap();
    assert_eq!(numbers(t.as_tensor().unwrap()), [0.0; 3]);
    for (text, complaint) in [
        (
            tensor("2", "I3\n", "I1\n", "4", "0"),
            "a tensor of sizes [3] and strides [1] from element 2 on, of 4",
        ),
        (tensor("0", "I2\nI2\n", "I2\n", "4", "0"), "a tensor of sizes [2, 2] and strides [2]"),
        (tensor("0", "I9223372036854775807\n", "I9223372036854775807\n", "4", "0"), "a tensor of sizes"),
        (tensor("0", "I-1\n", "I1\n", "4", "0"), "a tensor that is none"),
        (tensor("0", "I3\n", "I1\n", "5", "0"), "storage 0 has 16 bytes; it is to have 5 elements of f32"),
        (tensor("0", "I3\n", "I1\n", "4", "1"), "a/data/1 is missing"),
        (tensor("0", "I3\n", "I1\n", "4", "../0"), "its pickle names what is no storage"),
    ] {
        complains(load(text), complaint);
    }
    complains(pt::load(dir.file("old.pt", b"\x80\x02\x8a\x0al\xfc\x9c")), "since version 1.6");
    complains(pt::load(theirs("n.npz")), "a zip file that PyTorch has not written");
    let e = State::load_pt(with_pickle(&dir, b"K\x07.")).map(drop).unwrap_err();
    assert!(
        matches!(e.kind(), ErrorKind::Value(_)) && e.to_string().contains("it holds no dictionary"),
        "{e}"
    );
    // 2⁶⁰ names for one number.
    let laughs = [&b"}Va\nK\x01s"[..], &b"q\x000}(Va\nh\x00Vb\nh\x00u"[..].repeat(60), b"."].concat();
    let laughs = with_pickle(&dir, &laughs);
    assert!(pt::load(&laughs).is_ok());
    let e = State::load_pt(laughs).map(drop).unwrap_err();
    assert!(e.to_string().contains("names and texts of its values take more than"), "{e}");
}

/// Computes every tensor that so many steps reach. One that is spread may be of any size, and is left.
fn look(object: &Object, left: &mut usize) {
    *left = left.saturating_sub(1);
    match object {
        _ if *left == 0 => {}
        Object::Tensor(t) if t.numel() < 1 << 20 => assert_eq!(numbers(&t.copy()).len(), t.numel()),
        Object::List(items) | Object::Tuple(items) | Object::Set(items) | Object::Made(_, items) => {
            items.iter().for_each(|item| look(item, left));
        }
        Object::Dict(pairs) => pairs.iter().for_each(|(key, value)| {
            look(key, left);
            look(value, left);
        }),
        Object::Tensor(_)
        | Object::None
        | Object::Bool(_)
        | Object::Int(_)
        | Object::Float(_)
        | Object::Text(_)
        | Object::Bytes(_)
        | Object::DType(_) => {}
    }
}

proptest! {

    #[test]
    fn changed_and_cut_files_never_panic(at in 0usize..5000, by in 1u8.., cut: bool) {
        let dir = Dir::new("changed");
        for name in ["kinds.pt", "linear.pt", "n.npz", "z.npz", "a.npy"] {
            let mut bytes = fs::read(theirs(name)).unwrap();
            let at = at % bytes.len();
            if cut { bytes.truncate(at) } else { bytes[at] = bytes[at].wrapping_add(by) }
            let path = dir.file(name, &bytes);
            let _ = (pt::load(&path).is_ok(), npz::loadz(&path).is_ok(), npz::load(&path).is_ok());
        }
    }

    /// The sums are right, so that what is changed is reached.
    #[test]
    fn changed_pickles_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..6),
        which in 0usize..4,
    ) {
        let dir = Dir::new(&format!("pickle-{:?}", std::thread::current().id()));
        let name = ["kinds.pt", "linear.pt", "adam.pt", "training.pt"][which];
        let mut files = stored(&fs::read(theirs(name)).unwrap());
        let (_, pickle) = files.iter_mut().find(|(name, _)| name.ends_with("data.pkl")).unwrap();
        for (at, by, how) in changes {
            let at = at.index(pickle.len());
            match how {
                0 => pickle[at] = by,
                1 => pickle.insert(at, by),
                2 => drop(pickle.remove(at)),
                _ => pickle.extend_from_within(at..(at + usize::from(by)).min(pickle.len())),
            }
        }
        let path = archive(&dir, &files);
        let _ = State::load_pt(&path);
        if let Ok(object) = pt::load(&path) {
            look(&object, &mut 1000);
        }
    }

    #[test]
    fn random_pickles_never_panic(pickle in prop::collection::vec(prop::sample::select(
        b"\x80(012NIJKMLFGVX]})altds\x85\x86ecR\x81bQhqr\x94.\x01\x02\x00\n0".to_vec()
    ), 0..60), text: bool) {
        let dir = Dir::new("random");
        let start: &[u8] = if text { b"ccollections\nOrderedDict\nq\x00)R(X\x01\x00\x00\x00a]" } else { b"" };
        let _ = pt::load(with_pickle(&dir, &[start, &pickle].concat()));
    }
}
