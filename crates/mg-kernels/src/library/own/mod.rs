//! Kernels that a user has written for CUDA devices, as PTX text: launched on tensors, in their place of a plan.
//!
//! A kernel's text is adapted once ([`ptx`]); a call of it (grid, block, numbers, shapes of results) is one value, which the graph holds by its
//! address. So what is called with the same of all this is the same kernel, and texts and calls are kept as long as the program lives: what
//! changes from call to call belongs in a tensor. There is no CPU half: whoever calls it has one of his own.

pub mod ptx;

use super::{Described, Kernel, Operand, Shaped, Structure, Target};
use crate::cuda::library::{KernelLaunch, KernelPlan, MAX_ARGS, Pointer, Prebuilt};
use crate::finding::{Checks, Finding};
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use ptx::Param;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A user's kernel: its text as the engine launches it.
#[derive(Debug)]
pub struct Text {
    name: &'static str,
    kernel: &'static Prebuilt,
    params: Vec<Param>,
}

/// An argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Argument {
    /// The address of an operand, by its position among the operands.
    Operand(u8),
    /// The address of the result, or of the part of it that begins so many bytes behind.
    Result(u64),
    /// An integer.
    Int(i64),
    /// The bits of a floating-point number, f64.
    Float(u64),
}

/// How a text is launched, but for the addresses.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Call {
    text: &'static Text,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    arguments: Vec<Argument>,
    operands: usize,
    shape: Vec<usize>,
    dtype: DType,
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Text {}
impl std::hash::Hash for Text {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self).addr().hash(state);
    }
}

/// A call of a user's kernel.
#[derive(Clone, Copy, Debug)]
pub struct Own(&'static Call);

impl PartialEq for Own {
    fn eq(&self, other: &Own) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Own {}

/// How a kernel is launched: blocks, threads of a block, and bytes of dynamic shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

impl Text {
    /// The entry of this name in a PTX text. It is kept as long as the program lives.
    ///
    /// # Errors
    ///
    /// A text without that entry, or one that is not understood.
    pub fn new(ptx: &str, entry: &str) -> Result<&'static Text> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        static KNOWN: Mutex<Option<HashMap<(String, String), &'static Text>>> = Mutex::new(None);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        let key = (ptx.to_owned(), entry.to_owned());
        if let Some(&text) = known.get(&key) {
            return Ok(text);
        }
        let unique = format!("mg_own_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let made = ptx::adapted(ptx, entry, &unique)?;
        let kernel = Prebuilt::of_text(unique, made.text);
        let name: &'static str = Box::leak(entry.into());
        let text: &'static Text = Box::leak(Box::new(Text { name, kernel, params: made.params }));
        known.insert(key, text);
        Ok(text)
    }

    /// The entry's parameters.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The entry's name.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl Own {
    /// A call of a text with these arguments, one for each parameter, and one result.
    ///
    /// # Errors
    ///
    /// Another number of arguments than parameters, or one that does not fit its parameter; a grid or a block that no device takes.
    pub fn new(text: &'static Text, config: Config, arguments: &[Argument], result: Shaped) -> Result<Own> {
        static KNOWN: Mutex<Option<HashMap<u64, Vec<&'static Call>>>> = Mutex::new(None);
        let fail = |why: String| Err(Error::new(text.name, ErrorKind::Value(why)));
        let (takes, got) = (text.params.len(), arguments.len());
        if takes != got {
            return fail(format!("the kernel has {takes} parameters, got {got} arguments and results"));
        }
        for (i, (argument, param)) in arguments.iter().zip(&text.params).enumerate() {
            let what = if param.is_float { "a floating-point number" } else { "an integer or an address" };
            let is_ok = match argument {
                Argument::Operand(_) | Argument::Result(_) => param.size == 8 && !param.is_float,
                Argument::Int(_) | Argument::Float(_) if param.is_float => matches!(param.size, 4 | 8),
                Argument::Int(n) => match param.size {
                    8 => true,
                    // Signed and unsigned ones.
                    1 | 2 | 4 => (-(1i64 << (param.size * 8 - 1))..1i64 << (param.size * 8)).contains(n),
                    _ => false,
                },
                Argument::Float(_) => false,
            };
            if !is_ok {
                let size = param.size;
                return fail(format!(
                    "parameter {i} of the kernel is {what} of {size} bytes; got {}",
                    argument.words()
                ));
            }
        }
        let Config { grid, block, shared } = config;
        let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
        if threads == 0 || threads > 1024 || block[2] > 64 {
            return fail(format!("a block has 1 to 1024 threads (at most 64 along z), got {block:?}"));
        }
        if grid[1] > 65535 || grid[2] > 65535 || grid[0] > i32::MAX as u32 {
            return fail(format!("a grid has at most [2147483647, 65535, 65535] blocks, got {grid:?}"));
        }
        let operands = arguments
            .iter()
            .filter_map(|a| if let Argument::Operand(i) = a { Some(usize::from(*i) + 1) } else { None });
        let call = Call {
            text,
            grid,
            block,
            shared,
            arguments: arguments.to_vec(),
            operands: operands.max().unwrap_or(0),
            shape: result.shape.to_vec(),
            dtype: result.dtype,
        };
        let hash = {
            use std::hash::{DefaultHasher, Hash, Hasher};
            let mut hasher = DefaultHasher::new();
            call.hash(&mut hasher);
            hasher.finish()
        };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.get_or_insert_default().entry(hash).or_default();
        if let Some(&found) = same.iter().find(|other| ***other == call) {
            return Ok(Own(found));
        }
        let call: &'static Call = Box::leak(Box::new(call));
        same.push(call);
        Ok(Own(call))
    }

    /// The launch's argument, and where addresses go in it.
    #[allow(clippy::type_complexity)]
    fn packed(&self) -> Result<(SmallVec<[u8; 256]>, SmallVec<[(u16, Pointer, u64); 6]>)> {
        let call = self.0;
        let end = call.text.params.last().map_or(0, |p| p.at + p.size).max(8).next_multiple_of(8);
        if end > MAX_ARGS {
            let text = format!("the kernel's parameters have {end} bytes, at most {MAX_ARGS} are taken");
            return Err(Error::new(call.text.name, ErrorKind::Value(text)));
        }
        let (mut bytes, mut pointers) = (SmallVec::from_elem(0u8, end), SmallVec::new());
        for (argument, param) in call.arguments.iter().zip(&call.text.params) {
            let place = &mut bytes[param.at..param.at + param.size];
            let number = match *argument {
                Argument::Operand(i) => {
                    pointers.push((param.at as u16, Pointer::Input(i), 0));
                    continue;
                }
                Argument::Result(offset) => {
                    pointers.push((param.at as u16, Pointer::Output(0), offset));
                    continue;
                }
                Argument::Int(n) if param.is_float => n as f64,
                Argument::Int(n) => {
                    let all = n.to_le_bytes();
                    place.copy_from_slice(&all[..param.size]);
                    continue;
                }
                Argument::Float(bits) => f64::from_bits(bits),
            };
            match param.size {
                4 => place.copy_from_slice(&(number as f32).to_le_bytes()),
                _ => place.copy_from_slice(&number.to_le_bytes()),
            }
        }
        Ok((bytes, pointers))
    }
}

impl Argument {
    fn words(&self) -> String {
        match self {
            Argument::Operand(i) => format!("tensor {i}"),
            Argument::Result(_) => "a result".into(),
            Argument::Int(n) => format!("the integer {n}"),
            Argument::Float(bits) => format!("the number {}", f64::from_bits(*bits)),
        }
    }
}

impl Kernel for Own {
    fn name(&self) -> &'static str {
        self.0.text.name
    }

    fn words(&self) -> [u64; 2] {
        [std::ptr::from_ref(self.0).addr() as u64, 0]
    }

    fn takes_narrow(&self) -> bool {
        true
    }

    fn result(&self, operands: &[Shaped]) -> Result<Shaped> {
        if operands.len() != self.0.operands {
            let text = format!("takes {} tensors, got {}", self.0.operands, operands.len());
            return Err(Error::new(self.name(), ErrorKind::Value(text)));
        }
        Ok(Shaped { shape: Shape::of(&self.0.shape), dtype: self.0.dtype })
    }

    fn checks(&self) -> Checks {
        Checks::Nothing
    }

    fn flops(&self, _: &[Shaped]) -> Option<u64> {
        None
    }

    fn vjp<T: Structure>(&self, _: usize, _: &[T], _: &T, _: &T) -> Result<Option<T>> {
        let text = "a kernel of text has the gradient that it is given, and this one was given none";
        Err(Error::new(self.name(), ErrorKind::Gradient(text.into())))
    }

    unsafe fn cpu(&self, _: &[Operand], _: *mut u8, _: &Shaped) -> std::result::Result<(), Finding> {
        // Refused when it is called: see `mg_autograd::kernel::Raw`.
        Err(Finding::Kernel { code: 0, found: 0 })
    }

    fn cuda(&self, _: &[Described], result: &Shaped, _: Target) -> Result<KernelPlan> {
        let mut plan = KernelPlan::default();
        if result.shape.numel() == 0 || self.0.grid.contains(&0) {
            return Ok(plan);
        }
        let (args, pointers) = self.packed()?;
        let Call { text, grid, block, shared, .. } = *self.0;
        plan.launches.push(KernelLaunch {
            kernel: text.kernel,
            grid,
            block,
            shared,
            args,
            pointers,
            maps: vec![],
        });
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mg_device::Layout;

    const SCALE: &str = ".visible .entry scale(.param .u64 a, .param .u64 b, .param .f32 c, .param .u32 d, .param .f64 e)\n{ ret; }\n";

    fn call(arguments: &[Argument]) -> Result<Own> {
        let config = Config { grid: [2, 1, 1], block: [256, 1, 1], shared: 0 };
        Own::new(
            Text::new(SCALE, "scale")?,
            config,
            arguments,
            Shaped { shape: Shape::of(&[512]), dtype: DType::F32 },
        )
    }

    #[test]
    fn arguments_are_packed_as_c_has_them() {
        let arguments = [
            Argument::Operand(0),
            Argument::Result(0),
            Argument::Float(1.5f64.to_bits()),
            Argument::Int(-3),
            Argument::Int(2),
        ];
        let own = call(&arguments).unwrap();
        let layout = Layout::contiguous(Shape::of(&[512]));
        let described = Described { layout, dtype: DType::F32, align: 16 };
        let target = Target::new(16, 90, crate::library::matmul::Precision::Highest);
        let result = own.result(&[Shaped { shape: Shape::of(&[512]), dtype: DType::F32 }]).unwrap();
        let plan = own.cuda(&[described], &result, target).unwrap();
        let launch = &plan.launches[0];
        assert_eq!((launch.grid, launch.block), ([2, 1, 1], [256, 1, 1]));
        let mut memory = [0u8; MAX_ARGS];
        let args = launch.bind(&mut memory, |p| if p == Pointer::Input(0) { 0x1000 } else { 0x2000 });
        let mut expected = vec![];
        expected.extend_from_slice(&0x1000u64.to_le_bytes());
        expected.extend_from_slice(&0x2000u64.to_le_bytes());
        expected.extend_from_slice(&1.5f32.to_le_bytes());
        expected.extend_from_slice(&(-3i32).to_le_bytes());
        expected.extend_from_slice(&2f64.to_le_bytes());
        assert_eq!(args, expected);
        assert_eq!(call(&arguments).unwrap(), own);
        assert!(
            launch.kernel.ptx().contains(".entry mg_own_")
                && launch.kernel.ptx().contains(launch.kernel.name)
        );
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let (x, y) = (Argument::Operand(0), Argument::Result(0));
        let text = |arguments: &[Argument]| call(arguments).unwrap_err().to_string();
        assert!(text(&[x, y]).contains("5 parameters, got 2"));
        assert!(
            text(&[x, y, x, Argument::Int(1), Argument::Int(1)])
                .contains("parameter 2 of the kernel is a floating-point number of 4 bytes; got tensor 0")
        );
        assert!(
            text(&[x, y, Argument::Int(1), Argument::Int(1 << 40), Argument::Int(1)])
                .contains("got the integer 1099511627776")
        );
        assert!(
            text(&[x, y, Argument::Int(1), Argument::Float(0), Argument::Int(1)])
                .contains("an integer or an address of 4 bytes")
        );
        let config = Config { grid: [1, 1, 1], block: [2048, 1, 1], shared: 0 };
        let shaped = Shaped { shape: Shape::of(&[1]), dtype: DType::F32 };
        let all = [x, y, Argument::Int(1), Argument::Int(1), Argument::Int(1)];
        assert!(
            Own::new(Text::new(SCALE, "scale").unwrap(), config, &all, shaped)
                .unwrap_err()
                .to_string()
                .contains("1 to 1024 threads")
        );
    }
}
