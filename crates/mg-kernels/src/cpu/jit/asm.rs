//! An assembler of the few AVX-512 instructions that are needed (Intel 64 and IA-32 Architectures Software Developer's
//! Manual, volume 2, sections 2.7 and 5).

/// A vector register, 0 to 31.
pub(super) type Zmm = u8;
/// A mask register, 0 to 7.
pub(super) type K = u8;

/// A general register, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Gpr(pub(super) u8);
pub(super) const RAX: Gpr = Gpr(0);
pub(super) const RCX: Gpr = Gpr(1);
pub(super) const RBX: Gpr = Gpr(3);
pub(super) const RSP: Gpr = Gpr(4);
pub(super) const RBP: Gpr = Gpr(5);
pub(super) const RSI: Gpr = Gpr(6);
pub(super) const RDI: Gpr = Gpr(7);

/// The last operand of a vector instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rm {
    Reg(Zmm),
    /// `[base + index · scale]`.
    Indexed(Gpr, Gpr, u8),
    /// `[base + displacement]`.
    Based(Gpr, i32),
    /// A word of the pool of constants, in every element.
    Pool(u16),
}

/// The opcode's map, mandatory prefix and byte.
#[derive(Clone, Copy)]
pub(super) struct Opcode(pub(super) u8, pub(super) u8, pub(super) u8);

pub(super) const ADD: Opcode = Opcode(1, 0, 0x58);
pub(super) const MUL: Opcode = Opcode(1, 0, 0x59);
pub(super) const SUB: Opcode = Opcode(1, 0, 0x5c);
pub(super) const DIV: Opcode = Opcode(1, 0, 0x5e);
pub(super) const SQRT: Opcode = Opcode(1, 0, 0x51);
pub(super) const MAX: Opcode = Opcode(1, 0, 0x5f);
pub(super) const MIN: Opcode = Opcode(1, 0, 0x5d);
/// Of these with 2 more the addend is subtracted, with 4 more the product is.
pub(super) const FMA_132: Opcode = Opcode(2, 1, 0x98);
pub(super) const FMA_213: Opcode = Opcode(2, 1, 0xa8);
pub(super) const FMA_231: Opcode = Opcode(2, 1, 0xb8);
pub(super) const SCALE: Opcode = Opcode(2, 1, 0x2c);
pub(super) const AND: Opcode = Opcode(1, 1, 0xdb);
pub(super) const OR: Opcode = Opcode(1, 1, 0xeb);
pub(super) const XOR: Opcode = Opcode(1, 1, 0xef);
pub(super) const ADD_WORD: Opcode = Opcode(1, 1, 0xfe);
pub(super) const SUB_WORD: Opcode = Opcode(1, 1, 0xfa);
pub(super) const MUL_WORD: Opcode = Opcode(2, 1, 0x40);
pub(super) const SHIFT: Opcode = Opcode(1, 1, 0x72);
pub(super) const COMPARE: Opcode = Opcode(1, 0, 0xc2);
pub(super) const COMPARE_WORD: Opcode = Opcode(3, 1, 0x1f);
pub(super) const BLEND: Opcode = Opcode(2, 1, 0x65);
pub(super) const LOAD: Opcode = Opcode(1, 0, 0x10);
pub(super) const STORE: Opcode = Opcode(1, 0, 0x11);
pub(super) const STREAM: Opcode = Opcode(1, 0, 0x2b);
pub(super) const MOVE: Opcode = Opcode(1, 0, 0x28);
pub(super) const BROADCAST: Opcode = Opcode(2, 1, 0x18);
pub(super) const BROADCAST_WORD: Opcode = Opcode(2, 1, 0x58);
pub(super) const WIDEN_BYTES: Opcode = Opcode(2, 1, 0x31);
pub(super) const TEST: Opcode = Opcode(2, 1, 0x27);
pub(super) const NARROW_TO_BYTES: Opcode = Opcode(2, 2, 0x31);

/// The mask of a vector instruction: its register (0: none) and whether the others become zero.
#[derive(Clone, Copy, Default)]
pub(super) struct Masked(pub(super) K, pub(super) bool);

#[derive(Default)]
pub(super) struct Asm {
    pub(super) code: Vec<u8>,
    /// Places of 32-bit distances to words of the pool: the place, the word, and the bytes that follow the distance.
    pool_refs: Vec<(usize, u16, u8)>,
}

impl Asm {
    fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    /// A vector instruction `op reg, first, rm`; `immediate` follows where there is one.
    pub(super) fn vector(
        &mut self,
        op: Opcode,
        reg: u8,
        first: u8,
        rm: Rm,
        mask: Masked,
        immediate: Option<u8>,
    ) {
        let Opcode(map, prefix, byte) = op;
        let bit = |n: u8, b: u8| (n >> b & 1) ^ 1;
        let (x, b) = match rm {
            Rm::Reg(r) => (bit(r, 4), bit(r, 3)),
            Rm::Indexed(base, index, _) => (bit(index.0, 3), bit(base.0, 3)),
            Rm::Based(base, _) => (1, bit(base.0, 3)),
            Rm::Pool(_) => (1, 1),
        };
        let broadcast = matches!(rm, Rm::Pool(_)) && !matches!(byte, 0x18) && !(map == 2 && byte == 0x58);
        self.bytes(&[
            0x62,
            bit(reg, 3) << 7 | x << 6 | b << 5 | bit(reg, 4) << 4 | map,
            (!first & 15) << 3 | 4 | prefix,
            (mask.1 as u8) << 7 | 0b10 << 5 | (broadcast as u8) << 4 | bit(first, 4) << 3 | mask.0,
            byte,
        ]);
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => self.bytes(&[0xc0 | reg | r & 7]),
            Rm::Indexed(base, index, scale) => {
                let scale = scale.trailing_zeros() as u8;
                self.bytes(&[0x80 | reg | 4, scale << 6 | (index.0 & 7) << 3 | base.0 & 7]);
                self.bytes(&0i32.to_le_bytes());
            }
            Rm::Based(base, at) => {
                self.bytes(&[0x80 | reg | base.0 & 7]);
                if base.0 & 7 == 4 {
                    self.bytes(&[0x24]);
                }
                self.bytes(&at.to_le_bytes());
            }
            Rm::Pool(word) => {
                self.bytes(&[reg | 5]);
                self.pool_refs.push((self.code.len(), word, immediate.is_some() as u8));
                self.bytes(&[0; 4]);
            }
        }
        self.code.extend(immediate);
    }

    /// `op k, a, b` on masks of 16 elements: `and` 0x41, `or` 0x45, `xor` 0x47, `not` 0x44 (of `b`), a move 0x90.
    pub(super) fn mask(&mut self, byte: u8, k: K, a: K, b: K) {
        let (a, long) = if matches!(byte, 0x44 | 0x90) { (0, 0) } else { (a, 1) };
        self.bytes(&[0xc5, 0x80 | (!a & 15) << 3 | long << 2, byte, 0xc0 | k << 3 | b]);
    }

    /// Whether any of a mask's 16 bits is set: `kortest k, k`.
    pub(super) fn any(&mut self, k: K) {
        self.bytes(&[0xc5, 0xf8, 0x98, 0xc0 | k << 3 | k]);
    }

    /// The low 16 bits of `eax` to a mask.
    pub(super) fn mask_from_eax(&mut self, k: K) {
        self.bytes(&[0xc5, 0xf8, 0x92, 0xc0 | k << 3]);
    }

    /// `mov reg, [base + at]`.
    pub(super) fn load_pointer(&mut self, reg: Gpr, base: Gpr, at: i32) {
        self.bytes(&[0x48 | (reg.0 >> 3) << 2 | base.0 >> 3, 0x8b, 0x80 | (reg.0 & 7) << 3 | base.0 & 7]);
        self.bytes(&at.to_le_bytes());
    }

    pub(super) fn push(&mut self, r: Gpr) {
        if r.0 > 7 {
            self.bytes(&[0x41]);
        }
        self.bytes(&[0x50 | r.0 & 7]);
    }

    pub(super) fn pop(&mut self, r: Gpr) {
        if r.0 > 7 {
            self.bytes(&[0x41]);
        }
        self.bytes(&[0x58 | r.0 & 7]);
    }

    /// Any bytes: the few instructions that occur once.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
    }

    pub(super) fn here(&self) -> usize {
        self.code.len()
    }

    /// A jump (`opcode` and its 32-bit distance) to a place known later.
    pub(super) fn jump(&mut self, opcode: &[u8]) -> usize {
        self.bytes(opcode);
        self.bytes(&[0; 4]);
        self.code.len()
    }

    /// Says where a jump goes; `from` is what [`Asm::jump`] answered.
    pub(super) fn land(&mut self, from: usize, to: usize) {
        let distance = to as i32 - from as i32;
        self.code[from - 4..from].copy_from_slice(&distance.to_le_bytes());
    }

    /// Appends the pool, and fills in where its words lie.
    pub(super) fn finish(mut self, pool: &[u32]) -> Vec<u8> {
        while !self.code.len().is_multiple_of(64) {
            self.code.push(0xcc);
        }
        let start = self.code.len();
        for word in pool {
            self.code.extend(word.to_le_bytes());
        }
        for (at, word, after) in self.pool_refs {
            let distance = (start + word as usize * 4) as i32 - (at + 4 + after as usize) as i32;
            self.code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        self.code
    }
}
