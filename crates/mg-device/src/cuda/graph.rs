//! Launches that are replayed together: a graph of the driver, built node by node.

use std::ffi::c_void;
use std::ptr::null_mut;

use super::api::Handle;
use super::collect::Launches;
use super::fault::Origin;
use super::gpu::{Gpu, Kernel};
use crate::error::Result;

/// One launch of a graph; see [`Gpu::launch`].
#[derive(Clone, PartialEq, Debug)]
pub struct KernelNode {
    /// What is launched.
    pub kernel: Kernel,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory.
    pub shared: u32,
    /// The bytes of the kernel's parameter.
    pub args: Box<[u8]>,
    /// The kernel's second parameter, where it has one; see [`Gpu::set_gate`].
    pub gate: [u64; 2],
    /// The launches before it, by position, that it waits for.
    pub after: Box<[u32]>,
}

impl KernelNode {
    /// Whether a graph can have the one in place of the other: they differ in what is written and read, and in how many blocks there are.
    pub(super) fn is_alike(&self, other: &KernelNode) -> bool {
        (self.kernel, self.block, self.shared, self.args.len(), &self.after)
            == (other.kernel, other.block, other.shared, other.args.len(), &other.after)
    }
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
struct Params {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: Handle,
    context: Handle,
}

/// Launches that the device runs after one call, each as soon as those that it waits for are done.
pub struct Graph {
    gpu: &'static Gpu,
    graph: Handle,
    exec: Handle,
    nodes: Vec<Handle>,
}

// SAFETY: graphs may be used from any thread, by one at a time, which `&mut` and the drop see to.
unsafe impl Send for Graph {}

/// Calls `f` with a node's parameters as the driver takes them.
fn with_params<R>(node: &KernelNode, f: impl FnOnce(*const c_void) -> R) -> R {
    // As `Gpu::start` tells it.
    let mut args: [*mut c_void; 2] =
        [node.args.as_ptr().cast_mut().cast(), (&raw const node.gate).cast_mut().cast()];
    let params = Params {
        function: node.kernel.function,
        grid: node.grid,
        block: node.block,
        shared: node.shared,
        params: args.as_mut_ptr(),
        extra: null_mut(),
        kernel: null_mut(),
        context: null_mut(),
    };
    f((&raw const params).cast())
}

impl Graph {
    /// A graph of launches.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda) where the driver refuses it.
    ///
    /// # Safety
    ///
    /// As [`Gpu::launch`], for each launch of the graph; launches that do not wait for each other use no memory that one of
    /// them writes.
    pub unsafe fn new(gpu: &'static Gpu, launches: &mut Launches) -> Result<Graph> {
        gpu.bind()?;
        let mut graph = Graph { gpu, graph: null_mut(), exec: null_mut(), nodes: vec![] };
        // SAFETY: handles are written; nodes are of this graph, and their parameters are copied by the driver.
        unsafe {
            gpu.check("cuGraphCreate", (gpu.api.graph_create)(&mut graph.graph, 0))?;
            for launch in launches.nodes() {
                if launch.shared > Gpu::PLAIN_SHARED {
                    gpu.allow_shared(launch.kernel, launch.shared)?;
                }
                let after: Vec<Handle> =
                    launch.after.iter().filter_map(|&a| graph.nodes.get(a as usize).copied()).collect();
                let mut node = null_mut();
                let code = with_params(launch, |params| {
                    (gpu.api.graph_add_kernel)(&mut node, graph.graph, after.as_ptr(), after.len(), params)
                });
                gpu.check("cuGraphAddKernelNode", code)?;
                graph.nodes.push(node);
            }
            gpu.check("cuGraphInstantiate", (gpu.api.graph_instantiate)(&mut graph.exec, graph.graph, 0))?;
        }
        launches.told();
        Ok(graph)
    }

    /// Makes the graph, which the collection before these launches was made into, one of them, if they differ in parameters and grids only;
    /// answers whether they do.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda): the graph is then of no use.
    ///
    /// # Safety
    ///
    /// As [`Graph::new`].
    pub unsafe fn update(&mut self, launches: &mut Launches) -> Result<bool> {
        let Some(changed) = launches.changed().filter(|_| launches.nodes().len() == self.nodes.len()) else {
            return Ok(false);
        };
        for &at in changed {
            let at = at as usize;
            // SAFETY: the node is of the graph that the instance was made from.
            let code = with_params(&launches.nodes()[at], |params| unsafe {
                (self.gpu.api.graph_exec_set_kernel)(self.exec, self.nodes[at], params)
            });
            self.gpu.check("cuGraphExecKernelNodeSetParams", code)?;
        }
        launches.told();
        Ok(true)
    }

    /// Runs the launches, after the device's work so far.
    ///
    /// # Errors
    ///
    /// As [`Gpu::launch`].
    ///
    /// # Safety
    ///
    /// As [`Graph::new`].
    pub unsafe fn run(&self, origin: Origin) -> Result<()> {
        self.gpu.watch().launched(origin);
        self.gpu.bind()?;
        // SAFETY: by this function's contract.
        let code = unsafe { (self.gpu.api.graph_launch)(self.exec, self.gpu.stream) };
        self.gpu.check("cuGraphLaunch", code)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.gpu.bind().is_err() {
            return;
        }
        // SAFETY: the handles are this graph's own; null ones were never made. The driver waits for runs under way.
        unsafe {
            if !self.exec.is_null() {
                (self.gpu.api.graph_exec_destroy)(self.exec);
            }
            if !self.graph.is_null() {
                (self.gpu.api.graph_destroy)(self.graph);
            }
        }
    }
}
