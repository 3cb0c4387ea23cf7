//! Kernels that are CUDA C or PTX text.

use crate::ops::Operand;
use crate::tensor::Tensor;
use mg_device::cuda::{Gpu, nvrtc};
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape};
use mg_graph::Node;
use mg_kernels::library::own::{Argument, Config, Own, Text};
use mg_kernels::library::{Library, Shaped};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The text of a kernel for CUDA devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// CUDA C, which NVRTC compiles where it is found.
    Cuda(String),
    /// PTX, which the driver assembles.
    Ptx(String),
}

/// A kernel of text: one entry, launched on tensors in its place among the operations around it.
///
/// The entry's parameters are the arguments of a call in their order, tensors as pointers to their first element (they lie densely) and numbers as what the
/// parameter is, then a pointer to each result. Launches wait for what they read and are waited for; they must not write but to their results.
///
/// A call has no gradient but the one that a [`Function`](crate::function::Function) around it gives it. Texts and calls of different numbers, grids and shapes are kept as
/// long as the program lives: what changes from call to call belongs in a tensor.
pub struct Raw {
    name: &'static str,
    source: Source,
    options: Vec<String>,
    folders: Vec<PathBuf>,
    /// By compute capability.
    compiled: Mutex<HashMap<u32, &'static Text>>,
}

/// A result of a call: its shape and dtype.
pub type Output = (Shape, DType);

impl Raw {
    /// The entry `name` of a text. `options` are the compiler's, and `folders` where it is looked for first.
    ///
    /// # Errors
    ///
    /// PTX text without that entry. CUDA C is compiled when it is first called.
    pub fn new(name: &str, source: Source, options: &[String], folders: &[PathBuf]) -> Result<Raw> {
        let compiled = HashMap::new();
        let (options, folders) = (options.to_vec(), folders.to_vec());
        let raw = Raw { name: super::kept(name), source, options, folders, compiled: Mutex::new(compiled) };
        if let Source::Ptx(text) = &raw.source {
            Text::new(text, name)?;
        }
        Ok(raw)
    }

    /// The PTX for devices of a compute capability.
    ///
    /// # Errors
    ///
    /// No compiler on this machine, or one that refuses the text.
    pub fn ptx(&self, capability: u32) -> Result<String> {
        match &self.source {
            Source::Ptx(text) => Ok(text.clone()),
            Source::Cuda(text) => {
                nvrtc::compile(text, &format!("{}.cu", self.name), capability, &self.options, &self.folders)
            }
        }
    }

    fn text(&self, capability: u32) -> Result<&'static Text> {
        if let Some(&text) = self.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(&capability) {
            return Ok(text);
        }
        let text = Text::new(&self.ptx(capability)?, self.name)?;
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner).insert(capability, text);
        Ok(text)
    }

    /// Launches it on CUDA tensors and numbers; answers with its results, which have no history.
    ///
    /// # Errors
    ///
    /// Tensors that are not on one CUDA device; arguments that do not fit the entry's parameters; results of several dtypes; what the compiler
    /// says.
    #[track_caller]
    pub fn launch(&self, args: &[Operand], config: Config, outputs: &[Output]) -> Result<Vec<Tensor>> {
        crate::caller::public(self.name, || {
            let device = self.device(args)?;
            let (major, minor) = Gpu::of(device)?.capability();
            self.nodes(self.text(major * 10 + minor)?, args, config, outputs)
        })
    }

    fn fail<T>(&self, kind: ErrorKind) -> Result<T> {
        Err(Error::new(self.name, kind))
    }

    /// Where it is launched.
    fn device(&self, args: &[Operand]) -> Result<Device> {
        let mut device = None;
        for arg in args {
            if let Operand::Tensor(t) = arg {
                let own = t.device();
                if !own.is_cuda() {
                    return self.fail(ErrorKind::Device(format!(
                        "a kernel of text runs on CUDA devices, got a tensor on {own}"
                    )));
                }
                if *device.get_or_insert(own) != own {
                    return self.fail(ErrorKind::UnlikeDevices("takes tensors on the same device".into()));
                }
            }
        }
        match device {
            Some(device) => Ok(device),
            None => {
                self.fail(ErrorKind::Value("takes at least one tensor: it says where the kernel runs".into()))
            }
        }
    }

    /// The nodes of a call.
    pub(super) fn nodes(
        &self,
        text: &'static Text,
        args: &[Operand],
        config: Config,
        outputs: &[Output],
    ) -> Result<Vec<Tensor>> {
        let Some(&(_, dtype)) = outputs.first() else {
            return self.fail(ErrorKind::Value("has no results".into()));
        };
        if outputs.iter().any(|o| o.1 != dtype) {
            return self.fail(ErrorKind::DType("results of one kernel have one dtype".into()));
        }
        let (mut arguments, mut operands) = (vec![], vec![]);
        for arg in args {
            arguments.push(match arg {
                Operand::Tensor(t) => {
                    let Ok(at) = u8::try_from(operands.len()) else {
                        return self.fail(ErrorKind::Value("takes at most 256 tensors".into()));
                    };
                    operands.push(t.node());
                    Argument::Operand(at)
                }
                Operand::Float(x) => Argument::Float(x.to_bits()),
                Operand::Int(n) => Argument::Int(*n),
                Operand::Bool(b) => Argument::Int(i64::from(*b)),
                Operand::Live(_) => {
                    let text = "a number that replays read anew is given as a tensor";
                    return self.fail(ErrorKind::Value(text.into()));
                }
            });
        }
        // Several results lie in one, each where the device's widest accesses may begin.
        let (mut starts, mut end) = (vec![], 0usize);
        for (shape, _) in outputs {
            starts.push(end);
            let next = end.checked_add(shape.numel()).map(|n| n.next_multiple_of(256 / dtype.size()));
            let Some(next) = next else {
                return self.fail(ErrorKind::Shape("the results are too large together".into()));
            };
            arguments.push(Argument::Result((end * dtype.size()) as u64));
            end = next;
        }
        let whole = if outputs.len() == 1 { outputs[0].0 } else { Shape::of(&[end]) };
        let own = Own::new(text, config, &arguments, Shaped { shape: whole, dtype })?;
        let operands: Vec<&Node> = operands.iter().collect();
        let _guard = crate::gradient::no_grad();
        let node = Node::library(Library::Own(own), &operands)?;
        if outputs.len() == 1 {
            return Ok(vec![Tensor::from_node(node)]);
        }
        let part = |(&(shape, _), &start): (&Output, &usize)| {
            let part = node.slice(0, start, 1, shape.numel())?;
            Ok(Tensor::from_node(part.reshape(shape)?))
        };
        outputs.iter().zip(&starts).map(part).collect()
    }
}
