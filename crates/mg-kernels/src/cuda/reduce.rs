//! Reductions in registers: accumulators, their joining across the threads of a warp and of a block, and their results.

use super::capability::AMPERE;
use super::lanes::{Pred, select};
use super::ptx::{Kind, Op, Opnd, assign, bits_of, capability, copy, imm, imm64, ins, op1, op2, op3, reg};
use super::values::{as_number, cast, kind_of, round};
use crate::frame::internal;
use crate::program::ReduceKind;
use mg_device::{DType, Result};

/// A reduction of elements of a dtype, and how it is accumulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reduction {
    pub(crate) kind: ReduceKind,
    pub(crate) dtype: DType,
    /// Sums of floats in f64.
    pub(crate) wide: bool,
}

/// A partial result: the value, and for index reductions where it was found (−1: nothing yet).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acc {
    pub(crate) value: Op,
    pub(crate) index: Option<Op>,
}

/// How instructions name numbers of a dtype in such registers.
fn type_of(kind: Kind, dtype: DType) -> &'static str {
    match kind {
        Kind::F => "f32",
        Kind::G => "f64",
        Kind::D if dtype == DType::U64 => "u64",
        Kind::D => "s64",
        Kind::R | Kind::P | Kind::H => "s32",
    }
}

/// Joins neighbours, then neighbours of neighbours, until one is left.
fn pairwise(mut all: Vec<Acc>, join: impl Fn(Acc, Acc) -> Acc) -> Option<Acc> {
    while all.len() > 1 {
        all = all.chunks(2).map(|pair| if let [a, b] = pair { join(*a, *b) } else { pair[0] }).collect();
    }
    all.pop()
}

impl Reduction {
    /// Numbers that are left of it for others to join: a value, and where that is.
    pub(crate) fn words(self) -> usize {
        if self.kind.is_arg() { 2 } else { 1 }
    }

    /// The register of the value.
    pub(crate) fn register(self) -> Kind {
        match self.kind {
            ReduceKind::Sum | ReduceKind::Prod => match kind_of(self.dtype) {
                Kind::F if self.wide => Kind::G,
                Kind::F => Kind::F,
                Kind::G => Kind::G,
                Kind::D | Kind::R | Kind::H | Kind::P => Kind::D,
            },
            ReduceKind::Max | ReduceKind::Min | ReduceKind::ArgMax | ReduceKind::ArgMin => {
                match kind_of(self.dtype) {
                    Kind::P => Kind::R,
                    kind @ (Kind::R | Kind::D | Kind::F | Kind::G | Kind::H) => kind,
                }
            }
        }
    }

    /// What nothing reduces to.
    pub(crate) fn neutral(self) -> Op {
        // Truth values are bytes here.
        let (least, greatest) = self.dtype.int_range().unwrap_or((0, 255));
        // The low bits, as registers have them.
        let whole = self.kind.neutral([0, 1, least, greatest]) as i64;
        let float = self.kind.neutral_float();
        match self.register() {
            Kind::F => Op(Kind::F, Opnd::Imm((float as f32).to_bits().into())),
            Kind::G => Op(Kind::G, Opnd::Imm(float.to_bits())),
            Kind::D => imm64(whole),
            Kind::R | Kind::H | Kind::P => imm(whole),
        }
    }

    /// For an index reduction, the reduction to the value that is to be found; none where that takes more than an instruction.
    pub(crate) fn extreme(self) -> Option<Reduction> {
        let kind = match self.kind {
            ReduceKind::ArgMax => ReduceKind::Max,
            ReduceKind::ArgMin => ReduceKind::Min,
            ReduceKind::Sum | ReduceKind::Prod | ReduceKind::Max | ReduceKind::Min => return None,
        };
        (self.register() == Kind::F && capability() >= AMPERE).then_some(Reduction { kind, ..self })
    }

    /// A fresh accumulator, in registers of its own.
    pub(crate) fn start(self) -> Acc {
        Acc { value: copy(self.neutral()), index: self.kind.is_arg().then(|| copy(imm64(-1))) }
    }

    /// An element as a partial result; `index` is for index reductions.
    pub(crate) fn element(self, value: Op, index: Option<Op>) -> Acc {
        let value = match (self.register(), value.0) {
            (Kind::G, Kind::F) => op1(Kind::G, "cvt.f64.f32", value),
            (Kind::D, Kind::P) => cast(DType::Bool, DType::I64, value),
            (Kind::D, Kind::R) => op1(Kind::D, "cvt.s64.s32", value),
            (Kind::R, Kind::P) => as_number(value),
            (to, from) => {
                debug_assert_eq!(to, from, "an element that is no partial result yet");
                value
            }
        };
        Acc { value, index: if self.kind.is_arg() { index } else { None } }
    }

    /// The neutral element where the predicate does not hold.
    pub(crate) fn masked(self, acc: Acc, p: Option<Op>) -> Acc {
        let Some(p) = p else { return acc };
        Acc {
            value: select(Pred(p), acc.value, self.neutral()),
            index: acc.index.map(|i| select(Pred(p), i, imm64(-1))),
        }
    }

    /// The same partial result in f64, where sums are to go on so.
    pub(crate) fn widened(self, acc: Acc) -> Acc {
        match (self.kind, acc.value.0) {
            (ReduceKind::Sum | ReduceKind::Prod, Kind::F) => {
                Acc { value: op1(Kind::G, "cvt.f64.f32", acc.value), index: acc.index }
            }
            (ReduceKind::Sum | ReduceKind::Prod, Kind::R | Kind::D | Kind::G | Kind::P | Kind::H) => acc,
            (ReduceKind::Max | ReduceKind::Min | ReduceKind::ArgMax | ReduceKind::ArgMin, _) => acc,
        }
    }

    /// Joins two partial results. It does not matter which comes first: of equal values the earlier index stays, and
    /// sums are of two.
    pub(crate) fn join(self, a: Acc, b: Acc) -> Acc {
        let (x, y) = (a.value, b.value);
        let kind = x.0;
        let t = type_of(kind, self.dtype);
        let is_float = matches!(kind, Kind::F | Kind::G);
        let two = |name: &str| op2(kind, &format!("{name}.{t}"), x, y);
        let test = |name: &str, a: Op, b: Op| op2(Kind::P, &format!("setp.{name}.{t}"), a, b);
        let value = match self.kind {
            ReduceKind::Sum if is_float => two("add.rn"),
            ReduceKind::Sum => two("add"),
            ReduceKind::Prod if is_float => two("mul.rn"),
            ReduceKind::Prod => two("mul.lo"),
            ReduceKind::Max | ReduceKind::Min if !is_float => {
                two(if self.kind == ReduceKind::Max { "max" } else { "min" })
            }
            // The greater, or a NaN: of zeros the greater is the positive one.
            ReduceKind::Max if kind == Kind::F && capability() >= AMPERE => two("max.NaN"),
            ReduceKind::Min if kind == Kind::F && capability() >= AMPERE => two("min.NaN"),
            ReduceKind::Max | ReduceKind::Min => {
                let better = test(if self.kind == ReduceKind::Max { "gt" } else { "lt" }, y, x);
                let nan = test("nan", y, y);
                let wins = op2(Kind::P, "or.pred", better, nan);
                select(Pred(wins), y, x)
            }
            ReduceKind::ArgMax | ReduceKind::ArgMin => {
                let (Some(i), Some(j)) = (a.index, b.index) else { return a };
                let mut better = test(if self.kind == ReduceKind::ArgMax { "gt" } else { "lt" }, y, x);
                let mut equal = test("eq", y, x);
                if is_float {
                    // The first NaN wins over everything.
                    let (nan_x, nan_y) = (test("nan", x, x), test("nan", y, y));
                    let only_y = op1(Kind::P, "not.pred", nan_x);
                    let only_y = op2(Kind::P, "and.pred", only_y, nan_y);
                    better = op2(Kind::P, "or.pred", better, only_y);
                    let both = op2(Kind::P, "and.pred", nan_x, nan_y);
                    equal = op2(Kind::P, "or.pred", equal, both);
                }
                let earlier = op2(Kind::P, "setp.lt.s64", j, i);
                let tie = op2(Kind::P, "and.pred", equal, earlier);
                let wins = op2(Kind::P, "or.pred", better, tie);
                let none = op2(Kind::P, "setp.lt.s64", i, imm64(0));
                let wins = op2(Kind::P, "or.pred", wins, none);
                let some = op2(Kind::P, "setp.ge.s64", j, imm64(0));
                let wins = Pred(op2(Kind::P, "and.pred", wins, some));
                return Acc { value: select(wins, y, x), index: Some(select(wins, j, i)) };
            }
        };
        Acc { value, index: None }
    }

    /// Adds to an accumulator.
    pub(crate) fn add_to(self, acc: &Acc, more: Acc) {
        let more = if acc.value.0 != more.value.0 { self.widened(more) } else { more };
        let sum = self.join(*acc, more);
        assign(acc.value, sum.value);
        if let (Some(d), Some(i)) = (acc.index, sum.index) {
            assign(d, i);
        }
    }

    /// As [`Reduction::join`], of partial results that both have elements, those of the second behind those of the first: an index is as much as
    /// it takes to find the value.
    fn join_following(self, a: Acc, b: Acc) -> Acc {
        let name = match self.kind {
            ReduceKind::ArgMax => "gt",
            ReduceKind::ArgMin => "lt",
            ReduceKind::Sum | ReduceKind::Prod | ReduceKind::Max | ReduceKind::Min => return self.join(a, b),
        };
        let (x, y) = (a.value, b.value);
        let wins = match type_of(x.0, self.dtype) {
            // Greater, or a NaN behind a number.
            t @ ("f32" | "f64") => {
                let number = op2(Kind::P, &format!("setp.num.{t}"), x, x);
                op3(Kind::P, &format!("setp.{name}u.and.{t}"), y, x, number)
            }
            t => op2(Kind::P, &format!("setp.{name}.{t}"), y, x),
        };
        let of = |y: Op, x: Op| select(Pred(wins), y, x);
        let index = a.index.zip(b.index).map(|(i, j)| of(j, i));
        Acc { value: of(y, x), index }
    }

    /// Joins neighbours, then neighbours of neighbours, until one is left.
    pub(crate) fn tree(self, all: Vec<Acc>) -> Option<Acc> {
        pairwise(all, |a, b| self.join(a, b))
    }

    /// As [`Reduction::tree`], of partial results that all have elements, in their order.
    pub(crate) fn tree_in_order(self, all: Vec<Acc>) -> Option<Acc> {
        pairwise(all, |a, b| self.join_following(a, b))
    }

    /// Joins the partial results of `width` neighbouring threads of a warp (a power of two); all get the result.
    pub(crate) fn across_warp(self, mut acc: Acc, width: u32) -> Acc {
        let mut offset = width / 2;
        while offset > 0 {
            acc = self.join(acc, self.of_lane(acc, offset));
            offset /= 2;
        }
        acc
    }

    /// That of the thread of the warp whose number differs by `offset`, a power of two.
    pub(crate) fn of_lane(self, acc: Acc, offset: u32) -> Acc {
        Acc { value: shuffle(acc.value, offset), index: acc.index.map(|i| shuffle(i, offset)) }
    }

    /// A partial result from shared memory, of the kind that `like` is.
    pub(crate) fn load_shared(self, like: Acc, at: Op) -> Acc {
        let value = reg(like.value.0);
        ins!("ld.shared.{} {value}, [{at}]", bits_of(like.value.0));
        let index = like.index.map(|_| {
            let i = reg(Kind::D);
            ins!("ld.shared.b64 {i}, [{at}+8]");
            i
        });
        Acc { value, index }
    }

    /// A partial result to global memory: 16 bytes.
    pub(crate) fn store_global(self, acc: Acc, at: Op, p: Option<Op>) {
        let guard = p.map_or(String::new(), |p| format!("@{p} "));
        let value = if matches!(acc.value.1, Opnd::Imm(_)) { copy(acc.value) } else { acc.value };
        ins!("{guard}st.global.{} [{at}], {value}", bits_of(value.0));
        if let Some(i) = acc.index {
            ins!("{guard}st.global.b64 [{at}+8], {i}");
        }
    }

    /// The reverse of [`Reduction::store_global`], of what other blocks of the launch stored; neutral where the predicate
    /// does not hold.
    pub(crate) fn load_global(self, at: Op, p: Op) -> Acc {
        let value = copy(self.neutral());
        ins!("@{p} ld.global.cg.{} {value}, [{at}]", bits_of(value.0));
        let index = self.kind.is_arg().then(|| {
            let i = copy(imm64(-1));
            ins!("@{p} ld.global.cg.b64 {i}, [{at}+8]");
            i
        });
        Acc { value, index }
    }

    /// The result, as a value of `dtype`.
    pub(crate) fn finish(self, acc: Acc, dtype: DType) -> Result<Op> {
        if self.kind.is_arg() {
            let index = acc.index.ok_or_else(|| internal("an index reduction without an index"))?;
            return Ok(op2(Kind::D, "max.s64", index, imm64(0)));
        }
        let value = acc.value;
        Ok(match (value.0, kind_of(dtype)) {
            (Kind::G, Kind::F) => round(dtype, cast(DType::F64, dtype, value)),
            (Kind::F, Kind::F) => round(dtype, value),
            (Kind::F, Kind::G) => cast(DType::F32, DType::F64, value),
            (Kind::R, Kind::P) => op2(Kind::P, "setp.ne.s32", value, imm(0)),
            (own, wanted) if own == wanted => value,
            (own, wanted) => {
                return Err(internal(&format!("a partial result in {own:?} for a value in {wanted:?}")));
            }
        })
    }
}

/// Joins partial results of a block of `threads` (a multiple of 32), several at a time; all threads get the results.
/// `shared` is the offset of [`SHARED`] bytes for each, which nothing else uses since the last barrier.
pub(crate) fn across_block(all: &[(Reduction, Acc)], threads: u32, shared: u32, tid: Op) -> Vec<Acc> {
    let within: Vec<Acc> = all.iter().map(|(r, acc)| r.across_warp(*acc, 32)).collect();
    let warps = threads / 32;
    if warps <= 1 || all.is_empty() {
        return within;
    }
    let lane = op2(Kind::R, "and.b32", tid, imm(31));
    let warp = op2(Kind::R, "shr.u32", tid, imm(5));
    let first = op2(Kind::P, "setp.eq.s32", lane, imm(0));
    let base = shared_address(shared);
    let mine = op3(Kind::R, "mad.lo.u32", warp, imm(16), base);
    for (i, acc) in within.iter().enumerate() {
        let at = op2(Kind::R, "add.s32", mine, imm(i as i64 * SHARED as i64));
        store_shared(*acc, at, Some(first));
    }
    ins!("bar.sync 0");
    // Each group of as many lanes as there are warps joins them all.
    let width = warps.next_power_of_two();
    let slot = op2(Kind::R, "and.b32", lane, imm(width as i64 - 1));
    let p = op2(Kind::P, "setp.lt.u32", slot, imm(warps as i64));
    let slot = select(Pred(p), slot, imm(0));
    let theirs = op3(Kind::R, "mad.lo.u32", slot, imm(16), base);
    all.iter()
        .zip(&within)
        .enumerate()
        .map(|(i, ((reduction, _), acc))| {
            let at = op2(Kind::R, "add.s32", theirs, imm(i as i64 * SHARED as i64));
            let loaded = reduction.load_shared(*acc, at);
            let mine = if warps == width { loaded } else { reduction.masked(loaded, Some(p)) };
            reduction.across_warp(mine, width)
        })
        .collect()
}

/// Waits for the other blocks of the cluster; what they wrote to their shared memory before is seen afterwards.
pub(crate) fn meet_cluster() {
    ins!("barrier.cluster.arrive.release.aligned");
    ins!("barrier.cluster.wait.acquire.aligned");
}

/// Joins partial results of blocks of a cluster, which all threads of a block have, in the order of blocks; all threads get the
/// results. `shared` is the offset of 16 bytes for each, which are used once.
pub(crate) fn across_cluster(all: &[(Reduction, Acc)], blocks: usize, shared: u32, tid: Op) -> Vec<Acc> {
    let base = shared_address(shared);
    let first = op2(Kind::P, "setp.eq.s32", tid, imm(0));
    for (i, (_, acc)) in all.iter().enumerate() {
        let at = op2(Kind::R, "add.s32", base, imm(i as i64 * 16));
        store_shared(*acc, at, Some(first));
    }
    meet_cluster();
    let mut loaded: Vec<Vec<Acc>> = all.iter().map(|_| vec![]).collect();
    for rank in 0..blocks {
        let theirs = op2(Kind::R, "mapa.shared::cluster.u32", base, imm(rank as i64));
        for (i, (_, acc)) in all.iter().enumerate() {
            let value = reg(acc.value.0);
            ins!("ld.shared::cluster.{} {value}, [{theirs}+{}]", bits_of(value.0), i * 16);
            let index = acc.index.map(|_| {
                let index = reg(Kind::D);
                ins!("ld.shared::cluster.b64 {index}, [{theirs}+{}]", i * 16 + 8);
                index
            });
            loaded[i].push(Acc { value, index });
        }
    }
    all.iter().zip(loaded).filter_map(|((reduction, _), loaded)| reduction.tree(loaded)).collect()
}

/// Bytes of shared memory that a reduction over a block takes.
pub(crate) const SHARED: u32 = 32 * 16;

fn shuffle(a: Op, offset: u32) -> Op {
    let a = if matches!(a.1, Opnd::Imm(_)) { copy(a) } else { a };
    match a.0 {
        Kind::G | Kind::D => {
            let (low, high) = (reg(Kind::R), reg(Kind::R));
            ins!("mov.b64 {{{low}, {high}}}, {a}");
            let (low, high) = (shuffle(low, offset), shuffle(high, offset));
            let d = reg(a.0);
            ins!("mov.b64 {d}, {{{low}, {high}}}");
            d
        }
        kind @ (Kind::R | Kind::F | Kind::P | Kind::H) => {
            let d = reg(kind);
            ins!("shfl.sync.bfly.b32 {d}, {a}, {offset}, 31, -1");
            d
        }
    }
}

/// The address of an offset in the kernel's shared memory.
pub(crate) fn shared_address(offset: u32) -> Op {
    let d = reg(Kind::R);
    ins!("mov.u32 {d}, sm");
    if offset == 0 { d } else { op2(Kind::R, "add.s32", d, imm(offset as i64)) }
}

/// A partial result to shared memory: 16 bytes.
pub(crate) fn store_shared(acc: Acc, at: Op, p: Option<Op>) {
    let guard = p.map_or(String::new(), |p| format!("@{p} "));
    let value = if matches!(acc.value.1, Opnd::Imm(_)) { copy(acc.value) } else { acc.value };
    ins!("{guard}st.shared.{} [{at}], {value}", bits_of(value.0));
    if let Some(i) = acc.index {
        ins!("{guard}st.shared.b64 [{at}+8], {i}");
    }
}
