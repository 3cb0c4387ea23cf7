//! From noted instructions to machine code: a loop over 16 elements at a time, all values in registers.
//!
//! Registers are given out in one pass over the straight-line body: a value's register is free after its last use, and
//! where none is free the value that is used furthest ahead goes to the stack (L. A. Belady, "A study of replacement
//! algorithms", 1966, which for a single block is optimal up to stores).

use super::asm::*;
use super::lane::Id;
use crate::cpu::compile::Reg;
use std::collections::HashMap;

/// Which parts of a product and sum are taken with the other sign.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Signs {
    pub(super) product: bool,
    pub(super) addend: bool,
}

/// An instruction over elements; operands are earlier instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Inst {
    /// An element of a tile's register.
    Load(Reg),
    /// As `Load`, of a register of truth values.
    LoadMask(Reg),
    /// A row's cell, for each of its elements.
    LoadRow(Reg),
    Const(u32),
    Add(Id, Id),
    Sub(Id, Id),
    Mul(Id, Id),
    Div(Id, Id),
    /// The first times 2 to the power of the second, a whole number.
    Scale(Id, Id),
    Sqrt(Id),
    Fma(Id, Id, Id, Signs),
    /// The second where either is a NaN, or where both are zeros.
    Max(Id, Id),
    Min(Id, Id),
    And(Id, Id),
    Or(Id, Id),
    Xor(Id, Id),
    AddWord(Id, Id),
    SubWord(Id, Id),
    MulWord(Id, Id),
    ShiftLeft(Id, u8),
    ShiftRight(Id, u8),
    ShiftRightSigned(Id, u8),
    Less(Id, Id),
    LessEqual(Id, Id),
    Equal(Id, Id),
    IsNan(Id),
    LessWord(Id, Id),
    EqualWord(Id, Id),
    Both(Id, Id),
    Either(Id, Id),
    Unlike(Id, Id),
    Not(Id),
    Select(Id, Id, Id),
    Store(Reg, Id),
    StoreMask(Reg, Id),
    /// As `Store`, past the caches where the address allows.
    Stream(Reg, Id),
    /// Where the mask holds for any element, these elements are computed by the other body.
    Leave(Id),
}

impl Inst {
    fn args(self) -> ([Id; 3], usize) {
        use Inst::*;
        match self {
            Load(_) | LoadMask(_) | LoadRow(_) | Const(_) => ([0; 3], 0),
            Sqrt(a) | ShiftLeft(a, _) | ShiftRight(a, _) | ShiftRightSigned(a, _) | IsNan(a) | Not(a) => {
                ([a, 0, 0], 1)
            }
            Store(_, a) | StoreMask(_, a) | Stream(_, a) | Leave(a) => ([a, 0, 0], 1),
            Fma(a, b, c, _) | Select(a, b, c) => ([a, b, c], 3),
            Add(a, b)
            | Sub(a, b)
            | Mul(a, b)
            | Div(a, b)
            | Scale(a, b)
            | Max(a, b)
            | Min(a, b)
            | And(a, b)
            | Or(a, b)
            | Xor(a, b)
            | AddWord(a, b)
            | SubWord(a, b)
            | MulWord(a, b)
            | Less(a, b)
            | LessEqual(a, b)
            | Equal(a, b)
            | LessWord(a, b)
            | EqualWord(a, b)
            | Both(a, b)
            | Either(a, b)
            | Unlike(a, b) => ([a, b, 0], 2),
        }
    }

    fn is_mask(self) -> bool {
        use Inst::*;
        matches!(
            self,
            LoadMask(_)
                | Less(..)
                | LessEqual(..)
                | Equal(..)
                | IsNan(_)
                | LessWord(..)
                | EqualWord(..)
                | Both(..)
                | Either(..)
                | Unlike(..)
                | Not(_)
        )
    }

    /// The tile's register that it reads or writes.
    pub(super) fn reg(self) -> Option<Reg> {
        use Inst::*;
        match self {
            Load(r) | LoadMask(r) | LoadRow(r) => Some(r),
            Store(r, _) | StoreMask(r, _) | Stream(r, _) => Some(r),
            Const(_) | Sqrt(_) | ShiftLeft(..) | ShiftRight(..) | ShiftRightSigned(..) | IsNan(_)
            | Leave(_) | Not(_) | Fma(..) | Max(..) | Min(..) | Select(..) | Add(..) | Sub(..) | Mul(..)
            | Div(..) | Scale(..) | And(..) | Or(..) | Xor(..) | AddWord(..) | SubWord(..) | MulWord(..)
            | Less(..) | LessEqual(..) | Equal(..) | LessWord(..) | EqualWord(..) | Both(..) | Either(..)
            | Unlike(..) => None,
        }
    }
}

/// The mask of the loop's rest.
const REST: K = 7;
/// General registers that hold addresses of tile registers.
const ADDRESSES: [Gpr; 9] = [Gpr(8), Gpr(9), Gpr(10), Gpr(11), RBX, Gpr(12), Gpr(13), Gpr(14), Gpr(15)];
const SAVED: [Gpr; 5] = [RBX, Gpr(12), Gpr(13), Gpr(14), Gpr(15)];
const SLOT: usize = 64;

/// Where a value is.
#[derive(Clone, Copy, Default)]
struct Place {
    register: Option<u8>,
    slot: Option<usize>,
}

/// What one pass over the body keeps.
struct Body<'a> {
    asm: Asm,
    insts: &'a [Inst],
    /// Positions at which each value is used, the last first.
    uses: Vec<Vec<usize>>,
    places: Vec<Place>,
    free: Vec<Zmm>,
    free_masks: Vec<K>,
    slots: usize,
    pool: Vec<u32>,
    words: HashMap<u32, u16>,
    addresses: HashMap<Reg, Gpr>,
    /// What a store or a jump depends on.
    needed: Vec<bool>,
    masked: bool,
    streams: bool,
    /// Jumps to the other body.
    leaves: Vec<usize>,
}

/// The code of a loop over elements, to be called as [`super::Call`]; `None` where it needs more masks than there are.
/// `streams`: what is to be streamed lies at addresses that allow it. `usual`: what most elements come to, if that is less; it leaves where
/// an element is none of them.
pub(super) fn code(insts: &[Inst], usual: Option<&[Inst]>, streams: bool) -> Option<Vec<u8>> {
    let mut regs: Vec<Reg> = vec![];
    for reg in insts.iter().filter_map(|i| i.reg()) {
        if !regs.contains(&reg) {
            regs.push(reg);
        }
    }
    let addresses = regs.iter().zip(ADDRESSES).map(|(&r, g)| (r, g)).collect();
    let mut body = Body {
        asm: Asm::default(),
        insts: usual.unwrap_or(insts),
        uses: vec![],
        places: vec![],
        free: vec![],
        free_masks: vec![],
        slots: 0,
        pool: vec![1],
        words: HashMap::from([(1, 0)]),
        addresses,
        needed: needed(usual.unwrap_or(insts)),
        masked: false,
        streams,
        leaves: vec![],
    };
    // Arguments: rdi the table of addresses, rsi the first element, rdx the end, rcx the row.
    body.asm.push(RBP);
    body.asm.raw(&[0x48, 0x89, 0xe5]); // mov rbp, rsp
    SAVED.iter().for_each(|&r| body.asm.push(r));
    body.asm.raw(&[0x48, 0x81, 0xec]); // sub rsp, frame
    let frame_at = body.asm.here();
    body.asm.raw(&[0; 4]);
    body.asm.raw(&[0x48, 0x83, 0xe4, 0xc0]); // and rsp, -64
    for (reg, gpr) in sorted(&body.addresses) {
        body.asm.load_pointer(gpr, RDI, reg as i32 * 8);
    }
    let top = body.asm.here();
    body.asm.raw(&[0x48, 0x8d, 0x46, 16]); // lea rax, [rsi + 16]
    body.asm.raw(&[0x48, 0x39, 0xd0]); // cmp rax, rdx
    let to_rest = body.asm.jump(&[0x0f, 0x87]); // ja
    body.write(false)?;
    body.asm.raw(&[0x48, 0x83, 0xc6, 16]); // add rsi, 16
    let again = body.asm.jump(&[0xe9]);
    body.asm.land(again, top);
    if usual.is_some() {
        let other = body.asm.here();
        for from in std::mem::take(&mut body.leaves) {
            body.asm.land(from, other);
        }
        (body.insts, body.needed) = (insts, needed(insts));
        body.write(false)?;
        body.asm.raw(&[0x48, 0x83, 0xc6, 16]); // add rsi, 16
        let again = body.asm.jump(&[0xe9]);
        body.asm.land(again, top);
    }
    let rest = body.asm.here();
    body.asm.land(to_rest, rest);
    // Elements left: rcx is needed for the shift, and kept in rdi, which only far addresses read.
    body.asm.raw(&[0x48, 0x29, 0xf2]); // sub rdx, rsi
    let done = body.asm.jump(&[0x0f, 0x86]); // jbe
    body.asm.raw(&[0xb8, 1, 0, 0, 0]); // mov eax, 1
    body.asm.raw(&[0x87, 0xca]); // xchg edx, ecx
    body.asm.raw(&[0xd3, 0xe0]); // shl eax, cl
    body.asm.raw(&[0x48, 0x89, 0xd1]); // mov rcx, rdx
    body.asm.raw(&[0xff, 0xc8]); // dec eax
    body.asm.mask_from_eax(REST);
    body.write(true)?;
    let end = body.asm.here();
    body.asm.land(done, end);
    body.asm.raw(&[0x48, 0x8d, 0x65, (-(8 * SAVED.len() as i8)) as u8]); // lea rsp, [rbp - saved]
    SAVED.iter().rev().for_each(|&r| body.asm.pop(r));
    body.asm.pop(RBP);
    body.asm.raw(&[0xc5, 0xf8, 0x77, 0xc3]); // vzeroupper; ret
    let frame = (body.slots * SLOT + SLOT) as i32;
    body.asm.code[frame_at..frame_at + 4].copy_from_slice(&frame.to_le_bytes());
    Some(body.asm.finish(&body.pool))
}

/// Which instructions a store depends on, or a jump.
fn needed(insts: &[Inst]) -> Vec<bool> {
    let mut needed = vec![false; insts.len()];
    for (at, inst) in insts.iter().enumerate().rev() {
        needed[at] |=
            matches!(inst, Inst::Store(..) | Inst::StoreMask(..) | Inst::Stream(..) | Inst::Leave(_));
        let (args, count) = inst.args();
        if needed[at] {
            args[..count].iter().for_each(|&a| needed[a as usize] = true);
        }
    }
    needed
}

/// In a fixed order, so that the same instructions are the same code.
fn sorted(addresses: &HashMap<Reg, Gpr>) -> Vec<(Reg, Gpr)> {
    let mut list: Vec<_> = addresses.iter().map(|(&r, &g)| (r, g)).collect();
    list.sort_by_key(|a| a.0);
    list
}

impl Body<'_> {
    /// Writes the body once; `masked` for the elements that are left.
    fn write(&mut self, masked: bool) -> Option<()> {
        let n = self.insts.len();
        self.masked = masked;
        self.uses = vec![vec![]; n];
        for (at, inst) in self.insts.iter().enumerate().rev().filter(|x| self.needed[x.0]) {
            let (args, count) = inst.args();
            for &a in &args[..count] {
                if self.uses[a as usize].last() != Some(&at) {
                    self.uses[a as usize].push(at);
                }
            }
        }
        self.places = vec![Place::default(); n];
        self.free = (0..32).rev().collect();
        self.free_masks = (1..REST).rev().collect();
        for at in 0..n {
            if !self.needed[at] {
                continue;
            }
            self.inst(at)?;
            let (args, count) = self.insts[at].args();
            for &a in &args[..count] {
                let uses = &mut self.uses[a as usize];
                if uses.last() == Some(&at) {
                    uses.pop();
                    if uses.is_empty() {
                        self.release(a);
                    }
                }
            }
        }
        Some(())
    }

    /// Frees the register of a value that is used no more.
    fn release(&mut self, id: Id) {
        if let Some(r) = self.places[id as usize].register.take() {
            match self.insts[id as usize].is_mask() {
                true => self.free_masks.push(r),
                false => self.free.push(r),
            }
        }
    }

    fn is_last_use(&self, id: Id, at: usize) -> bool {
        self.uses[id as usize] == [at]
    }

    fn constant(&self, id: Id) -> Option<u32> {
        match self.insts[id as usize] {
            Inst::Const(bits) => Some(bits),
            _ => None,
        }
    }

    fn word(&mut self, bits: u32) -> u16 {
        let next = self.pool.len() as u16;
        let word = *self.words.entry(bits).or_insert(next);
        if word == next {
            self.pool.push(bits);
        }
        word
    }

    /// A free vector register; `busy` must stay where they are.
    fn vector(&mut self, at: usize, busy: &[Id]) -> Zmm {
        if let Some(r) = self.free.pop() {
            return r;
        }
        let next =
            |id: &usize| self.uses[*id].iter().rev().find(|&&u| u >= at).copied().unwrap_or(usize::MAX);
        let victim = (0..at)
            .filter(|&id| self.places[id].register.is_some() && !self.insts[id].is_mask())
            .filter(|&id| !busy.contains(&(id as Id)))
            .max_by_key(next);
        // There are 32 registers, and an instruction has at most three operands.
        let Some(id) = victim else { return 31 };
        let Some(r) = self.places[id].register.take() else { return 31 };
        if self.constant(id as Id).is_none() && self.places[id].slot.is_none() {
            let slot = self.slots;
            self.slots += 1;
            self.places[id].slot = Some(slot);
            let to = Rm::Based(RSP, (slot * SLOT) as i32);
            self.asm.vector(STORE, r, 0, to, Masked::default(), None);
        }
        r
    }

    /// The register of a value, loaded again if it went to the stack.
    fn get(&mut self, id: Id, at: usize, busy: &[Id]) -> u8 {
        if let Some(r) = self.places[id as usize].register {
            return r;
        }
        let r = self.vector(at, busy);
        let rm = match (self.constant(id), self.places[id as usize].slot) {
            (Some(bits), _) => Rm::Pool(self.word(bits)),
            (None, slot) => Rm::Based(RSP, (slot.unwrap_or(0) * SLOT) as i32),
        };
        let op = if matches!(rm, Rm::Pool(_)) { BROADCAST } else { LOAD };
        self.asm.vector(op, r, 0, rm, Masked::default(), None);
        self.places[id as usize].register = Some(r);
        r
    }

    /// The last operand of an instruction: a constant stays in the pool.
    fn rm(&mut self, id: Id, at: usize, busy: &[Id]) -> Rm {
        match (self.constant(id), self.places[id as usize].register) {
            (Some(bits), None) => Rm::Pool(self.word(bits)),
            _ => Rm::Reg(self.get(id, at, busy)),
        }
    }

    /// The register of a result: that of an operand that ends here, or a free one.
    fn result(&mut self, at: usize, busy: &[Id]) -> Zmm {
        for &id in busy {
            let is_vector = !self.insts[id as usize].is_mask();
            if is_vector
                && self.is_last_use(id, at)
                && let Some(r) = self.places[id as usize].register.take()
            {
                self.places[at].register = Some(r);
                return r;
            }
        }
        let r = self.vector(at, busy);
        self.places[at].register = Some(r);
        r
    }

    fn mask_result(&mut self, at: usize) -> Option<K> {
        let k = self.free_masks.pop()?;
        self.places[at].register = Some(k);
        Some(k)
    }

    fn mask_of(&self, id: Id) -> Option<K> {
        self.places[id as usize].register
    }

    /// The address of a tile's register, at the current element (`step` bytes each).
    fn element(&mut self, reg: Reg, index: Gpr, step: u8) -> Rm {
        let base = match self.addresses.get(&reg) {
            Some(&gpr) => gpr,
            None => {
                self.asm.load_pointer(RAX, RDI, reg as i32 * 8);
                RAX
            }
        };
        Rm::Indexed(base, index, step)
    }

    fn binary(&mut self, at: usize, op: Opcode, a: Id, b: Id, commutes: bool) {
        let (a, b) = if commutes && self.constant(a).is_some() && self.constant(b).is_none() {
            (b, a)
        } else {
            (a, b)
        };
        let busy = [a, b];
        let first = self.get(a, at, &busy);
        let rm = self.rm(b, at, &busy);
        let dst = self.result(at, &busy);
        self.asm.vector(op, dst, first, rm, Masked::default(), None);
    }

    fn compare(&mut self, at: usize, op: Opcode, a: Id, b: Id, predicate: u8) -> Option<()> {
        let busy = [a, b];
        let first = self.get(a, at, &busy);
        let rm = self.rm(b, at, &busy);
        let k = self.mask_result(at)?;
        self.asm.vector(op, k, first, rm, Masked::default(), Some(predicate));
        Some(())
    }

    fn shift(&mut self, at: usize, kind: u8, a: Id, by: u8) {
        let from = self.get(a, at, &[a]);
        let dst = self.result(at, &[a]);
        self.asm.vector(SHIFT, kind, dst, Rm::Reg(from), Masked::default(), Some(by));
    }

    /// `a · b + c`: the result takes the place of an operand that ends here, or of a copy.
    fn fma(&mut self, at: usize, [a, b, c]: [Id; 3], signs: Signs) {
        let more = 4 * u8::from(signs.product) + 2 * u8::from(signs.addend);
        let [fma_132, fma_213, fma_231] =
            [FMA_132, FMA_213, FMA_231].map(|Opcode(map, prefix, byte)| Opcode(map, prefix, byte + more));
        // A constant stays in the pool where it can: as the factor or the addend that is read last.
        let (a, b) = if self.constant(a).is_some() { (b, a) } else { (a, b) };
        let busy = [a, b, c];
        let ends =
            |this: &Self, id: Id| this.is_last_use(id, at) && this.places[id as usize].register.is_some();
        let in_register: [bool; 3] = busy.map(|id| self.constant(id).is_none());
        for id in busy.into_iter().zip(in_register).filter(|x| x.1).map(|x| x.0) {
            self.get(id, at, &busy);
        }
        if ends(self, c) && c != a && c != b && in_register[2] {
            // c := a · b + c
            let first = self.get(a, at, &busy);
            let rm = self.rm(b, at, &busy);
            let dst = self.result(at, &[c]);
            self.asm.vector(fma_231, dst, first, rm, Masked::default(), None);
            return;
        }
        if ends(self, a) && a != b && a != c {
            let (op, first, last) = if in_register[1] { (fma_213, b, c) } else { (fma_132, c, b) };
            let first = self.get(first, at, &busy);
            let rm = self.rm(last, at, &busy);
            let dst = self.result(at, &[a]);
            self.asm.vector(op, dst, first, rm, Masked::default(), None);
            return;
        }
        if in_register[1] && ends(self, b) && a != b && b != c {
            let first = self.get(a, at, &busy);
            let rm = self.rm(c, at, &busy);
            let dst = self.result(at, &[b]);
            self.asm.vector(fma_213, dst, first, rm, Masked::default(), None);
            return;
        }
        // All live on (or occur twice): a copy of `a` is overwritten.
        let dst = self.vector(at, &busy);
        let from = self.get(a, at, &busy);
        self.asm.vector(MOVE, dst, 0, Rm::Reg(from), Masked::default(), None);
        let (op, first, last) = if in_register[1] { (fma_213, b, c) } else { (fma_132, c, b) };
        let first = self.get(first, at, &busy);
        let rm = self.rm(last, at, &busy);
        self.places[at].register = Some(dst);
        self.asm.vector(op, dst, first, rm, Masked::default(), None);
    }

    fn inst(&mut self, at: usize) -> Option<()> {
        use Inst::*;
        let plain = Masked::default();
        // Elements beyond the end are read as zero, and not written.
        let load = if self.masked { Masked(REST, true) } else { plain };
        let store = if self.masked { Masked(REST, false) } else { plain };
        match self.insts[at] {
            // Made where they are needed.
            Const(_) => {}
            Load(reg) => {
                let dst = self.result(at, &[]);
                let from = self.element(reg, RSI, 4);
                self.asm.vector(LOAD, dst, 0, from, load, None);
            }
            LoadRow(reg) => {
                let dst = self.result(at, &[]);
                let from = self.element(reg, RCX, 4);
                self.asm.vector(BROADCAST, dst, 0, from, plain, None);
            }
            LoadMask(reg) => {
                let tmp = self.vector(at, &[]);
                let from = self.element(reg, RSI, 1);
                self.asm.vector(WIDEN_BYTES, tmp, 0, from, load, None);
                let k = self.mask_result(at)?;
                self.asm.vector(TEST, k, tmp, Rm::Reg(tmp), plain, None);
                self.free.push(tmp);
            }
            Store(reg, a) => {
                let from = self.get(a, at, &[a]);
                let to = self.element(reg, RSI, 4);
                self.asm.vector(STORE, from, 0, to, store, None);
            }
            Stream(reg, a) => {
                let from = self.get(a, at, &[a]);
                let to = self.element(reg, RSI, 4);
                let op = if self.streams && !self.masked { STREAM } else { STORE };
                self.asm.vector(op, from, 0, to, store, None);
            }
            StoreMask(reg, a) => {
                let k = self.mask_of(a)?;
                let tmp = self.vector(at, &[]);
                self.asm.vector(BROADCAST_WORD, tmp, 0, Rm::Pool(0), Masked(k, true), None);
                let to = self.element(reg, RSI, 1);
                self.asm.vector(NARROW_TO_BYTES, tmp, 0, to, store, None);
                self.free.push(tmp);
            }
            Add(a, b) => self.binary(at, ADD, a, b, true),
            Sub(a, b) => self.binary(at, SUB, a, b, false),
            Mul(a, b) => self.binary(at, MUL, a, b, true),
            Div(a, b) => self.binary(at, DIV, a, b, false),
            Scale(a, b) => self.binary(at, SCALE, a, b, false),
            And(a, b) => self.binary(at, AND, a, b, true),
            Or(a, b) => self.binary(at, OR, a, b, true),
            Xor(a, b) => self.binary(at, XOR, a, b, true),
            AddWord(a, b) => self.binary(at, ADD_WORD, a, b, true),
            SubWord(a, b) => self.binary(at, SUB_WORD, a, b, false),
            MulWord(a, b) => self.binary(at, MUL_WORD, a, b, true),
            Sqrt(a) => {
                let rm = self.rm(a, at, &[a]);
                let dst = self.result(at, &[a]);
                self.asm.vector(SQRT, dst, 0, rm, plain, None);
            }
            Max(a, b) => self.binary(at, MAX, a, b, false),
            Min(a, b) => self.binary(at, MIN, a, b, false),
            Fma(a, b, c, signs) => self.fma(at, [a, b, c], signs),
            ShiftLeft(a, by) => self.shift(at, 6, a, by),
            ShiftRight(a, by) => self.shift(at, 2, a, by),
            ShiftRightSigned(a, by) => self.shift(at, 4, a, by),
            Less(a, b) => self.compare(at, COMPARE, a, b, 0x11)?,
            LessEqual(a, b) => self.compare(at, COMPARE, a, b, 0x12)?,
            Equal(a, b) => self.compare(at, COMPARE, a, b, 0x00)?,
            IsNan(a) => self.compare(at, COMPARE, a, a, 0x03)?,
            LessWord(a, b) => self.compare(at, COMPARE_WORD, a, b, 1)?,
            EqualWord(a, b) => self.compare(at, COMPARE_WORD, a, b, 0)?,
            Both(a, b) => self.masks(at, 0x41, a, b)?,
            Either(a, b) => self.masks(at, 0x45, a, b)?,
            Unlike(a, b) => self.masks(at, 0x47, a, b)?,
            Not(a) => self.masks(at, 0x44, a, a)?,
            Leave(a) => {
                let k = self.mask_of(a)?;
                self.asm.any(k);
                let from = self.asm.jump(&[0x0f, 0x85]); // jnz
                self.leaves.push(from);
            }
            Select(_, a, _) if self.insts[a as usize].is_mask() => return None,
            Select(m, a, b) => {
                let k = self.mask_of(m)?;
                let busy = [a, b];
                let first = self.get(b, at, &busy);
                let rm = self.rm(a, at, &busy);
                let dst = self.result(at, &busy);
                self.asm.vector(BLEND, dst, first, rm, Masked(k, false), None);
            }
        }
        Some(())
    }

    fn masks(&mut self, at: usize, byte: u8, a: Id, b: Id) -> Option<()> {
        let (a, b) = (self.mask_of(a)?, self.mask_of(b)?);
        let k = self.mask_result(at)?;
        self.asm.mask(byte, k, a, b);
        Some(())
    }
}
