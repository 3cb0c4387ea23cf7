//! Buffers and the host's caching allocator, through the public API. The allocator's figures are the process's, so what
//! reads them takes turns.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use mg_device::{Buffer, DType, Device, ErrorKind, f16};

static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

const CPU: Device = Device::cpu();

#[test]
fn contents_go_in_and_come_out() {
    let _turn = turn();
    assert_eq!(Buffer::from_slice(&[1.5f64, -2.0]).unwrap().as_slice::<f64>().unwrap(), [1.5, -2.0]);
    assert_eq!(Buffer::from_slice(&[true, false]).unwrap().as_slice::<bool>().unwrap(), [true, false]);
    assert_eq!(Buffer::from_vec(vec![f16::ONE; 3]).as_slice::<f16>().unwrap(), [f16::ONE; 3]);
    assert_eq!(Buffer::zeroed(CPU, DType::I32, 5).unwrap().as_slice::<i32>().unwrap(), [0; 5]);
    let empty = Buffer::uninit(CPU, DType::F32, 0).unwrap();
    assert!(empty.is_empty() && empty.as_slice::<f32>().unwrap().is_empty());
}

#[test]
fn memory_that_is_reused_is_zeroed_when_asked() {
    let _turn = turn();
    drop(Buffer::from_slice(&[7u8; 100]).unwrap());
    assert_eq!(Buffer::zeroed(CPU, DType::U8, 100).unwrap().as_slice::<u8>().unwrap(), [0; 100]);
}

#[test]
fn memory_is_aligned_to_a_cache_line() {
    let _turn = turn();
    for len in [0, 1, 63, 64, 65, 4096, 4097, 100_000, 3 << 20] {
        let b = Buffer::uninit(CPU, DType::U8, len).unwrap();
        assert_eq!(b.as_ptr() as usize % 64, 0, "{len}");
        let align = if len >= 2 << 20 { 2 << 20 } else { 64 };
        assert_eq!(b.as_ptr() as usize % align, 0, "{len} for huge pages");
    }
}

#[test]
fn a_slice_of_another_type_is_refused() {
    let b = Buffer::from_vec(vec![1.0f32]);
    let e = b.as_slice::<f64>().unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::DType(_)));
    assert!(e.to_string().starts_with("as_slice: the buffer holds f32, not f64"), "{e}");
}

#[test]
fn bytes_that_are_no_truth_values_are_refused() {
    let mut bytes = vec![0u8, 1, 2];
    let ptr = bytes.as_mut_ptr();
    // SAFETY: the vector is the owner. A 2 breaks the promise about bools: that it is caught is what is tested.
    let b = unsafe { Buffer::from_foreign(ptr, 3, DType::Bool, Box::new(bytes)) };
    assert!(matches!(b.as_slice::<bool>().unwrap_err().kind(), ErrorKind::Value(_)));
}

#[test]
fn a_vector_is_adopted_in_place() {
    let v = vec![1i64, 2, 3];
    let at = v.as_ptr();
    let b = Buffer::from_vec(v);
    assert_eq!(b.as_ptr(), at.cast());
    assert!(!b.is_borrowed());
    assert!(Buffer::from_vec(Vec::<u8>::new()).is_empty());
}

#[test]
fn foreign_memory_lives_as_long_as_its_last_clone() {
    struct Owner(Arc<AtomicUsize>, Vec<f32>);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut owner = Owner(dropped.clone(), vec![1.0, 2.0]);
    let ptr = owner.1.as_mut_ptr();
    // SAFETY: the vector's memory stays where it is when the owner moves, and is dropped with the owner.
    let b = unsafe {
        Buffer::from_foreign(ptr.cast(), 2, DType::F32, Box::new(owner) as Box<dyn Any + Send + Sync>)
    };
    let c = b.clone();
    assert!(b.is_borrowed() && b.ptr_eq(&c));
    assert_eq!((b.ref_count(), c.as_ptr()), (2, ptr.cast_const().cast()));
    drop(b);
    assert_eq!(c.as_slice::<f32>().unwrap(), [1.0, 2.0]);
    assert_eq!((c.ref_count(), dropped.load(Ordering::SeqCst)), (1, 0));
    drop(c);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn absurd_sizes_are_out_of_memory() {
    let _turn = turn();
    for len in [usize::MAX, isize::MAX as usize, 1 << 61, 1 << 55] {
        let e = Buffer::uninit(CPU, DType::F64, len).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::OutOfMemory { .. }), "{e}");
        assert_eq!(e.location().file(), file!());
    }
}

#[test]
fn what_is_dropped_is_reused_and_counted() {
    let _turn = turn();
    CPU.empty_cache();
    CPU.reset_peak();
    let before = CPU.memory_stats();
    assert_eq!((before.cached, before.peak), (0, before.active));

    let a = Buffer::uninit(CPU, DType::F32, 1000).unwrap();
    let at = a.as_ptr();
    assert_eq!(CPU.memory_stats().active, before.active + 4032);
    drop(a);
    let idle = CPU.memory_stats();
    assert_eq!((idle.active, idle.cached, idle.peak), (before.active, 4032, before.active + 4032));

    // Another dtype and length of the same class of sizes.
    let b = Buffer::uninit(CPU, DType::I64, 500).unwrap();
    assert_eq!((b.as_ptr(), b.len(), b.dtype(), b.ref_count()), (at, 500, DType::I64, 1));
    assert_eq!(CPU.memory_stats().hits, before.hits + 1);
    assert_eq!(CPU.memory_stats().allocations, before.allocations + 2);
    drop(b);

    CPU.empty_cache();
    let after = CPU.memory_stats();
    assert_eq!((after.active, after.cached), (before.active, 0));
}

#[test]
fn the_limit_holds_until_it_is_lifted() {
    let _turn = turn();
    CPU.empty_cache();
    let active = CPU.memory_stats().active;
    let limit = active + (1 << 20);
    CPU.set_memory_limit(Some(limit));

    let half = Buffer::uninit(CPU, DType::U8, 512 << 10).unwrap();
    let e = Buffer::uninit(CPU, DType::U8, 600 << 10).unwrap_err();
    match *e.kind() {
        ErrorKind::OutOfMemory { requested, active: now, cached, limit: l, free } => {
            assert_eq!((requested, now, cached), (600 << 10, active + (512 << 10), 0));
            assert_eq!(l, Some(limit));
            assert_eq!(free.is_some(), cfg!(target_os = "linux"));
        }
        ref other => panic!("{other:?}"),
    }
    drop(half);
    // What is cached by now makes room.
    let most = Buffer::uninit(CPU, DType::U8, 600 << 10).unwrap();
    assert_eq!(CPU.memory_stats().cached, 0);
    drop(most);

    CPU.set_memory_limit(None);
    assert!(Buffer::uninit(CPU, DType::U8, 2 << 20).is_ok());
    CPU.empty_cache();
}

#[test]
fn threads_that_pass_buffers_around_never_share_memory() {
    let _turn = turn();
    CPU.empty_cache();
    let before = CPU.memory_stats().active;
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| mpsc::channel::<(Buffer, u64)>()).unzip();
    std::thread::scope(|scope| {
        for (me, inbox) in receivers.into_iter().enumerate() {
            let next = senders[(me + 1) % senders.len()].clone();
            scope.spawn(move || {
                let check = |b: &Buffer, tag: u64| {
                    let words = b.as_slice::<i64>().unwrap();
                    assert!(words.iter().all(|&w| w == tag as i64), "somebody else wrote here");
                };
                let mut kept: Vec<(Buffer, u64)> = Vec::new();
                let mut random = me as u64 + 1;
                for round in 0..4000u64 {
                    random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let tag = (me as u64) << 32 | round;
                    let len = (random >> 40) as usize % 700;
                    kept.push((Buffer::from_slice(&vec![tag as i64; len]).unwrap(), tag));
                    if random & 1 << 63 == 0 {
                        let (b, tag) = kept.swap_remove((random >> 20) as usize % kept.len());
                        let clone = b.clone();
                        // The other end may be gone already, and the buffer then dies here.
                        let _ = next.send((b, tag));
                        check(&clone, tag);
                    }
                    for (b, tag) in inbox.try_iter() {
                        check(&b, tag);
                    }
                    if kept.len() > 50 {
                        kept.drain(..25).for_each(|(b, tag)| check(&b, tag));
                    }
                }
                kept.iter().for_each(|(b, tag)| check(b, *tag));
            });
        }
        drop(senders);
    });
    assert_eq!(CPU.memory_stats().active, before);
    assert!(CPU.memory_stats().hits > 0);
    CPU.empty_cache();
}
