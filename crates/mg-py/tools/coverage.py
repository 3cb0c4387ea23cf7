"""Writes docs/coverage.md: which of PyTorch's public names there are, and why others are not.

    python tools/coverage.py             writes the page
    python tools/coverage.py --check     says whether it is as it would be written
    python tools/coverage.py --record    writes down PyTorch's names anew (needs PyTorch)
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from pathlib import Path

CRATE = Path(__file__).parent.parent
NAMES = CRATE / "tests" / "surface" / "names.json"
PAGE = CRATE.parent.parent / "docs" / "coverage.md"
SPACES = [
    "", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize", "nn.utils.parametrizations",
    "nn.utils.prune", "optim", "optim.lr_scheduler", "optim.swa_utils", "utils.data", "utils.checkpoint", "linalg", "special", "func",
    "autograd", "autograd.functional", "autograd.forward_ad", "autograd.graph", "autograd.profiler", "distributions", "distributions.constraints",
    "distributions.transforms", "distributions.utils", "random", "signal.windows", "testing", "jit", "compiler", "amp", "profiler", "cuda",
    "cuda.nvtx", "accelerator", "nn.attention", "nn.attention.bias", "nn.attention.flex_attention", "utils.benchmark", "utils.tensorboard",
]
# Why a name is not there: the first that fits the name with its module before it, without `torch.`.
REASONS: list[tuple[str, str]] = [
    ("PyTorch's own keeps its first channel in every sum; `LocalResponseNorm` is what it is meant to be", r"^nn\.CrossMapLRN2d"),
    ("not here: complex numbers", r"(^|\.)(complex|bcomplex|cfloat|cdouble|chalf|imag|polar|eig$|eigvals$|stft|istft|view_as_(complex|real)|has_spectral|is_storage)|complex"),
    ("not here: sparse tensors", r"sparse|Sparse|to_dense|dense_dim|coalesce|crow_|ccol_|(^|\.)(row|col)_indices|(^|\.)(values|indices)$|spmm|smm$|hsmm|dsmm|sspaddmm|saddmm|to_mkldnn|to_padded_tensor|jagged"),
    ("not here: quantised tensors", r"quant|q_scale|q_zero_point|q_per_channel|(^|\.)(qint|quint|qscheme|bits|int[1-7]$|uint[1-7]$)|int_repr|per_tensor_|per_channel_|fbgemm|float8|float4|scaled_grouped_mm|scaled_addmm|grouped_mm|Storage$"),
    ("not here: several processes on one model", r"istributed|share_memory_|is_shared"),
    ("not here: named axes", r"(^|\.)(names|rename|refine_names|align_)"),
    ("not here: other makers' devices and libraries", r"cudnn_|miopen_|mkldnn|mps|mtia|xpu|ipu|vulkan|maia|hpu|accelerator|has_(lapack|mkl|openmp)|compiled_with"),
    ("gone from PyTorch itself: it answers with an error", r"^(Tensor\.)?(symeig|solve|lstsq|matrix_rank|eig)$|Tensor\.(reinforce|volatile|resize|resize_as|new_empty_strided|is_distributed)$"),
    ("what CUDA's own libraries and tools are asked", r"^cuda\.(CUDAPlug|Cuda|Deferred|ExternalStream|Green|MemPool|caching_|change_current|check_error|clock_rate|cudaStatus|cudart|current_(blas|solver)|device_memory_used|export_|get_(allocator|arch|gencode|stream_from|sync)|graph_|graphs|jiterator|list_gpu|memory_(snapshot|usage)|nccl|power|profiler|random|set_sync|sparse|temperature|tunable|use_mem|utilization|host_memory|reset_(accum|peak_host)|gds|green|memory_stats_as)|^accelerator\.(Graph|empty_host|reset_accum|get_device_cap)|^nn\.attention\.(WARN|\w+_flash_attention_impl)|FlexKernelOptions|Callgrind|FunctionCount"),
    ("PyTorch's compiler, exporter and dispatcher", r"^(sym_|Sym|sym)|(^|\.)(cond|while_loop|vmap_|Dispatch|Function(Schema|alize)|functionalize|debug_unwrap|rearrange|handle_torch_function|has_torch_function|boolean_dispatch|BroadcastingList|assert_int_or_pair)|^jit\.|^compiler\.|autocast|^amp\.|is_traceable|is_opaque|as_subclass|module_load|swap_|save_on|hash_tensor|const_data_ptr|grad_dtype"),
    ("types and switches of PyTorch's own C++ side", r"^[A-Z]\w*(Type|State|Info|Tracer|Config|Stats|Key|Guard|Set|Schema|Module|Method|Function|Reader|Writer|Logger|Base|Object|Dict|List|Iterator|Serializer|Property|Context|Table|Operator|Builder|Error|Spec)$|^(AVG|SUM|AliasDb|Argument|Block|BufferDict|CallStack|Capsule|ClassType|Code|FileCheck|Future|Gradient|Graph|IODescriptor|ModuleDict|Node|OperatorInfo|PRIVATE_OPS|ParameterDict|ScriptObject|Tag|Type|USE_\w+|Use|bit|classproperty|ErrorReport|ScriptClass|ExecutionPlan|fork|wait|get_deterministic_debug_mode|set_deterministic_debug_mode|get_device_module|get_file_path|import_ir_\w+|init_num_threads|is_anomaly_\w+|set_anomaly_enabled|is_warn_always_enabled|set_warn_always|legacy_contiguous_format|merge_type_\w+|parse_\w+|prepare_\w+|profiler_\w+|thread_safe_generator|unify_\w+|AggregationType|BenchmarkConfig)$|^testing\.FileCheck|^nn\.(Container|factory_kwargs)|^nn\.functional\.(GRID_|Tensor)|PackedSequence_|^nn\.utils\.rnn\.bind|EPOCH_DEPRECATION|lr_scheduler\.(inf|ref)|PARAM_LIST|thread_safe|^utils\.checkpoint\.|autograd\.(Nested|enforce_|set_multi|variable)|^distributions\.(constraint_registry|kl)$"),
    ("hooks and counters of PyTorch's own graph", r"^autograd\.(graph|profiler)\.|^profiler\."),
    ("how PyTorch's functions are made of others", r"^utils\.(benchmark|tensorboard)\.|^distributions\.utils\."),
    ("data pipes, which PyTorch itself gave up", r"^utils\.data\."),
    ("how PyTorch's functions are made of others", r"_copy$|^(native|batch_norm)_|native_|_backward_|_elemt$|embedding_renorm_|affine_grid_generator|grid_sampler|conv_tbc|convolution$|choose_|_stats|rnn_|nonzero_static|nonzero_numpy|slice_inverse|as_strided_$|as_strided_scatter|set_$|storage|map2?_$|apply_$|record_stream|unsafe_|_fused|segment_reduce|ormqr|geqrf|frobenius_norm|nuclear_norm|orgqr"),
]
# Names of which no rule above tells: what is wanted, and not yet done.
NOT_YET = """
    Tensor.index Tensor.name Event Stream
    nn.LinearCrossEntropyOptions special.airy_ai
    utils.checkpoint.create_selective_checkpoint_contexts utils.checkpoint.CheckpointPolicy
"""


def public(module: object, space: str) -> list[str]:
    found = []
    listed = set(getattr(module, "__all__", ())) if space not in ("", "Tensor") else None
    for name in dir(module):
        if name.startswith("_") or name.endswith("_notes") or name.endswith("_common") or name in ("common_args", "common_notes"):
            continue
        value = getattr(module, name, None)
        home = getattr(value, "__module__", "") or ""
        if inspect.ismodule(value) or home.split(".")[0] in ("typing", "abc", "enum", "collections", "copy", "functools", "itertools", "contextlib", "warnings", "dataclasses", "typing_extensions", "math"):
            continue
        if inspect.isclass(value) and (home.startswith("torch._C") or home == "builtins" and space != "") or name == "TYPE_CHECKING":
            continue
        if listed and name not in listed and home.startswith("torch") and not home.startswith(("torch.nn", "torch." + space)):
            continue
        if space == "" and inspect.isclass(value) and home not in ("torch", "torch._tensor"):
            continue
        if space in ("jit", "func", "autograd", "compiler", "testing", "nn.init", "nn.utils", "utils.data", "optim", "profiler", "cuda", "nn.attention", "nn.attention.bias", "nn.attention.flex_attention", "autograd.forward_ad", "autograd.graph", "autograd.profiler", "accelerator", "distributions.utils") and listed and name not in listed:
            continue
        found.append(name)
    return found


def record() -> None:
    import torch

    names = {}
    for space in SPACES:
        module = torch.Tensor if space == "Tensor" else importlib.import_module("torch" + ("." + space if space else ""))
        names[space] = public(module, space)
    NAMES.write_text(json.dumps({"version": torch.__version__.split("+")[0], "names": names}, indent=0) + "\n")


def has(space: str, name: str) -> bool:
    import micrograd_rs

    try:
        module = micrograd_rs.Tensor if space == "Tensor" else importlib.import_module("micrograd_rs" + ("." + space if space else ""))
    except ModuleNotFoundError:
        return False
    return hasattr(module, name)


def reason(space: str, name: str) -> str | None:
    full = f"{space}.{name}" if space else name
    if full in NOT_YET.split():
        return "not yet"
    return next((text for text, pattern in REASONS if re.search(pattern, full)), None)


def page() -> tuple[str, list[str]]:
    """The page, and names that nothing is said of."""
    known = json.loads(NAMES.read_text())
    unknown: list[str] = []
    rows, details = [], []
    for space, names in known["names"].items():
        missing = [name for name in names if not has(space, name)]
        title = "torch" + ("." + space if space else "")
        rows.append(f"| `{title}` | {len(names)} | {len(names) - len(missing)} |")
        by_reason: dict[str, list[str]] = {}
        for name in missing:
            why = reason(space, name)
            if why is None:
                unknown.append(f"{space}.{name}" if space else name)
            by_reason.setdefault(why or "?", []).append(name)
        if missing:
            order = {text: i for i, (text, _) in enumerate(REASONS)}
            parts = sorted(by_reason.items(), key=lambda item: (item[0] in order, order.get(item[0], 0), item[0]))
            details.append(f"## `{title}`\n\n" + "\n".join(f"- {why}: " + ", ".join(f"`{n}`" for n in group) for why, group in parts))
    head = TEXT.replace("VERSION", known["version"])
    body = head + "\n| Module | Names | Here |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n\n" + DIFFERENCES + "\n" + "\n\n".join(details) + "\n"
    return body, unknown


TEXT = """# Which of PyTorch's names are here

Written by `crates/mg-py/tools/coverage.py`, and checked by the tests: of the public names of these modules of PyTorch VERSION, those that `micrograd_rs` has
under the same module, and of the others why they are not there. `import micrograd_rs as torch` finds the first; whether they do what PyTorch's
do is compared by the recorded answers (`crates/mg-py/tests/surface`) and by whole programs (`crates/mg-py/tests/programs`). Who asks a tensor for
a name that is not here is told why, and what there is instead; so is who asks the package for one that programs name.
"""

DIFFERENCES = """## What is there and differs

- `func.jvp`, `jacfwd`, `hessian`: code under `no_grad` inside of the function is constant to them, where PyTorch's `no_grad` stops gradients alone.
- `Tensor(data)` is a leaf that requires a gradient, as in micrograd, and `Tensor(5)` is one number; `Tensor(2, 3)` takes sizes, as `FloatTensor`
  and its like do. `view` takes dtypes of the same size, on the host.
- `Muon` orthogonalises in the parameters' dtype (half types in f32), PyTorch's in bfloat16: parameters differ by some 1e-3 of a step.
- Products promote operands of different float dtypes, where PyTorch refuses them; `from_dlpack` copies unless it is told `copy=False`; a tensor
  that requires a gradient is a module's parameter wherever it is assigned; sizes print as tuples, devices as `Device('cpu')`.
- More is taken than in PyTorch: `mean` and `softmax` of integers, `Linear` with inputs of other dtypes, which are promoted, labels and indices of integers of
  any width, truth values in `isin`, numbers on the left of `maximum`, `where` and `bucketize`, one number for a list of one (`full(3, 1)`,
  `layer_norm(x, 3)`, `randint(3, size=2)`) and a tensor of one element for a number (`linspace`), lists and arrays as values
  that are written (`x[…] = [1, 2]`), `multi_dot` of one matrix, `broadcast_tensors([a, b])`, and `x.numpy()` of a leaf that
  requires a gradient, a copy that nobody can write to. `F.softmax` without `dim` and a schedule's step before its optimiser's do not warn.
- An array of NumPy's beside a tensor counts as a tensor, whichever of them is first: f32 with an array of i64 is f32. PyTorch leaves it to NumPy, whose
  answer is f64, and refuses the other order. A `numpy.bool_` is a truth value; in PyTorch it is a float.
- `out=` takes None alone, everywhere: what an operation answers with is written into a tensor by `x.copy_(…)`, or by its twin with an underscore.
- A module's `__dict__` has its parts under their own names, beside `_parameters`, `_buffers` and `_modules`, which change the module.
- `_base` of a view is a tensor of all of the memory, and not the object that the view was made of.
- Gradients are dense: `gather(sparse_grad=…)` and `embedding(sparse=…)` change nothing. Nor does `non_blocking`: no copy to a device makes the host wait for it.
- `resize_` to more elements than there are in memory gives a tensor memory of its own, with zeros behind what there was; other views stay with the old one. `lobpcg` takes no
  `tracker`, and has gradients of second order and by `B`, too; what its `ortho_` arguments say is ignored.
- `empty` and its like are zeros. `layout` is taken and changes nothing. `memory_format` is that of tensors of four and five axes ([state.md](state.md)). `pin_memory=True` does so where there is no CUDA device, where PyTorch's is an error.
- `Tensor.type()` without an argument answers with the dtype; `repr` says `micrograd_rs.float32`.
- Errors are of both kinds: `ArgumentError` (shapes, numbers) is a ValueError and a RuntimeError, `DTypeError` a TypeError and a RuntimeError, and
  `EmptyError` (the largest of nothing) an ArgumentError and an IndexError.
- Arithmetic of integers wraps around at the ends of their dtype, as PyTorch's. A float that becomes an integer loses its fraction; one beyond the dtype's ends
  becomes the end, and NaN 0: `tensor(300.0).to(uint8)` is 255, where PyTorch leaves it to the processor (44, on x86).
- `interpolate` of bytes is that of floats, rounded once; PyTorch rounds the weights, too.
- An integer divided by 0 is an error; of what is known when it is called (numbers, small tensors that are computed, on the host) at the call, else where it is computed.
- `compile` records and replays (`jit`); `jit.script` and `jit.trace` answer with what they are given.
- Random numbers are others for the same seed, and the same on every device: they are one generator's, which `cuda.manual_seed` seeds too, and answers with.
- `optim.SGD(fused=…, foreach=…, capturable=…)`: steps are fused always; the switches change nothing.
- `distributions`: gradients of samples of `Gamma` and what is made of it are of first order.
- Where PyTorch's own answers are none, ours are the formula's: `GeneralizedPareto`'s mean where it is infinite, `Kumaraswamy`'s mode, divergences
  to `ContinuousBernoulli` and `Uniform` from what lies in [0, 1] up to its ends, the gradient of `batch_norm` of one sample outside of training where it
  comes back transposed (`flatten(2).transpose(1, 2)` behind it: PyTorch 2.15 takes the elements in another order).
- Gradients are those of what is computed where PyTorch's are of something else: of `ctc_loss`, PyTorch's is that of what comes from `log_softmax`, and no number where the loss is infinite
  (0 here: see `zero_infinity`); of `cholesky_solve` and `cholesky_inverse`, that of the triangle that is not read, which is 0 here; of `max_unpool` and of what is written at indices of which one is there twice
  (`x[[0, 0]] = y`, `index_put`, `scatter`, `index_copy`, `put`), that of elements that are written over, 0 here; forward mode of
  `cross_entropy` by its class weights. Bessel's functions of f64 have its digits, PyTorch's those of f32.
- A range of a profile (`record_function`) has the launches that are made while it is open, which is where values are looked at. A CUDA launch is
  waited for in a profile: its time is the processor's, too.
- A CUDA device has one stream, which every `cuda.Stream` is. `cuda.Event(enable_timing=True)` waits when it is recorded; `elapsed_time` warns where
  nothing was computed in between, as results are when they are looked at. "cuda" is the first device always: `cuda.set_device(1)` is an error.
- Hooks of `autograd.graph.register_multi_grad_hook` with all gradients are called at the end of a pass, before gradients are added to leaves; PyTorch's with the
  last gradient. Those of operations (`grad_fn.register_hook`) see the operations that a graph consists of here, which may be others than PyTorch's.
  Under `create_graph=True` a hook behind an operation (`register_hook`) that is put together again from others is an error.
- On processors the zeros around a convolution's input are multiplied as other elements are, whatever the shape: 0 · ∞ and 0 · NaN are NaN, in the convolution where the weight is
  infinite or NaN, and in the weight's gradient where the result's gradient is. The input's gradient is a sum of products with the result's gradient alone. PyTorch's f64 has
  the same rule; its f32 follows it for some shapes.
- `nn.attention.sdpa_kernel` chooses among one. `flex_attention` with a mask alone is `scaled_dot_product_attention`; with functions of scores it lays out those of some queries at a time.
- `complex64` and `sparse_coo` and their like are names to compare with: no tensor is of such a dtype or layout, and to ask for one is a TypeError.
- There to say what to do instead, in an error: `hub.load` of what is not a folder and `hub.load_state_dict_from_url` of what was not downloaded, what is in `fx` but `wrap`, `autograd.graph.saved_tensors_hooks`, `save_on_cpu` and `allow_mutation_on_saved_tensors`,
  `autograd.profiler.emit_nvtx`, `cuda.CUDAGraph` and `cuda.graph`, `nn.parallel.DistributedDataParallel`, what is in
  `distributed` but `is_available` and `is_initialized`, `Module.share_memory`, `Tensor.share_memory_`, `jit.save` and `jit.load`, `SummaryWriter.add_graph`, `add_hparams`, `add_embedding`,
  `add_pr_curve`, `add_audio`, `add_video`, `add_mesh` and `add_custom_scalars`, `benchmark.Timer.collect_callgrind`.
- The modules `fft`, `sparse`, `quantization`, `ao`, `nested` and `export` are not here: who imports them is told why, as of names (`from micrograd_rs import stft`).
- `backends.cudnn` and its like keep what they are set to, and change nothing, but for `backends.cuda.matmul.allow_tf32`.
"""


def main() -> int:
    if "--record" in sys.argv:
        record()
    text, unknown = page()
    if unknown:
        print("nothing is said of: " + " ".join(unknown), file=sys.stderr)
        return 1
    if "--check" in sys.argv:
        if PAGE.read_text() != text:
            print("docs/coverage.md is not as it would be written: run python tools/coverage.py", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text)
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
