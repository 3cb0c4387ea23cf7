//! What the targets have in common.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use mg_autograd::Tensor;
use mg_device::{ErrorKind, Result};

/// A folder of this process, for one file after another.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn new() -> Place {
        // Memory where there is a file system of it.
        let root = if Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
        let folder = root.join(format!("mg-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for files");
        Place { folder }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

thread_local! {
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// The path of a file of this name with these contents; the next one of the name takes its place.
pub fn file(name: &str, contents: &[u8]) -> PathBuf {
    PLACE.with_borrow_mut(|place| {
        let path = place.get_or_insert_with(Place::new).folder.join(name);
        std::fs::write(&path, contents).expect("a file");
        path
    })
}

/// What was read, if it could be; what is wrong with a file is never a mistake of ours.
#[track_caller]
pub fn usual<T>(read: Result<T>) -> Option<T> {
    match read {
        Ok(made) => Some(made),
        Err(error) if matches!(error.kind(), ErrorKind::Internal(_)) => panic!("{error}"),
        Err(error) => {
            // Errors are shown.
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// Every byte of a tensor that was read: dense, as files are.
#[track_caller]
pub fn bytes(t: &Tensor) -> Vec<u8> {
    let value = t.host_value().expect("what was read is known");
    assert_eq!(value.buffer.len(), t.numel(), "it is dense");
    if value.buffer.bytes() == 0 {
        return vec![];
    }
    // SAFETY: so many initialised bytes on the host, which nobody writes to meanwhile.
    unsafe { std::slice::from_raw_parts(value.buffer.as_ptr(), value.buffer.bytes()) }.to_vec()
}
