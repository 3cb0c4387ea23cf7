//! Copies of page-locked memory, on a stream of their own: by a driver that does what its streams are asked for as late as it may, or in one of them as
//! soon, so that whatever does not wait for what it needs finds something else. The driver is a small library compiled here, loaded by a child
//! process.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use mg_device::{Buffer, DType, Device, Error, ErrorKind};

const N: usize = 5000;

fn pinned(value: i32) -> Buffer {
    let buffer = Buffer::pinned(DType::I32, N).unwrap();
    fill(&buffer, value);
    buffer
}

fn fill(buffer: &Buffer, value: i32) {
    // SAFETY: the buffer holds N elements, and this thread alone has it.
    unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast::<i32>(), N) }.fill(value);
}

#[track_caller]
fn is(buffer: &Buffer, value: i32) {
    let host = buffer.to_device(Device::cpu()).unwrap();
    assert_eq!(host.as_slice::<i32>().unwrap(), vec![value; N]);
}

/// In the child. Does nothing when run as one test among the others.
#[test]
fn child() {
    if std::env::var_os("ARRIVALS_CHILD").is_none() {
        return;
    }
    let gpu = Device::cuda(0).unwrap();

    // What is written to the memory after it was sent is not what arrives.
    let source = pinned(1);
    assert!(source.is_pinned() && source.device().is_cpu() && !source.is_borrowed());
    let first = source.to_device(gpu).unwrap();
    assert!(!first.is_pinned() && !first.is_borrowed() && first.device() == gpu);
    fill(&source, 2);
    let second = source.to_device(gpu).unwrap();
    let shared = source.export();
    // Whoever it was handed out to writes where they know it to be.
    let write = |value| {
        let at = source.as_ptr().cast_mut().cast::<i32>();
        // SAFETY: as in `fill`.
        unsafe { std::slice::from_raw_parts_mut(at, N) }.fill(value);
    };
    write(3);
    let third = source.to_device(gpu).unwrap();
    write(4);
    is(&second, 2);
    is(&first, 1);
    is(&third, 3);
    drop(shared);

    // Memory that is given back is another batch's at once; so are the blocks that they arrive in, once the device has copied out of them.
    let (mut places, mut sources, mut copies) = (BTreeSet::new(), BTreeSet::new(), vec![]);
    for value in 0..40 {
        let batch = pinned(100 + value);
        sources.insert(batch.as_ptr().addr());
        let arrived = batch.to_device(gpu).unwrap();
        drop(batch);
        places.insert(arrived.address());
        copies.push(arrived.to_device(gpu).unwrap());
    }
    for (value, copy) in (0..).zip(&copies) {
        is(copy, 100 + value);
    }
    println!("places {} sources {}", places.len(), sources.len());

    // Of other sizes, and of nothing.
    assert_eq!(Buffer::pinned(DType::F64, 0).unwrap().to_device(gpu).unwrap().len(), 0);
    let large = Buffer::pinned(DType::U8, 3 << 20).unwrap();
    // SAFETY: the buffer has as many bytes.
    unsafe { large.as_mut_ptr().write_bytes(7, 3 << 20) };
    let arrived = large.to_device(gpu).unwrap();
    assert!(arrived.to_device(Device::cpu()).unwrap().as_slice::<u8>().unwrap().iter().all(|&b| b == 7));

    // What lies in other memory is cut into pieces, by one thread or by several.
    for bytes in [9 << 20, (64 << 20) + 5] {
        let numbers: Vec<u8> = (0..bytes).map(|i: usize| (i / 7 % 251) as u8).collect();
        let there = Buffer::from_slice(&numbers).unwrap().to_device(gpu).unwrap();
        assert!(there.to_device(Device::cpu()).unwrap().as_slice::<u8>().unwrap() == numbers);
    }

    // What a source gives, for several at once; the first that it fails with is told, whoever had asked it.
    let byte = |which: usize, at: usize| (31 * which + at / 5 % 241) as u8;
    for sizes in [vec![0, 5, 9 << 20, 0, 3], vec![1 << 20, (64 << 20) + 3, 0, 7]] {
        let parts: Vec<(DType, usize)> = sizes.iter().map(|&n| (DType::U8, n)).collect();
        let fill = |which: usize, at: usize, bytes: &mut [u8]| {
            assert!(at + bytes.len() <= sizes[which] && at.is_multiple_of(8));
            (at..).zip(bytes).for_each(|(at, to)| *to = byte(which, at));
            Ok(())
        };
        let made = Buffer::filled(gpu, &parts, &fill).unwrap();
        for (which, there) in made.iter().enumerate() {
            let here = there.to_device(Device::cpu()).unwrap();
            let bytes = here.as_slice::<u8>().unwrap();
            assert_eq!((there.device(), bytes.len()), (gpu, sizes[which]));
            assert!(bytes.iter().enumerate().all(|(at, &b)| b == byte(which, at)), "{which}");
        }
        let fails = |which: usize, at: usize, _: &mut [u8]| match which {
            1 if at == 0 => Err(Error::new("source", ErrorKind::Io("it is gone".into()))),
            _ => Ok(()),
        };
        let error = Buffer::filled(gpu, &parts, &fails).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io(text) if text == "it is gone"), "{error}");
    }

    drop((first, second, third, arrived, copies));
    gpu.empty_cache();
    println!("left {:?}", (gpu.memory_stats().active, gpu.memory_stats().cached));
}

/// What the child prints with a driver that is late in this way; `None` where there is no C compiler.
fn run(late: Option<usize>) -> Option<String> {
    let name = format!("arrivals-{late:?}-{}", std::process::id());
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&dir).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mg-autograd/tests/cuda_faults/stub.c");
    let mut cc = Command::new("cc");
    let Ok(built) = cc.args(["-shared", "-fPIC", "-w", "-o"]).args([dir.join("libcuda.so"), source]).status()
    else {
        eprintln!("skipped: no C compiler");
        return None;
    };
    assert!(built.success(), "cc failed");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "child", "--nocapture"]).env("ARRIVALS_CHILD", "1").env("LD_LIBRARY_PATH", &dir);
    if let Some(late) = late {
        child.env("STUB_LATE", late.to_string());
    }
    let out = child.output().unwrap();
    let _ = std::fs::remove_dir_all(&dir);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}\n{}", String::from_utf8_lossy(&out.stderr));
    Some(text)
}

/// Whether few blocks served all batches, and all was given back.
fn is_right(late: Option<usize>) {
    let Some(text) = run(late) else { return };
    let number = |name: &str| -> usize {
        let rest = &text[text.find(name).unwrap() + name.len()..];
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(number("places ") <= 4 && number("sources ") <= 2, "{text}");
    assert!(text.contains("left (0, 0)"), "{text}");
}

#[test]
fn copies_that_are_made_at_once() {
    is_right(None);
}

#[test]
fn copies_that_are_made_when_somebody_waits() {
    is_right(Some(0));
}

#[test]
fn a_device_that_is_quicker_than_its_copies() {
    is_right(Some(1));
}

#[test]
fn copies_that_are_quicker_than_the_device() {
    is_right(Some(2));
}

#[test]
fn memory_is_page_locked_where_there_is_a_device() {
    if Device::is_cuda_available() {
        return;
    }
    let e = Buffer::pinned(DType::F32, 4).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Device(_)), "{e}");
}
