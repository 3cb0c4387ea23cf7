//! Convolutions over up to three axes, and their gradients, which are each other's.
//!
//! With `x` of shape `[n, c, …in]`, `w` of shape `[o, c / groups, …kernel]` and `y` of shape `[n, o, …out]`, all three kernels are one sum of
//! products `y · x · w` over all that they share: which of the three is missing says what is computed. None of them ever has the windows of `x`
//! in memory as a whole.

mod blocked;
mod cpu;
mod cuda;
mod direct;
mod edges;
#[cfg(test)]
mod tests;

use super::{Described, Innermost, Kernel, Library, Operand, Shaped, Structure, Target, led, of_one};
use crate::cuda::library::KernelPlan;
use crate::finding::{Checks, Finding};
use mg_device::{Error, ErrorKind, MAX_RANK, Result, Shape};

/// Axes that a kernel may have.
pub const MAX_AXES: usize = 3;

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ConvKind {
    /// `y` of `x` and `w`: the convolution.
    Forward,
    /// `x` of `y` and `w`: its gradient by the input, a transposed convolution. [`Conv::sizes`] are those of `x`.
    Input,
    /// `w` of `x` and `y`: its gradient by the weight. [`Conv::sizes`] are those of the kernel.
    Weight,
}

/// A convolution (cross-correlation, as all libraries have it). Axes that are not there come first, with size 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Conv {
    /// What is computed.
    pub kind: ConvKind,
    /// How many axes there are.
    pub axes: u8,
    /// Steps of the kernel.
    pub stride: [u32; MAX_AXES],
    /// Zeros before and after.
    pub padding: [u32; MAX_AXES],
    /// Steps within the kernel.
    pub dilation: [u32; MAX_AXES],
    /// Into how many groups channels are divided, which do not see each other.
    pub groups: u32,
    /// The sizes along the axes that operands do not tell: see [`ConvKind`].
    pub sizes: [u32; MAX_AXES],
}

/// Which of the three tensors of a convolution.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// `[n, groups · c, …]`.
    X,
    /// `[n, groups · o, …]`.
    Y,
    /// `[groups · o, c, …]`.
    W,
}

/// What examples lie along, before what it counts of one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Along {
    Images,
    Groups,
    /// Channels of a group of `x`.
    Inputs,
    /// Channels of a group of `y`.
    Outputs,
}

impl Role {
    /// What it shares with another one, besides groups.
    fn shared(self, other: Role) -> Along {
        match (self, other) {
            (Role::W, Role::X) | (Role::X, Role::W) => Along::Inputs,
            (Role::W, Role::Y) | (Role::Y, Role::W) => Along::Outputs,
            (Role::X | Role::Y, Role::X | Role::Y) | (Role::W, Role::W) => Along::Images,
        }
    }

    /// The sizes of its first two axes, of which one counts groups and channels of each.
    fn counts(self, shape: &[usize], groups: usize) -> [usize; 3] {
        match self {
            Role::X | Role::Y => [shape[0], groups, shape[1] / groups],
            Role::W => [groups, shape[0] / groups, shape[1]],
        }
    }

    /// Where that is among them.
    fn place(self, along: Along) -> usize {
        match (self, along) {
            (Role::X | Role::Y, Along::Images) | (Role::W, Along::Groups | Along::Images) => 0,
            (Role::X | Role::Y, Along::Groups) | (Role::W, Along::Outputs) => 1,
            (Role::X | Role::Y, Along::Inputs | Along::Outputs) | (Role::W, Along::Inputs) => 2,
        }
    }

    /// Its first two axes, of all of them.
    fn joined(self, [a, b, c]: [usize; 3]) -> [usize; 2] {
        match self {
            Role::X | Role::Y => [a, b * c],
            Role::W => [a * b, c],
        }
    }

    /// Examples, which lie along an axis in front, along another one.
    fn folded<T: Structure>(self, x: &T, groups: usize, along: Along) -> Result<T> {
        let shape = x.sizes();
        let (size, rest, at) = (shape[0], &shape[3..], self.place(along));
        let mut counts = self.counts(&shape[1..], groups);
        let apart = [&[size], &counts[..], rest].concat();
        let mut order: Vec<usize> = (1..apart.len()).collect();
        order.insert(at, 0);
        counts[at] *= size;
        let moved = x.reshaped(Shape::new(&apart)?)?.permuted(&order)?;
        moved.reshaped(Shape::new(&[&self.joined(counts)[..], rest].concat())?)
    }

    /// The other way, of what has an example's shape.
    fn unfolded<T: Structure>(
        self,
        x: &T,
        own: &Shape,
        groups: usize,
        along: Along,
        size: usize,
    ) -> Result<T> {
        let at = self.place(along);
        let mut apart = [&self.counts(own, groups)[..], &own[2..]].concat();
        apart.insert(at, size);
        let mut order: Vec<usize> = (0..apart.len()).collect();
        order.remove(at);
        order.insert(0, at);
        x.reshaped(Shape::new(&apart)?)?.permuted(&order)?.reshaped(led(size, own)?)
    }
}

/// All sizes of a convolution.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Geometry {
    batch: usize,
    groups: usize,
    /// Channels of a group of `x`, and of `y`.
    c: usize,
    o: usize,
    input: [usize; MAX_AXES],
    kernel: [usize; MAX_AXES],
    output: [usize; MAX_AXES],
    stride: [usize; MAX_AXES],
    padding: [usize; MAX_AXES],
    dilation: [usize; MAX_AXES],
}

impl Geometry {
    fn inputs(&self) -> usize {
        self.input.iter().product()
    }

    fn outputs(&self) -> usize {
        self.output.iter().product()
    }

    /// Elements of a kernel over all channels of a group.
    fn depth(&self) -> usize {
        self.c * self.kernel.iter().product::<usize>()
    }
}

/// The sizes along the axes of a shape, with ones before them.
fn spatial(shape: &Shape, axes: usize) -> [usize; MAX_AXES] {
    let mut sizes = [1; MAX_AXES];
    sizes[MAX_AXES - axes..].copy_from_slice(&shape[2..2 + axes]);
    sizes
}

fn wide(numbers: [u32; MAX_AXES]) -> [usize; MAX_AXES] {
    numbers.map(|n| n as usize)
}

impl Conv {
    fn fail<T>(&self, text: String) -> Result<T> {
        Err(Error::new(self.name(), ErrorKind::Shape(text)))
    }

    /// The size of the output along an axis; `None` where the kernel does not fit.
    fn output(&self, axis: usize, input: usize, kernel: usize) -> Option<usize> {
        let padded = input + 2 * self.padding[axis] as usize;
        let spread = (kernel.checked_sub(1)?).checked_mul(self.dilation[axis] as usize)?.checked_add(1)?;
        Some(padded.checked_sub(spread)? / self.stride[axis] as usize + 1)
    }

    /// The sizes, with the shape of the result among them.
    fn geometry(&self, operands: &[Shaped]) -> Result<Geometry> {
        let axes = usize::from(self.axes);
        let [first, second] = operands else {
            return self.fail(format!("takes 2 operands, got {}", operands.len()));
        };
        let (a, b) = (&first.shape, &second.shape);
        if a.rank() != axes + 2 || b.rank() != axes + 2 || axes > MAX_AXES {
            return self.fail(format!("takes operands of {} axes, got shapes {a} and {b}", axes + 2));
        }
        let groups = self.groups as usize;
        let known = self.stride.iter().chain(&self.dilation).all(|&n| n > 0) && groups > 0;
        if !known {
            return self.fail("stride, dilation and groups are positive".into());
        }
        let (near, far) = (spatial(a, axes), spatial(b, axes));
        let divided = |channels: usize, what: &str| match channels % groups {
            0 => Ok(channels / groups),
            _ => self.fail(format!("{channels} channels of the {what} are not divisible by {groups} groups")),
        };
        // Channels of x and y, sizes of x, of the kernel, of y.
        let (batch, c, o, input, kernel, output) = match self.kind {
            ConvKind::Forward => (a[0], divided(a[1], "input")?, divided(b[0], "weight")?, near, far, None),
            ConvKind::Input => (a[0], b[1], divided(a[1], "operand")?, wide(self.sizes), far, Some(near)),
            ConvKind::Weight => {
                let (c, o) = (divided(a[1], "input")?, divided(b[1], "output")?);
                (a[0], c, o, near, wide(self.sizes), Some(far))
            }
        };
        let agree = match self.kind {
            ConvKind::Forward => b[1] == c,
            ConvKind::Input => b[0] == a[1],
            ConvKind::Weight => b[0] == a[0],
        };
        if !agree {
            return self.fail(format!("shapes {a} and {b} do not fit with {groups} groups"));
        }
        let mut found = [0; MAX_AXES];
        for axis in 0..MAX_AXES {
            found[axis] = match self.output(axis, input[axis], kernel[axis]) {
                Some(n) => n,
                None => {
                    let (kernel, input) = (&kernel[MAX_AXES - axes..], &input[MAX_AXES - axes..]);
                    let text =
                        format!("a kernel of {kernel:?} does not fit an input of {input:?} with its padding");
                    return self.fail(text);
                }
            };
        }
        if output.is_some_and(|known| known != found) {
            let input = &input[MAX_AXES - axes..];
            return self
                .fail(format!("an output of shape {a} or {b} does not belong to an input of {input:?}"));
        }
        Ok(Geometry {
            batch,
            groups,
            c,
            o,
            input,
            kernel,
            output: found,
            stride: wide(self.stride),
            padding: wide(self.padding),
            dilation: wide(self.dilation),
        })
    }

    /// As [`Kernel::cuda`] with a tile of this name ("128x256"), for measurements, where tiles are what there is to choose from.
    ///
    /// # Errors
    ///
    /// As [`Kernel::cuda`].
    pub fn cuda_with(&self, operands: &[Described], target: Target, tile: &str) -> Result<KernelPlan> {
        let shaped: Vec<Shaped> = operands.iter().map(Described::shaped).collect();
        cuda::plan(self.kind, &self.geometry(&shaped)?, operands, target, Some(tile))
    }

    fn of_kind(&self, kind: ConvKind, sizes_of: &Shape) -> Library {
        let sizes = spatial(sizes_of, self.axes.into()).map(|n| n as u32);
        Conv { kind, sizes: if kind == ConvKind::Forward { [0; MAX_AXES] } else { sizes }, ..*self }.into()
    }
}

impl Kernel for Conv {
    fn name(&self) -> &'static str {
        match self.kind {
            ConvKind::Forward => "conv",
            ConvKind::Input => "conv_transpose",
            ConvKind::Weight => "conv_weight",
        }
    }

    fn words(&self) -> [u64; 2] {
        let numbers = [self.stride, self.padding, self.dilation, self.sizes].into_iter().flatten();
        let numbers = numbers.chain([self.groups, u32::from(self.axes), self.kind as u32]);
        // Two independent sums of powers.
        numbers.fold([1, 2], |[a, b], n| {
            let n = u64::from(n) + 1;
            let (a, b) = (a ^ n, b ^ n);
            [
                a.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29),
                b.wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(37),
            ]
        })
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        let g = self.geometry(operands)?;
        let dtype = operands[0].dtype;
        if operands[1].dtype != dtype || !dtype.is_float() {
            let text = format!("takes floats of one dtype, got {} and {}", dtype, operands[1].dtype);
            return Err(Error::new(self.name(), ErrorKind::DType(text)));
        }
        let (lead, sizes) = match self.kind {
            ConvKind::Forward => ([g.batch, g.o * g.groups], g.output),
            ConvKind::Input => ([g.batch, g.c * g.groups], g.input),
            ConvKind::Weight => ([g.o * g.groups, g.c], g.kernel),
        };
        let axes = usize::from(self.axes);
        let mut dims = [0; MAX_RANK];
        dims[..2].copy_from_slice(&lead);
        dims[2..2 + axes].copy_from_slice(&sizes[MAX_AXES - axes..]);
        Ok(Shaped { shape: Shape::new(&dims[..2 + axes])?, dtype })
    }

    fn batched<T: Structure>(&self, x: &[T], differs: &[bool], size: usize) -> Result<Option<T>> {
        let ([a, b], &[first, second]) = (x, differs) else { return Ok(None) };
        let shaped = |x: &T, differs: bool| Shaped { shape: of_one(x, differs), dtype: x.dtype() };
        let own = self.result(&[shaped(a, first), shaped(b, second)])?.shape;
        let (near, far, result) = match self.kind {
            ConvKind::Forward => (Role::X, Role::W, Role::Y),
            ConvKind::Input => (Role::Y, Role::W, Role::X),
            ConvKind::Weight => (Role::X, Role::Y, Role::W),
        };
        let (with, groups) = match (first, second) {
            // Each example is a group.
            (true, true) => (Along::Groups, self.groups.checked_mul(size as u32)),
            // What one operand and the result have in common counts more.
            (true, false) => (near.shared(result), Some(self.groups)),
            (false, _) => (far.shared(result), Some(self.groups)),
        };
        let Some(groups) = groups.filter(|_| u32::try_from(size).is_ok()) else { return Ok(None) };
        let folded = |x: &T, role: Role, differs: bool| match differs {
            true => role.folded(x, self.groups as usize, with),
            false => Ok(x.clone()),
        };
        let (a, b) = (folded(a, near, first)?, folded(b, far, second)?);
        let all = T::kernel(Conv { groups, ..*self }.into(), &[&a, &b])?;
        result.unfolded(&all, &own, self.groups as usize, with, size).map(Some)
    }

    fn innermost(&self, operands: &[Shaped], capability: u32) -> Innermost {
        match self.geometry(operands) {
            Ok(g) => cuda::innermost(self.kind, &g, operands[0].dtype, capability),
            Err(_) => Innermost::default(),
        }
    }

    fn takes_epilogue(&self, operands: &[Shaped], capability: Option<u32>, innermost: bool) -> bool {
        match (capability, self.geometry(operands)) {
            (Some(capability), Ok(g)) => {
                cuda::takes_epilogue(self.kind, &g, operands[0].dtype, capability, innermost)
            }
            // On processors a tile is done panel by panel of channels, of which the result is no panel.
            (Some(_) | None, _) => false,
        }
    }

    fn most_read_behind(&self) -> usize {
        // Measured: residuals and gates of ResNet-50 and VGG take longer so.
        0
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, operands: &[Shaped]) -> Option<u64> {
        let g = self.geometry(operands).ok()?;
        Some(2 * (g.batch * g.groups * g.o * g.outputs() * g.depth()) as u64)
    }

    fn vjp<T: Structure>(&self, i: usize, x: &[T], _: &T, g: &T) -> Result<Option<T>> {
        let of =
            |kind, result: usize, a: &T, b: &T| T::kernel(self.of_kind(kind, &x[result].sizes()), &[a, b]);
        // Each operand's gradient is the kernel that has the result's gradient in the result's place.
        Ok(Some(match (self.kind, i) {
            (ConvKind::Forward, 0) => of(ConvKind::Input, 0, g, &x[1])?,
            (ConvKind::Forward, _) => of(ConvKind::Weight, 1, &x[0], g)?,
            (ConvKind::Input, 0) => of(ConvKind::Forward, 0, g, &x[1])?,
            (ConvKind::Input, _) => of(ConvKind::Weight, 1, g, &x[0])?,
            (ConvKind::Weight, 0) => of(ConvKind::Input, 0, &x[1], g)?,
            (ConvKind::Weight, _) => of(ConvKind::Forward, 1, &x[0], g)?,
        }))
    }

    unsafe fn cpu(&self, operands: &[Operand], out: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        let shaped: smallvec::SmallVec<[Shaped; 2]> = operands.iter().map(Operand::shaped).collect();
        // What the node was made of had a geometry.
        if let (Ok(geometry), [a, b]) = (self.geometry(&shaped), operands) {
            // SAFETY: this function's contract.
            unsafe { cpu::conv(self.kind, &geometry, a.dtype, a.first(), b.first(), out) };
        }
        Ok(())
    }

    fn cuda(&self, operands: &[Described], _: &Shaped, target: Target) -> Result<KernelPlan> {
        let shaped: smallvec::SmallVec<[Shaped; 2]> = operands.iter().map(Described::shaped).collect();
        cuda::plan(self.kind, &self.geometry(&shaped)?, operands, target, None)
    }
}
