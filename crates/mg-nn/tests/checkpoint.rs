//! Checkpoints: what is saved comes back, what is broken is refused, and a failed save breaks nothing.

mod directory;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mg_device::{Buffer, DType, Element, ErrorKind, Shape};
use mg_nn::checkpoint::{self, View};
use proptest::prelude::*;

use directory::Dir;

const NO_METADATA: BTreeMap<String, String> = BTreeMap::new();

/// Saves `n` bytes of `value` as "a".
fn save_bytes(path: &Path, n: usize, value: u8) -> mg_device::Result<()> {
    let buffer = Buffer::from_vec(vec![value; n]);
    checkpoint::save(path, &[View::new("a", Shape::from([n]), &buffer)?], &NO_METADATA)
}

fn bytes_in(path: &Path) -> Vec<u8> {
    checkpoint::load(path).unwrap().tensors["a"].data.as_slice::<u8>().unwrap().to_vec()
}

/// The file with this header and this much data.
fn raw(header: &str, data: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
}

#[test]
fn every_dtype_comes_back() {
    let dir = Dir::new("dtypes");
    let path = dir.0.join("all.safetensors");
    fn values<T: Element>() -> Buffer {
        Buffer::from_vec([0.0, 1.0, 1.5, -2.0, f64::INFINITY, 1e-300].map(T::from_f64).to_vec())
    }
    let buffers = DType::ALL.map(|dtype| mg_device::with_element!(dtype, T => values::<T>()));
    let scalar = Buffer::from_vec(vec![7i64]);
    let empty = Buffer::from_vec(Vec::<f32>::new());
    let mut views: Vec<View> =
        buffers.iter().map(|b| View::new(b.dtype().name(), Shape::from([2, 3]), b).unwrap()).collect();
    views.push(View::new("step", Shape::scalar(), &scalar).unwrap());
    views.push(View::new("a \"name\" / with ünusual\ncharacters", Shape::from([4, 0]), &empty).unwrap());
    let metadata =
        BTreeMap::from([("format".to_string(), "pt".to_string()), ("ε".to_string(), "\\".to_string())]);
    checkpoint::save(&path, &views, &metadata).unwrap();
    let bytes = checkpoint::to_bytes(&views, &metadata).unwrap();
    assert_eq!(bytes, fs::read(&path).unwrap());
    let from_bytes = checkpoint::from_bytes(&bytes).unwrap();

    let loaded = checkpoint::load(&path).unwrap();
    assert_eq!((&from_bytes.metadata, from_bytes.tensors.len()), (&metadata, loaded.tensors.len()));
    for (name, entry) in &from_bytes.tensors {
        let other = &loaded.tensors[name];
        assert_eq!((entry.dtype(), entry.shape), (other.dtype(), other.shape));
        fn same<T: Element>(a: &Buffer, b: &Buffer) -> bool {
            a.as_slice::<T>().unwrap() == b.as_slice::<T>().unwrap()
        }
        assert!(mg_device::with_element!(entry.dtype(), T => same::<T>(&entry.data, &other.data)));
    }
    let short = checkpoint::from_bytes(&bytes[..bytes.len() - 1]).unwrap_err();
    assert!(matches!(short.kind(), ErrorKind::Format(text) if text.contains("truncated")));
    assert_eq!(loaded.metadata, metadata);
    assert_eq!(loaded.tensors.len(), DType::ALL.len() + 2);
    assert_eq!(loaded.tensors["a \"name\" / with ünusual\ncharacters"].shape, Shape::from([4, 0]));
    assert_eq!(loaded.tensors["step"].shape, Shape::scalar());
    for b in &buffers {
        let entry = &loaded.tensors[b.dtype().name()];
        assert_eq!((entry.dtype(), entry.shape), (b.dtype(), Shape::from([2, 3])));
        fn same<T: Element>(a: &Buffer, b: &Buffer) -> bool {
            a.as_slice::<T>().unwrap() == b.as_slice::<T>().unwrap()
        }
        let (a, b) = (&entry.data, b);
        assert!(mg_device::with_element!(b.dtype(), T => same::<T>(a, b)));
    }
    assert_eq!(dir.names(), ["all.safetensors"]);
}

#[test]
fn the_format_is_that_of_the_safetensors_crate() {
    let dir = Dir::new("crate");
    let path = dir.0.join("x.safetensors");
    let (f, i) = (Buffer::from_vec(vec![1.0f32, 2.0]), Buffer::from_vec(vec![3i64]));
    let small = Buffer::from_vec(vec![true]);
    let views = [
        View::new("c", Shape::from([1]), &small).unwrap(),
        View::new("b", Shape::from([2]), &f).unwrap(),
        View::new("a", Shape::from([1]), &i).unwrap(),
    ];
    let metadata = BTreeMap::from([("k".to_string(), "v".to_string())]);
    checkpoint::save(&path, &views, &metadata).unwrap();
    let bytes = fs::read(&path).unwrap();
    let theirs = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(theirs.tensor("b").unwrap().data(), [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]);
    assert_eq!(theirs.tensor("a").unwrap().data(), [3, 0, 0, 0, 0, 0, 0, 0]);
    let back =
        safetensors::serialize(theirs.tensors(), Some([("k".to_string(), "v".to_string())].into())).unwrap();
    assert_eq!(back, bytes, "they lay it out in the same way");
}

#[test]
fn what_cannot_be_saved_is_refused() {
    let dir = Dir::new("refused");
    let path = dir.0.join("x.safetensors");
    let b = Buffer::from_vec(vec![1.0f32, 2.0]);
    let e = View::new("w", Shape::from([3]), &b).unwrap_err();
    assert!(
        matches!(e.kind(), ErrorKind::Shape(_))
            && e.to_string().contains("\"w\": 8 bytes are not f32 of shape [3]")
    );
    let view = |name| View::new(name, Shape::from([2]), &b).unwrap();
    for (views, complaint) in [
        (vec![view("w"), view("v"), view("w")], "two tensors are called \"w\""),
        (vec![view("__metadata__")], "__metadata__"),
    ] {
        let e = checkpoint::save(&path, &views, &NO_METADATA).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::Value(_)) && e.to_string().contains(complaint), "{e}");
    }
    assert!(dir.names().is_empty());
}

#[test]
fn paths_that_cannot_be_written_are_io_errors_and_leave_nothing() {
    let dir = Dir::new("paths");
    fs::write(dir.0.join("file"), "x").unwrap();
    fs::create_dir(dir.0.join("folder")).unwrap();
    for path in
        [dir.0.join("no/such/folder.st"), dir.0.join("file/x.st"), dir.0.join("folder"), PathBuf::new()]
    {
        let e = save_bytes(&path, 10, 1).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::Io(_)), "{e}");
        assert!(
            e.to_string().contains(path.to_str().unwrap()) && e.to_string().contains("tests/checkpoint.rs"),
            "{e}"
        );
        assert!(matches!(checkpoint::load(&path).unwrap_err().kind(), ErrorKind::Io(_)));
    }
    assert_eq!(dir.names(), ["file", "folder"]);
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_not_replaced_and_read_only_folders_are_errors() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let e = save_bytes(Path::new("/dev/full"), 10, 1).unwrap_err();
    assert!(e.to_string().contains("/dev/full: it is there and no regular file"), "{e}");
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    // Nobody can make files there, root neither.
    assert!(matches!(save_bytes(Path::new("/proc/self/x.st"), 10, 1).unwrap_err().kind(), ErrorKind::Io(_)));

    let dir = Dir::new("modes");
    let path = dir.0.join("x.st");
    save_bytes(&path, 10, 1).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    save_bytes(&path, 10, 2).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let link = dir.0.join("link.st");
    std::os::unix::fs::symlink("x.st", &link).unwrap();
    save_bytes(&link, 10, 3).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(bytes_in(&path), [3; 10]);

    fs::set_permissions(&dir.0, fs::Permissions::from_mode(0o555)).unwrap();
    let outcome = save_bytes(&path, 10, 4);
    fs::set_permissions(&dir.0, fs::Permissions::from_mode(0o755)).unwrap();
    match outcome {
        Err(e) => {
            assert!(matches!(e.kind(), ErrorKind::Io(_)), "{e}");
            assert_eq!(bytes_in(&path), [3; 10]);
        }
        // Root may write anywhere.
        Ok(()) => assert_eq!(bytes_in(&path), [4; 10]),
    }
    assert_eq!(dir.names(), ["link.st", "x.st"]);
}

#[test]
fn broken_files_are_refused_with_the_reason() {
    let dir = Dir::new("broken");
    let path = dir.0.join("x.st");
    let entry = |dtype: &str, shape: &str, from: usize, to: usize| {
        format!("{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{from},{to}]}}")
    };
    let (w, v) = (entry("F32", "[2,2]", 0, 16), entry("F32", "[2]", 8, 16));
    let mut bad_bool = raw(&format!("{{\"m\":{}}}", entry("BOOL", "[3]", 0, 3)), 3);
    *bad_bool.last_mut().unwrap() = 2;
    for (bytes, complaint) in [
        (vec![], "0 bytes are no safetensors file"),
        (vec![1; 7], "7 bytes are no"),
        (vec![255; 100], "a header of 18446744073709551615 bytes"),
        (raw("{}", 0)[..9].to_vec(), "truncated in the header of 2 bytes: 1 are missing"),
        (raw("[1]", 0), "no header of safetensors"),
        (raw("{\"w\"", 0), "no header of safetensors"),
        (raw("{\"w\":3}", 0), "tensor \"w\" in the header"),
        (raw(&format!("{{\"w\":{w}}}"), 10), "truncated: the tensors take 16 bytes, 6 are missing"),
        (raw(&format!("{{\"w\":{w}}}"), 17), "1 bytes follow the 16"),
        (raw(&format!("{{\"v\":{v}}}"), 16), "tensor \"v\" at bytes 8 to 16 leaves a gap before it"),
        (
            raw(&format!("{{\"w\":{w},\"v\":{v}}}"), 16),
            "tensor \"v\" at bytes 8 to 16 overlaps the tensor before it",
        ),
        (
            raw(&format!("{{\"w\":{}}}", entry("F32", "[2,3]", 0, 16)), 16),
            "\"w\", F32 of shape [2, 3], cannot have 16 bytes",
        ),
        (raw(&format!("{{\"w\":{}}}", entry("F32", "[-2]", 0, 8)), 8), "tensor \"w\" in the header"),
        (
            raw(&format!("{{\"w\":{}}}", entry("F32", "[9223372036854775807,8]", 0, 0)), 0),
            "cannot have 0 bytes",
        ),
        (raw(&format!("{{\"w\":{}}}", entry("F31", "[1]", 0, 4)), 4), "`F31`"),
        (
            raw(&format!("{{\"w\":{}}}", entry("F8_E8M0", "[2]", 0, 2)), 2),
            "tensor \"w\" is F8_E8M0; taken are F64, F32, F16",
        ),
        (
            raw(&format!("{{\"w\":{}}}", entry("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", 0, 1)), 1),
            "17 axes are too many",
        ),
        (bad_bool, "tensor \"m\": byte 2 at 2 is no BOOL"),
    ] {
        fs::write(&path, bytes).unwrap();
        let e = checkpoint::load(&path).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::Format(_)), "{e}");
        let text = e.to_string();
        assert!(
            text.contains(complaint) && text.contains("x.st") && text.contains("tests/checkpoint.rs"),
            "{text}"
        );
    }
    fs::write(&path, raw("{}", 0)).unwrap();
    assert!(checkpoint::load(&path).unwrap().tensors.is_empty());
}

proptest! {
    #[test]
    fn random_files_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), header: bool) {
        let dir = Dir::new("random");
        let path = dir.0.join("x.st");
        let text = String::from_utf8_lossy(&bytes);
        fs::write(&path, if header { raw(&text, bytes.len()) } else { bytes.clone() }).unwrap();
        let _ = checkpoint::load(&path);
    }

    #[test]
    fn changed_and_cut_files_never_panic(at in 0usize..2000, by in 1u8.., cut: bool) {
        let dir = Dir::new("changed");
        let path = dir.0.join("x.st");
        let (a, b) = (Buffer::from_vec(vec![1.0f32; 6]), Buffer::from_vec(vec![true; 5]));
        let views = [
            View::new("weight", Shape::from([2, 3]), &a).unwrap(),
            View::new("mask", Shape::from([5]), &b).unwrap(),
        ];
        checkpoint::save(&path, &views, &BTreeMap::from([("k".into(), "v".into())])).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= by;
        }
        fs::write(&path, bytes).unwrap();
        let outcome = checkpoint::load(&path);
        prop_assert!(!cut || matches!(outcome.unwrap_err().kind(), ErrorKind::Format(_)));
    }
}

/// Saves that fail or die, in processes of their own.
#[cfg(unix)]
mod in_another_process {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::time::Duration;

    const PATH: &str = "MG_TEST_CHECKPOINT_PATH";
    const LARGE: usize = 8 << 20;

    /// What the child does: saves over the file again and again with another value, once if that fails.
    #[test]
    #[ignore = "the other tests run it in processes of their own"]
    fn child() {
        let Some(path) = std::env::var_os(PATH).map(PathBuf::from) else { return };
        for value in (1..=u8::MAX).cycle() {
            if let Err(e) = save_bytes(&path, LARGE, value) {
                println!("error: {e}");
                return;
            }
        }
    }

    /// Runs the child after the shell commands `before`.
    fn start(before: &str, path: &Path) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{before} exec \"$0\" \"$@\"")).arg(std::env::current_exe().unwrap());
        command.args(["--exact", "in_another_process::child", "--ignored", "--nocapture"]).env(PATH, path);
        command
    }

    /// A limit on the size of files stands for a full disk.
    #[test]
    fn a_save_that_runs_out_of_space_leaves_the_old_file_and_nothing_else() {
        let dir = Dir::new("full");
        let path = dir.0.join("x.st");
        save_bytes(&path, 100, 7).unwrap();
        let output = start("trap '' XFSZ; ulimit -f 4096;", &path).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            text.contains("error: checkpoint::save: cannot save") && text.contains("too large"),
            "{output:?}"
        );
        assert_eq!(dir.names(), ["x.st"]);
        assert_eq!(bytes_in(&path), [7; 100]);
    }

    /// Without the trap, the signal kills the process as it writes past the limit.
    #[test]
    fn a_process_that_dies_half_way_leaves_the_old_file() {
        let dir = Dir::new("dies");
        let path = dir.0.join("x.st");
        save_bytes(&path, 100, 7).unwrap();
        let status = start("ulimit -c 0; ulimit -f 4096;", &path).output().unwrap().status;
        assert!(status.signal().is_some(), "{status:?}");
        let names = dir.names();
        let left = names.iter().find(|name| *name != "x.st").unwrap();
        assert!(left.starts_with(".checkpoint-") && fs::metadata(dir.0.join(left)).unwrap().len() > 1 << 20);
        assert_eq!(bytes_in(&path), [7; 100]);
        // What it has left is removed by the next save to the path, and by none to another one.
        save_bytes(&dir.0.join("y.st"), 100, 8).unwrap();
        assert_eq!(dir.names().len(), 3);
        save_bytes(&path, 100, 9).unwrap();
        assert_eq!(dir.names(), ["x.st", "y.st"]);
        assert_eq!(bytes_in(&path), [9; 100]);
    }

    /// Somebody who saves to the same path meanwhile is left alone.
    #[test]
    fn a_save_that_goes_on_is_not_taken_for_a_stale_one() {
        let dir = Dir::new("alive");
        let path = dir.0.join("x.st");
        save_bytes(&path, LARGE, 200).unwrap();
        let mut child = start("", &path).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_millis(500) {
            save_bytes(&path, 100, 7).unwrap();
        }
        let is_alive = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(is_alive && !text.contains("error"), "{text}");
    }

    #[test]
    fn a_process_killed_at_any_moment_leaves_a_whole_file() {
        let dir = Dir::new("killed");
        let path = dir.0.join("x.st");
        save_bytes(&path, LARGE, 200).unwrap();
        for round in 0..8 {
            let mut child = start("", &path).stdout(std::process::Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(30 + 7 * round));
            child.kill().unwrap();
            child.wait().unwrap();
            let bytes = bytes_in(&path);
            assert!(bytes.len() == LARGE && bytes.iter().all(|&b| b == bytes[0]));
        }
    }
}
