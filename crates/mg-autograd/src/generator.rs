//! Generators of random numbers, and which one a thread draws from.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// A generator of random numbers: a seed, which is the key of Philox4x32-10, and the position of the next number.
///
/// What is drawn takes its positions when the operation is called, in program order, whenever and wherever it is computed: the
/// same seed gives the same numbers on every device, fused or not. A draw of `n` uniform numbers takes `n` positions, rounded up
/// to a multiple of 4; the element at row-major position `i` is the number at the draw's first position plus `i`. An f32 is the
/// upper 24 bits of word `at % 4` of the block at counter `at / 4`; an f64 the upper 53 bits of words `2 (at % 2)` and the next
/// of the block at counter `2⁶³ + at / 2`.
///
/// Normal numbers are made of the numbers u and v at an even position and the next: the first is √(−2 ln(1 − u))·cos 2πv, the second the same with the sine.
/// What every other operation draws, and what it makes of that, is in `docs/random.md`.
///
/// Clones are handles on one generator.
///
/// ```
/// use mg_autograd::{Generator, Tensor};
/// use mg_device::DType;
///
/// let (a, b) = (Generator::new(), Generator::new());
/// a.manual_seed(7);
/// b.manual_seed(7);
/// let x = Tensor::zeros(&[3], DType::F32)?;
/// assert_eq!(
///     x.uniform_like(0.0, 1.0, Some(&a)).to_vec::<f32>()?,
///     x.uniform_like(0.0, 1.0, Some(&b)).to_vec::<f32>()?,
/// );
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone)]
pub struct Generator(Arc<Mutex<(u64, u64)>>);

impl Default for Generator {
    fn default() -> Generator {
        Generator::new()
    }
}

impl Generator {
    /// A generator of its own, with the seed that PyTorch's generators have at first.
    pub fn new() -> Generator {
        Generator(Arc::new(Mutex::new((67_280_421_310_721, 0))))
    }

    /// The generator that random tensors come from where none is named: one for all threads, but for those that have one of their own
    /// ([`draw_from`]).
    pub fn global() -> Generator {
        OWN.with_borrow(|own| own.clone()).unwrap_or_else(|| GENERATOR.clone())
    }

    fn is(&self, other: &Generator) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Starts anew with a seed.
    pub fn manual_seed(&self, seed: u64) {
        self.set_state(seed, 0);
    }

    /// Starts anew with a seed that nobody knows, and answers with it.
    pub fn seed(&self) -> u64 {
        let seed = RandomState::new().build_hasher().finish();
        self.manual_seed(seed);
        seed
    }

    /// The seed and the position of the next number.
    pub fn state(&self) -> (u64, u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on with a seed from a position; see [`Generator::state`].
    pub fn set_state(&self, seed: u64, position: u64) {
        crate::jit::note_seed();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (seed, position);
    }

    /// Takes `n` positions, and answers with the seed and the first of them.
    pub(crate) fn draw(generator: Option<&Generator>, n: usize) -> (u64, u64) {
        let global = Generator::global();
        let generator = generator.unwrap_or(&global);
        // Whole blocks of Philox, so that neighbours never share one.
        let taken = n.next_multiple_of(4) as u64;
        if generator.is(&global) {
            DRAWN.set(DRAWN.get().wrapping_add(taken));
        } else {
            // A replay goes on from where the global generator is, and knows of no other.
            crate::jit::note_draw("it draws random numbers from a generator of its own");
        }
        let mut state = generator.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (seed, at) = *state;
        state.1 = at.wrapping_add(taken);
        (seed, at)
    }
}

/// Every random node takes its positions when it is made, in program order.
static GENERATOR: LazyLock<Generator> =
    LazyLock::new(|| Generator(Arc::new(Mutex::new((0x6d69_6372_6f67_7261, 0)))));

/// Seeds the generator of random tensors: the same seed gives the same numbers, on every device, fused or not.
pub fn manual_seed(seed: u64) {
    Generator::global().manual_seed(seed);
}

thread_local! {
    /// What this thread draws from, if that is not what all do.
    static OWN: RefCell<Option<Generator>> = const { RefCell::new(None) };
}

/// Makes this the generator of random tensors on this thread, or gives the thread the one of all again. Answers with what it had.
///
/// ```
/// use mg_autograd::{Generator, Tensor, draw_from, manual_seed};
/// use mg_device::DType;
///
/// manual_seed(1);
/// let of_a_worker = std::thread::spawn(|| {
///     draw_from(Some(Generator::new()));
///     manual_seed(7);
///     Tensor::rand(&[2], DType::F32)?.to_vec::<f32>()
/// });
/// let of_a_worker = of_a_worker.join().expect("it does not panic")?;
/// let here = Tensor::rand(&[2], DType::F32)?.to_vec::<f32>()?;
/// manual_seed(7);
/// assert_eq!(Tensor::rand(&[2], DType::F32)?.to_vec::<f32>()?, of_a_worker);
/// manual_seed(1);
/// assert_eq!(Tensor::rand(&[2], DType::F32)?.to_vec::<f32>()?, here);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub fn draw_from(generator: Option<Generator>) -> Option<Generator> {
    crate::jit::note_draw("it gives its thread another generator of random numbers");
    OWN.replace(generator)
}

/// The seed and the next position of the generator that this thread draws from.
pub(crate) fn state() -> (u64, u64) {
    Generator::global().state()
}

/// Runs `f` with the generator as it was once, and puts it back to what it is now: numbers that were drawn are drawn again.
pub(crate) fn from_state<R>(seed: u64, position: u64, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<Generator>, u64);
    impl Drop for Restore {
        fn drop(&mut self) {
            OWN.replace(self.0.take());
            DRAWN.set(self.1);
        }
    }
    // Of this thread alone: others go on.
    let once = Generator(Arc::new(Mutex::new((seed, position))));
    let _restore = Restore(OWN.replace(Some(once)), DRAWN.get());
    f()
}

/// Takes positions that a replayed step has drawn.
pub(crate) fn advance(n: u64) {
    let generator = Generator::global();
    let mut state = generator.0.lock().unwrap_or_else(PoisonError::into_inner);
    state.1 = state.1.wrapping_add(n);
}

thread_local! {
    /// The positions that this thread has taken so far.
    static DRAWN: Cell<u64> = const { Cell::new(0) };
}

/// How many positions this thread has taken so far.
pub(crate) fn drawn() -> u64 {
    DRAWN.get()
}
