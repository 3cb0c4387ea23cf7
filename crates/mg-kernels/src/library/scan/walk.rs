//! The walk of a scan along its lines, on the CPU.
//!
//! The order in which elements are joined depends on sizes alone, not on the number of threads: lines are divided into pieces, pieces into
//! groups, groups into rows, and each of these goes on from what all before it come to. Lines that lie beside each other are divided into
//! pieces alone.

use super::Lines;
use super::chain::Chain;
use super::cpu::State;
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::pool::{num_threads, parallel};
use crate::cpu::stream::{STREAM, fetch, finish, stream_inline, streams};
use std::mem::MaybeUninit;

/// Elements of a row, which are joined one after the other.
pub(super) const ROW: usize = 4;
/// Rows that are joined one after the other, and so many of them by a tree.
pub(super) const ROWS: usize = 4;
/// Elements of a group: what is in registers at a time.
pub(super) const GROUP: usize = ROW * ROWS * ROWS;
/// Chunks of a block that are gone through side by side where there are no groups, so that one step need not wait for the other.
const CHUNKS: usize = 8;
/// Elements of a chunk: a block lies in the first-level cache.
const CHUNK: usize = 256;
/// Elements that are looked at together where what is carried seldom changes.
const RUN: usize = 16;
/// Elements of a piece of a line, which lies in the second-level cache.
const PIECE: usize = 1 << 15;
/// Elements of a piece of lines that lie beside each other, and how many there are of one line at least.
const BESIDE: (usize, usize) = (1 << 16, 256);
/// Lines beside each other from which they are not divided: there are enough of them for all threads.
const MANY: usize = 512;
/// Lines beside each other that a task has at most: what is carried along them lies in the first-level cache.
const COLUMNS: usize = 512;
/// Lines beside each other whose states are in registers, and the elements of each that are gone through before the next ones.
pub(super) const TILE: (usize, usize) = (16, 8);
/// Elements from which threads share the work.
const PARALLEL: usize = 1 << 16;

/// The addresses of a call, and how its lines lie.
pub(super) struct Work<S: State> {
    pub(super) x: *const S::In,
    a: *const S::In,
    pub(super) out: *mut S::Out,
    lines: Lines,
    pub(super) reverse: bool,
    /// Where the way along the axis begins, and how it goes on.
    first: usize,
    step: isize,
    /// Whether what is written goes past the caches.
    pub(super) streams: bool,
}

// SAFETY: the addresses are valid from any thread, and tasks write disjoint elements.
unsafe impl<S: State> Sync for Work<S> {}

/// Elements on the way along a line: whole groups.
pub(super) struct Groups<S> {
    /// Where the line begins.
    pub(super) line: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    /// What is before the piece.
    pub(super) start: Option<S>,
    pub(super) write: bool,
    /// How much further on the way lies what is to come into the cache meanwhile; 0 if nothing is.
    pub(super) ahead: usize,
}

impl<S> Groups<S> {
    /// The same elements, of other states.
    pub(super) fn map<R>(self, state: impl Fn(S) -> R) -> Groups<R> {
        let Groups { line, from, to, start, write, ahead } = self;
        Groups { line, from, to, start: start.map(state), write, ahead }
    }
}

/// A group: what comes up to each place of a row, and up to each row of its branch.
struct Group<S> {
    x: [S; GROUP],
    rows: [S; ROWS * ROWS],
}

/// Lines beside each other, and elements on the way along them.
struct Columns<'a, S> {
    row: usize,
    lines: [usize; 2],
    elements: [usize; 2],
    /// What is before the piece, in each line.
    start: Option<&'a [S]>,
    /// What the elements alone come to.
    now: &'a mut [S],
    write: bool,
    /// As in [`Groups`].
    ahead: usize,
}

/// Some elements on the way along [`TILE`] lines beside each other.
pub(super) struct Tile<'a, S> {
    /// Where the first is, of the first line.
    pub(super) at: usize,
    pub(super) rows: usize,
    pub(super) now: &'a mut [S],
    pub(super) start: Option<&'a [S]>,
    pub(super) write: bool,
}

impl<'a, S> Tile<'a, S> {
    /// The same elements, of states that are called otherwise.
    ///
    /// # Safety
    ///
    /// An `S` is an `R`.
    pub(super) unsafe fn cast<R>(self) -> Tile<'a, R> {
        const { assert!(size_of::<S>() == size_of::<R>() && align_of::<S>() == align_of::<R>()) };
        let Tile { at, rows, now, start, write } = self;
        // SAFETY: this function's contract.
        unsafe {
            let now = std::slice::from_raw_parts_mut(now.as_mut_ptr().cast(), now.len());
            let start = start.map(|start| std::slice::from_raw_parts(start.as_ptr().cast(), start.len()));
            Tile { at, rows, now, start, write }
        }
    }
}

type GroupsFn<S> = unsafe fn(&Work<S>, Groups<S>) -> S;
type ColumnsFn<S> = unsafe fn(&Work<S>, Columns<S>);

impl<S: State> Work<S> {
    pub(super) fn new([x, a]: [*const S::In; 2], out: *mut S::Out, lines: Lines, reverse: bool) -> Self {
        let bytes = lines.outer * lines.length * lines.inner * size_of::<S::Out>();
        let (first, step) = if reverse { (lines.length.wrapping_sub(1), -1) } else { (0, 1) };
        Work { x, a, out, lines, reverse, first, step, streams: bytes >= STREAM && streams() }
    }

    /// The position of the `i`-th element on the way along the axis.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> usize {
        // Without a branch, which a compiler would make two loops of.
        self.first.wrapping_add_signed(self.step * i as isize)
    }

    /// How far apart neighbours on the way are.
    pub(super) fn apart(&self) -> isize {
        let inner = self.lines.inner as isize;
        if self.reverse { -inner } else { inner }
    }

    /// What the `i`-th element on the way of a line, which begins at `line`, comes to.
    #[inline(always)]
    unsafe fn load(&self, line: usize, i: usize) -> S {
        let j = self.at(i);
        // SAFETY: the element is the operand's.
        unsafe { S::of(*self.x.add(line + j), *self.a.add(line + j), j) }
    }

    /// Writes neighbouring elements.
    #[inline(always)]
    unsafe fn store<const N: usize>(&self, at: usize, values: &[MaybeUninit<S::Out>; N]) {
        // SAFETY: the elements are the output's, and nobody else writes them; where it streams, there are the instructions.
        unsafe {
            let to = self.out.add(at);
            match self.streams {
                true => stream_inline(to.cast(), values.as_ptr().cast(), N * size_of::<S::Out>()),
                false => std::ptr::copy_nonoverlapping(values.as_ptr().cast(), to, N),
            }
        }
    }

    /// Joins the rows of a group.
    ///
    /// # Safety
    ///
    /// Its elements are the line's.
    #[inline(always)]
    unsafe fn group(&self, line: usize, first: usize) -> Group<S> {
        let mut x = [S::NONE; GROUP];
        // In the order of memory, and then of the way.
        let lowest = self.at(if self.reverse { first + GROUP - 1 } else { first });
        for (i, x) in x.iter_mut().enumerate() {
            let at = lowest + i;
            // SAFETY: this function's contract.
            *x = unsafe { S::of(*self.x.add(line + at), *self.a.add(line + at), at) };
        }
        if self.reverse {
            x.reverse();
        }
        let mut rows = [S::NONE; ROWS * ROWS];
        for r in 0..ROWS * ROWS {
            for i in r * ROW + 1..(r + 1) * ROW {
                x[i] = x[i - 1].then(x[i]);
            }
            let row = x[r * ROW + ROW - 1];
            rows[r] = if r % ROWS == 0 { row } else { rows[r - 1].then(row) };
        }
        Group { x, rows }
    }

    /// Writes a group, from what is before its branches.
    ///
    /// # Safety
    ///
    /// Its elements are the line's; nobody else writes them.
    #[inline(always)]
    unsafe fn write(&self, line: usize, first: usize, Group { x, rows }: &Group<S>, before: [S; ROWS]) {
        let mut all = *x;
        for r in 0..ROWS * ROWS {
            let branch = before[r / ROWS];
            let start = if r % ROWS == 0 { branch } else { branch.then(rows[r - 1]) };
            for all in &mut all[r * ROW..(r + 1) * ROW] {
                *all = start.then(*all);
            }
        }
        let mut out = [const { MaybeUninit::uninit() }; GROUP];
        for (out, all) in out.iter_mut().zip(all) {
            *out = MaybeUninit::new(all.out());
        }
        if self.reverse {
            out.reverse();
        }
        let lowest = if self.reverse { first + GROUP - 1 } else { first };
        // SAFETY: this function's contract.
        unsafe { self.store(line + self.at(lowest), &out) };
    }

    /// As [`Work::groups`], of states that are joined in order: chunks of a block are gone through side by side, first to know what each comes
    /// to.
    ///
    /// # Safety
    ///
    /// As there.
    #[inline(always)]
    unsafe fn blocks(&self, Groups { line, from, to, start, write, .. }: Groups<S>) -> S {
        let mut all = S::NONE;
        for first in (from..to).step_by(CHUNKS * CHUNK) {
            let mut totals = [S::NONE; CHUNKS];
            for i in 0..CHUNK {
                let mut x = [S::NONE; CHUNKS];
                for (c, x) in x.iter_mut().enumerate() {
                    // SAFETY: this function's contract.
                    *x = unsafe { self.load(line, first + c * CHUNK + i) };
                }
                for (total, x) in totals.iter_mut().zip(x) {
                    *total = total.then(x);
                }
            }
            let mut now = [S::NONE; CHUNKS];
            for (now, total) in now.iter_mut().zip(totals) {
                *now = match start {
                    Some(start) => start.then(all),
                    None => all,
                };
                all = all.then(total);
            }
            for i in 0..if write { CHUNK } else { 0 } {
                let mut x = [S::NONE; CHUNKS];
                for (c, x) in x.iter_mut().enumerate() {
                    // SAFETY: this function's contract.
                    *x = unsafe { self.load(line, first + c * CHUNK + i) };
                }
                for (now, x) in now.iter_mut().zip(x) {
                    *now = now.then(x);
                }
                for (c, now) in now.iter().enumerate() {
                    let to = line + self.at(first + c * CHUNK + i);
                    // SAFETY: this function's contract.
                    unsafe { self.out.add(to).write(now.out()) };
                }
            }
        }
        all
    }

    /// As [`Work::groups`], of states that most elements leave as they are: runs that change nothing have the same written everywhere.
    ///
    /// # Safety
    ///
    /// As there.
    #[inline(always)]
    unsafe fn runs(&self, Groups { line, from, to, start, write, .. }: Groups<S>) -> S {
        let walk = |mut now: S, write: bool| {
            for first in (from..to).step_by(RUN) {
                let lowest = line + self.at(if self.reverse { first + RUN - 1 } else { first });
                // SAFETY: this function's contract.
                let stays = now.stays(unsafe { std::slice::from_raw_parts(self.x.add(lowest), RUN) });
                if stays && !write {
                    continue;
                }
                if stays {
                    let out = std::array::from_fn(|_| MaybeUninit::new(now.out()));
                    // SAFETY: this function's contract.
                    unsafe { self.store::<RUN>(lowest, &out) };
                    continue;
                }
                let mut out = [const { MaybeUninit::uninit() }; RUN];
                for (i, out) in out.iter_mut().enumerate() {
                    // SAFETY: this function's contract.
                    now = now.then(unsafe { self.load(line, first + i) });
                    *out = MaybeUninit::new(now.out());
                }
                if self.reverse {
                    out.reverse();
                }
                if write {
                    // SAFETY: this function's contract.
                    unsafe { self.store(lowest, &out) };
                }
            }
            now
        };
        match start {
            // What the elements alone come to is not what is written of them.
            Some(start) => {
                if write {
                    walk(start, true);
                }
                walk(S::NONE, false)
            }
            None => walk(S::NONE, write),
        }
    }

    /// Goes through groups of a line, from what is before them. Answers with what the elements alone come to.
    ///
    /// # Safety
    ///
    /// The elements are the line's, and begin a piece; nobody else writes them.
    #[inline(always)]
    unsafe fn groups(&self, Groups { line, from, to, start, write, ahead }: Groups<S>) -> S {
        let mut all = S::NONE;
        for first in (from..to).step_by(GROUP) {
            if ahead > 0 {
                let x = self.x.wrapping_add(line + self.at(first));
                let x = if self.reverse { x.wrapping_sub(ahead) } else { x.wrapping_add(ahead) };
                fetch(x.cast(), GROUP * size_of::<S::In>());
            }
            // SAFETY: this function's contract.
            let group = unsafe { self.group(line, first) };
            let [a, b, c, d] = [3, 7, 11, 15].map(|r| group.rows[r]);
            let (ab, cd) = (a.then(b), c.then(d));
            if write {
                let mut before = [all, all.then(a), all.then(ab), all.then(ab.then(c))];
                if let Some(start) = start {
                    for before in &mut before {
                        *before = start.then(*before);
                    }
                }
                // SAFETY: this function's contract.
                unsafe { self.write(line, first, &group, before) };
            }
            all = all.then(ab.then(cd));
        }
        all
    }

    /// A piece of a line, from what is before it. Answers with what its elements alone come to; of the last piece, that is not asked.
    ///
    /// # Safety
    ///
    /// The elements are the line's; nobody else writes them.
    unsafe fn piece(&self, groups: GroupsFn<S>, piece: Groups<S>) -> S {
        let Groups { line, from, to, start, write, .. } = piece;
        let unit = match (S::TREE, S::SETTLES) {
            (true, _) => GROUP,
            (false, true) => RUN,
            (false, false) => CHUNKS * CHUNK,
        };
        let whole = from + (to - from) / unit * unit;
        // SAFETY: this function's contract.
        unsafe {
            let mut all = S::NONE;
            if whole > from {
                all = match S::groups(self, Groups { to: whole, ..piece }) {
                    Some(all) => all,
                    None => groups(self, Groups { to: whole, ..piece }),
                };
            }
            if write && whole < to {
                let mut now = start.map_or(all, |start| start.then(all));
                for i in whole..to {
                    now = now.then(self.load(line, i));
                    self.out.add(line + self.at(i)).write(now.out());
                }
            }
            all
        }
    }

    /// A whole line, by pieces.
    ///
    /// # Safety
    ///
    /// The line is there; nobody else writes it.
    unsafe fn line(&self, groups: GroupsFn<S>, row: usize) {
        let length = self.lines.length;
        let mut start = None;
        for from in (0..length).step_by(PIECE) {
            let to = (from + PIECE).min(length);
            // SAFETY: this function's contract.
            let all = unsafe {
                self.piece(groups, Groups { line: row * length, from, to, start, write: true, ahead: 0 })
            };
            start = Some(start.map_or(all, |start: S| start.then(all)));
        }
    }

    /// Some lines beside each other, from what is before the elements.
    ///
    /// # Safety
    ///
    /// The elements are there; nobody else writes them.
    #[inline(always)]
    unsafe fn columns(
        &self,
        Columns { row, lines: [left, right], elements, start, now, write, ahead }: Columns<S>,
    ) {
        let Lines { length, inner, .. } = self.lines;
        let (width, height) = TILE;
        for first in (elements[0]..elements[1]).step_by(height) {
            let last = (first + height).min(elements[1]);
            // Where steps are long, pieces after the first are left to the plain loop, which is a third of the code.
            let is_tiled = S::TREE || start.is_none();
            let whole = if is_tiled { left + (right - left) / width * width } else { left };
            for c in (left..whole).step_by(width) {
                let now = &mut now[c - left..][..TILE.0];
                let start = start.map(|start| &start[c - left..][..TILE.0]);
                let at = |i| (row * length + self.at(i)) * inner + c;
                if ahead > 0 {
                    for i in first..last {
                        let x = self.x.wrapping_add(at(i));
                        let x = if self.reverse { x.wrapping_sub(ahead) } else { x.wrapping_add(ahead) };
                        fetch(x.cast(), TILE.0 * size_of::<S::In>());
                    }
                }
                // SAFETY: this function's contract.
                if unsafe { S::tile(self, Tile { at: at(first), rows: last - first, now, start, write }) } {
                    continue;
                }
                let mut state = [S::NONE; TILE.0];
                state.copy_from_slice(now);
                for i in first..last {
                    let (j, at) = (self.at(i), at(i));
                    for (k, state) in state.iter_mut().enumerate() {
                        // SAFETY: this function's contract.
                        *state = state.then(unsafe { S::of(*self.x.add(at + k), *self.a.add(at + k), j) });
                    }
                    if write {
                        let mut out = [const { MaybeUninit::uninit() }; TILE.0];
                        match start {
                            Some(start) if S::TREE => {
                                for ((out, state), start) in out.iter_mut().zip(state).zip(start) {
                                    *out = MaybeUninit::new(start.then(state).out());
                                }
                            }
                            _ => {
                                for (out, state) in out.iter_mut().zip(state) {
                                    *out = MaybeUninit::new(state.out());
                                }
                            }
                        }
                        // SAFETY: this function's contract.
                        unsafe { self.store(at, &out) };
                    }
                }
                now.copy_from_slice(&state);
            }
            for i in first..last {
                let j = self.at(i);
                let base = (row * length + j) * inner;
                for c in whole..right {
                    let state = &mut now[c - left];
                    // SAFETY: this function's contract.
                    unsafe {
                        *state = state.then(S::of(*self.x.add(base + c), *self.a.add(base + c), j));
                        if write {
                            let all = start.map_or(*state, |start| start[c - left].then(*state));
                            self.out.add(base + c).write(all.out());
                        }
                    }
                }
            }
        }
    }

    /// All elements of some lines beside each other, by pieces of so many elements.
    ///
    /// # Safety
    ///
    /// The lines are there; nobody else writes them.
    unsafe fn beside(
        &self,
        walk: ColumnsFn<S>,
        row: usize,
        lines: [usize; 2],
        piece: usize,
        states: [&mut [S]; 2],
    ) {
        let length = self.lines.length;
        let [now, before] = states.map(|states| &mut states[..lines[1] - lines[0]]);
        now.fill(S::NONE);
        for from in (0..length).step_by(piece) {
            let elements = [from, (from + piece).min(length)];
            let start = (from > 0).then_some(&*before);
            // SAFETY: this function's contract.
            unsafe { walk(self, Columns { row, lines, elements, start, now, write: true, ahead: 0 }) };
            if elements[1] < length {
                for (before, now) in before.iter_mut().zip(&mut *now) {
                    let all = std::mem::replace(now, S::NONE);
                    *before = if from == 0 { all } else { before.then(all) };
                }
            }
        }
    }
}

/// Who works on the lines of a call.
struct Threads {
    /// Whether all is done by the thread that calls.
    alone: bool,
    /// Whether there are too few lines, of those that are apart, for all threads.
    few: bool,
    streams: bool,
}

impl Threads {
    fn of(lines: Lines, streams: bool) -> Threads {
        let Lines { outer, length, inner } = lines;
        let alone = outer * length * inner < PARALLEL || num_threads() == 1;
        Threads { alone, few: !alone && outer < 2 * num_threads(), streams }
    }

    fn each(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let task = |i: usize| {
            task(i);
            if self.streams {
                finish();
            }
        };
        match self.alone {
            true => (0..tasks).for_each(task),
            false => parallel(tasks, &task),
        }
    }
}

/// Goes through all lines.
///
/// # Safety
///
/// The addresses are valid for all elements, which nobody else writes.
pub(super) unsafe fn run<S: State>(work: Work<S>) {
    let Lines { outer, length, inner } = work.lines;
    if outer * length * inner == 0 {
        return;
    }
    let threads = Threads::of(work.lines, work.streams);
    // SAFETY: this function's contract.
    unsafe {
        match inner {
            1 => one_by_one(&work, &threads),
            _ => side_by_side(&work, &threads),
        }
    }
}

/// Goes through lines that lie beside each other, which are taken together.
///
/// # Safety
///
/// As [`run`].
unsafe fn side_by_side<S: State>(work: &Work<S>, threads: &Threads) {
    let Lines { outer, length, inner } = work.lines;
    let columns = by_isa!(narrow isa(), ColumnsFn<S>, fn<S: State>(work: &Work<S>, columns: Columns<S>) {
        work.columns(columns)
    }, [S]);
    let piece = if inner < MANY { (BESIDE.0 / inner).max(BESIDE.1) } else { length };
    let pieces = length.div_ceil(piece);
    let narrow = outer * inner.div_ceil(TILE.0) < num_threads();
    if threads.few && narrow && pieces > 1 {
        let pass = |write: bool| {
            move |row: usize, piece_at: usize, start: Option<&[S]>, now: &mut [S]| {
                let elements = [piece_at * piece, ((piece_at + 1) * piece).min(length)];
                let ahead = if write { piece * inner * num_threads() } else { 0 };
                // SAFETY: pieces are disjoint.
                unsafe {
                    columns(work, Columns { row, lines: [0, inner], elements, start, now, write, ahead })
                };
                if work.streams && write {
                    finish();
                }
            }
        };
        return Chain::run(outer, pieces, inner, &pass(false), &pass(true));
    }
    // As wide as the cache allows, if that leaves something for every thread.
    let share = if threads.few { inner.div_ceil(num_threads()).next_multiple_of(TILE.0) } else { COLUMNS };
    let width = share.min(COLUMNS);
    let tiles = inner.div_ceil(width);
    // Short ones are taken several at a time.
    let bundle = (PIECE / (length * inner).min(PIECE)).min(outer.div_ceil(4)).max(1);
    threads.each(outer.div_ceil(bundle) * tiles, &|task| {
        let (first, left) = (task / tiles * bundle, task % tiles * width);
        let (mut now, mut before) = ([S::NONE; COLUMNS], [S::NONE; COLUMNS]);
        for row in first..(first + bundle).min(outer) {
            let lines = [left, (left + width).min(inner)];
            // SAFETY: tiles are disjoint.
            unsafe { work.beside(columns, row, lines, piece, [&mut now, &mut before]) };
        }
    });
}

/// Goes through lines whose elements lie side by side.
///
/// # Safety
///
/// As [`run`].
unsafe fn one_by_one<S: State>(work: &Work<S>, threads: &Threads) {
    let Lines { outer, length, .. } = work.lines;
    let groups: GroupsFn<S> = match (S::TREE, S::WIDE) {
        (true, false) => Work::<S>::groups,
        (true, true) => {
            by_isa!(narrow isa(), GroupsFn<S>, fn<S: State>(work: &Work<S>, groups: Groups<S>) -> S {
            work.groups(groups)
        }, [S])
        }
        (false, false) => Work::<S>::blocks,
        (false, true) => {
            by_isa!(narrow isa(), GroupsFn<S>, fn<S: State>(work: &Work<S>, groups: Groups<S>) -> S {
            if S::SETTLES { work.runs(groups) } else { work.blocks(groups) }
        }, [S])
        }
    };
    let pieces = length.div_ceil(PIECE);
    if threads.few && pieces > 1 {
        let pass = |write: bool| {
            move |row: usize, piece: usize, start: Option<&[S]>, now: &mut [S]| {
                let (from, to) = (piece * PIECE, ((piece + 1) * PIECE).min(length));
                let start = start.map(|start| start[0]);
                // What this thread is likely to have next.
                let ahead = if write { PIECE * num_threads() } else { 0 };
                // SAFETY: pieces are disjoint.
                now[0] = unsafe {
                    work.piece(groups, Groups { line: row * length, from, to, start, write, ahead })
                };
                if work.streams && write {
                    finish();
                }
            }
        };
        return Chain::run(outer, pieces, 1, &pass(false), &pass(true));
    }
    // Short lines are taken several at a time.
    let lines = PIECE.div_ceil(length).min(outer.div_ceil(4)).max(1);
    threads.each(outer.div_ceil(lines), &|task| {
        for row in task * lines..((task + 1) * lines).min(outer) {
            // SAFETY: lines are disjoint.
            unsafe { work.line(groups, row) }
        }
    });
}
