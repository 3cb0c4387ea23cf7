//! [`Few`]: up to [`MAX_RANK`] numbers that are copied as cheaply as eight.

use crate::shape::MAX_RANK;
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{LazyLock, Mutex, PoisonError};

/// How many lie inline.
pub(crate) const NEAR: usize = 8;

/// Numbers of up to [`MAX_RANK`] axes, `Copy`. Those of up to [`NEAR`] axes lie inline; longer ones are kept once for the whole
/// program, for as long as it runs (`docs/decisions/0053-sixteen-axes.md`).
#[derive(Clone, Copy)]
pub(crate) struct Few<T: Copy + 'static> {
    len: u8,
    /// `near` where `len` is at most [`NEAR`], else `far`.
    numbers: Numbers<T>,
}

#[derive(Clone, Copy)]
union Numbers<T: Copy + 'static> {
    /// Zeros beyond the length.
    near: [T; NEAR],
    far: &'static [T; MAX_RANK],
}

/// What the numbers are: those of sizes, and those of strides.
pub(crate) trait Number: Copy + Eq + Hash + Send + Sync + 'static {
    const ZERO: Self;
    /// All long lists that there were.
    fn known() -> &'static Mutex<HashSet<&'static [Self; MAX_RANK]>>;
}

macro_rules! number {
    ($($t:ty)*) => {$(
        impl Number for $t {
            const ZERO: $t = 0;
            fn known() -> &'static Mutex<HashSet<&'static [$t; MAX_RANK]>> {
                static KNOWN: LazyLock<Mutex<HashSet<&'static [$t; MAX_RANK]>>> = LazyLock::new(Mutex::default);
                &KNOWN
            }
        }
    )*};
}
number!(usize isize);

/// The one list of these numbers.
#[cold]
#[inline(never)]
fn kept<T: Number>(numbers: &[T]) -> &'static [T; MAX_RANK] {
    let mut all = [T::ZERO; MAX_RANK];
    all[..numbers.len()].copy_from_slice(numbers);
    let mut known = T::known().lock().unwrap_or_else(PoisonError::into_inner);
    match known.get(&all) {
        Some(list) => list,
        None => {
            let list: &'static [T; MAX_RANK] = Box::leak(Box::new(all));
            known.insert(list);
            list
        }
    }
}

impl<T: Copy> Few<T> {
    /// No numbers; `zero` is what stands beyond them.
    pub(crate) const fn none(zero: T) -> Few<T> {
        Few { len: 0, numbers: Numbers { near: [zero; NEAR] } }
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }
}

impl<T: Number> Few<T> {
    /// These numbers, [`MAX_RANK`] at most.
    #[inline]
    pub(crate) fn of(numbers: &[T]) -> Few<T> {
        let len = numbers.len() as u8;
        if numbers.len() > NEAR {
            return Few { len, numbers: Numbers { far: kept(numbers) } };
        }
        let mut near = [T::ZERO; NEAR];
        // A loop, which the compiler unrolls for the lengths it knows: a call would copy a few words.
        for (to, &from) in near.iter_mut().zip(numbers) {
            *to = from;
        }
        Few { len, numbers: Numbers { near } }
    }

    /// So many zeros.
    #[inline]
    pub(crate) fn zeros(len: usize) -> Few<T> {
        if len > NEAR {
            return Few::of(&[T::ZERO; MAX_RANK][..len]);
        }
        Few { len: len as u8, numbers: Numbers { near: [T::ZERO; NEAR] } }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        if self.len() <= NEAR {
            // SAFETY: so many numbers lie inline.
            let near = unsafe { &self.numbers.near };
            &near[..self.len()]
        } else {
            // SAFETY: more do not: `of` has set the reference.
            let far = unsafe { self.numbers.far };
            &far[..self.len().min(MAX_RANK)]
        }
    }

    /// The numbers with zeros up to [`MAX_RANK`].
    #[inline]
    pub(crate) fn padded(&self) -> [T; MAX_RANK] {
        let mut all = [T::ZERO; MAX_RANK];
        let numbers = self.as_slice();
        all[..numbers.len()].copy_from_slice(numbers);
        all
    }

    /// Changes them in place: `change` is given the numbers with zeros behind them, as many as there is room for ([`NEAR`] at
    /// least), and says how many there are then, which may be one more or fewer.
    #[inline]
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut [T]) -> usize) {
        if self.len() < NEAR {
            // SAFETY: so many numbers lie inline, and all eight were written.
            let near = unsafe { &mut self.numbers.near };
            self.len = change(near) as u8;
        } else {
            self.change_long(change);
        }
    }

    #[cold]
    fn change_long(&mut self, change: impl FnOnce(&mut [T]) -> usize) {
        let mut all = self.padded();
        let len = change(&mut all);
        *self = Few::of(&all[..len]);
    }
}

impl<T: Number> PartialEq for Few<T> {
    #[inline]
    fn eq(&self, other: &Few<T>) -> bool {
        self.as_slice() == other.as_slice()
    }
}
