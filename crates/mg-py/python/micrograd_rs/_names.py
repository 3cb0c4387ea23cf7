"""Names: modules that are imported when they are first used, and what is said about names that nobody knows."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


NO_CODE = "no file holds a module's code: save(m.state_dict(), f) its numbers, or onnx.export(m, args, f) a graph"
# What modules that were traced or scripted have in PyTorch, and why they do not here.
_OF_MODULES = {"save": NO_CODE}


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """What to say of a name that `what` does not have."""
    from difflib import get_close_matches

    if name in _OF_MODULES and not what.startswith("module "):
        return f"{what} has no attribute '{name}': {_OF_MODULES[name]}"
    public = [k for k in known if not k.startswith("_")]
    folded = {k.lower().replace("_", ""): k for k in public}
    same = folded.get(name.lower().replace("_", ""))
    near = [same] if same else get_close_matches(name, public, n=1, cutoff=0.78)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"{what} has no attribute '{name}'{hint}"


def kind_of(value: object) -> str:
    """What an error calls what it got: of another library's the library too, which is what tells one `Tensor` from another."""
    kind = type(value)
    root = kind.__module__.partition(".")[0]
    return kind.__name__ if root in ("builtins", __package__, "__main__") else f"{kind.__module__}.{kind.__name__}"


def is_foreign(value: object) -> bool:
    """Whether it is an array, or a tensor of another library."""
    return hasattr(type(value), "__dlpack__") or hasattr(type(value), "__array_interface__")


def no_tensor(value: object) -> str:
    """What an error says of what is no tensor: what it is, and for another library's how it becomes one."""
    return kind_of(value) + (": mg.from_dlpack(t) or mg.tensor(t) makes one of it" if is_foreign(value) else "")


# What PyTorch has at its top and is not here, and what there is instead: names that begin so or are so.
_ABSENT = (
    (("fft", "stft", "istft"), "there are no complex numbers here, and so no Fourier transforms"),
    (("complex", "cfloat", "cdouble", "chalf", "bcomplex", "view_as_complex", "view_as_real", "polar", "imag"), "there are no complex numbers here"),
    (("sparse", "spmm", "hspmm", "smm", "sspaddmm"), "there are no sparse tensors here"),
    (("quantiz", "qint", "quint", "qscheme", "per_tensor_", "per_channel_", "fake_quantize", "dequantize", "ao"), "there are no quantised tensors here"),
    (("float8", "float4"), "dtypes of less than 16 bits are not here: float16 and bfloat16 are"),
    (("nested", "masked"), "tensors are of one shape and have all their elements: nn.utils.rnn.pad_sequence and where() do what is done with others"),
    (("export", "library", "overrides", "package", "ops", "classes", "_dynamo", "_inductor"), "it is of PyTorch's compiler and exporter: compile(), onnx.export() and save() are what there is"),
    (("mps", "xpu", "mtia", "hip", "rocm"), "devices are 'cpu' and 'cuda'"),
    (("quasirandom",), "scipy.stats.qmc has Sobol's sequences"),
    (("cudnn_", "miopen_", "mkldnn_", "fbgemm_"), "it is of a library that PyTorch calls: nn.functional has the operation"),
    (("Script", "Sym"), "it is of PyTorch's compiler and exporter: compile() is what there is"),
)
_STORAGE = "x.untyped_storage() and x.storage() tell of the memory that a tensor lies in, and a tensor is made by tensor() or zeros()"
_ENDS = (
    ("Storage", _STORAGE),
    ("_copy", "the function of that name without _copy answers with a view, and clone() copies it"),
)
_COMPLEX = "eigenvalues of a matrix that is not symmetric are complex numbers, which are not here"
# What PyTorch has in one of its modules and is elsewhere here, or under another name.
_ELSEWHERE: dict[str, dict[str, str]] = {
    "": {
        "symeig": "linalg.eigh is for symmetric matrices, linalg.eigvalsh for their eigenvalues alone",
        "eig": f"{_COMPLEX}: linalg.eigh is for symmetric ones",
        "Stream": "it is cuda.Stream",
        "Event": "it is cuda.Event",
        "return_types": "what max(dim) and its like answer with is a named tuple",
        **dict.fromkeys(("bits8", "bits16", "bits1x8", "bits2x4", "bits4x2"), "unsigned integers have as many bits"),
        "futures": "jit.fork and jit.wait are what there is",
        "Future": "jit.fork and jit.wait are what there is",
        "ScriptModule": "it is jit.ScriptModule",
        "ScriptFunction": "it is jit.ScriptFunction",
        **dict.fromkeys(("SymInt", "SymFloat", "SymBool"), "sizes are integers always"),
        **dict.fromkeys(("hpu", "npu", "mlu", "maia", "vulkan", "is_vulkan_available"), "devices are 'cpu' and 'cuda'"),
        "is_storage": _STORAGE,
        "Graph": "explain(x) shows the graph, and x.grad_fn its history",
        **{name: f"it is nn.{name}" for name in ("ModuleDict", "ParameterDict")},
    },
    "linalg": {
        "eigvals": f"{_COMPLEX}; did you mean 'eigvalsh', for symmetric ones?",
        "eig": f"{_COMPLEX}; did you mean 'eigh', for symmetric ones?",
    },
    "utils": {
        "flop_counter": "nn.summary(model, x) counts FLOPs",
        "FlopCounterMode": "nn.summary(model, x) counts FLOPs",
        "bottleneck": "profiler.profile() shows where time goes",
        "collect_env": "python -m micrograd_rs says what this machine has",
        "mobile_optimizer": "onnx.export(model, args, f) writes what other programs run",
        "cpp_extension": "kernels.kernel and kernels.raw compile kernels of one's own",
        "clip_grad_norm_": "it is nn.utils.clip_grad_norm_",
        "clip_grad_value_": "it is nn.utils.clip_grad_value_",
    },
    "utils.data": {"datapipes": "an IterableDataset is what there is", "graph": "an IterableDataset is what there is"},
    "optim": {
        "SparseAdam": "gradients are dense here, those of embeddings too: optim.Adam takes them",
        **{name: f"it is optim.lr_scheduler.{name}" for name in ("StepLR", "CosineAnnealingLR", "OneCycleLR", "ReduceLROnPlateau", "LambdaLR")},
    },
    "nn": {
        **dict.fromkeys(("quantized", "quantizable", "qat", "intrinsic"), "there are no quantised tensors here"),
        **{name: f"it is nn.functional.{name}" for name in ("cross_entropy", "mse_loss", "relu", "gelu", "one_hot", "interpolate", "pad", "scaled_dot_product_attention")},
    },
    "distributed": dict.fromkeys(("fsdp", "rpc", "elastic", "tensor", "pipelining", "optim", "algorithms", "checkpoint"), "a model is trained by one process here"),
    "multiprocessing": {"spawn": "multiprocessing.Process(target=f, args=(rank,)) for each rank; tensors are copied there"},
}
# Words that are whole names.
_WHOLE = frozenset(("fft", "polar", "imag", "smm", "ao", "export", "library", "overrides", "package", "ops", "classes", "mps", "xpu", "mtia", "hip", "rocm", "nested", "masked"))


# What PyTorch's tensors have and these have not, and what to do instead.
_SPARSE = "there are no sparse tensors here: this one has all its elements"
_QUANTISED = "there are no quantised tensors here: x.to(mg.float16) and x.to(mg.bfloat16) are what takes less memory"
_COMPLEX_NUMBERS = "there are no complex numbers here"
_DEVICES = "devices are 'cpu' and 'cuda'"
_ELEMENTS = "operations of tensors compute with all elements at once; kernels.kernel makes one of a function of numbers"
_ABSENT_OF_TENSORS = {
    **dict.fromkeys(("ccol_indices", "coalesce", "col_indices", "crow_indices", "dense_dim", "indices", "is_coalesced", "row_indices", "smm", "sparse_dim"), _SPARSE),
    **dict.fromkeys(("sparse_mask", "sparse_resize_", "sparse_resize_and_clear_", "resize_as_sparse_", "sspaddmm", "to_dense", "to_mkldnn"), _SPARSE),
    **dict.fromkeys(("to_padded_tensor", "to_sparse", "to_sparse_bsc", "to_sparse_bsr", "to_sparse_coo", "to_sparse_csc", "to_sparse_csr", "values"), _SPARSE),
    **dict.fromkeys(("dequantize", "int_repr", "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points"), _QUANTISED),
    **dict.fromkeys(("q_scale", "q_zero_point", "qscheme"), _QUANTISED),
    **dict.fromkeys(("cdouble", "cfloat", "chalf"), _COMPLEX_NUMBERS),
    "imag": f"{_COMPLEX_NUMBERS}: a number has no imaginary part",
    **dict.fromkeys(("stft", "istft"), f"{_COMPLEX_NUMBERS}, and so no Fourier transforms"),
    "eig": f"{_COMPLEX}: linalg.eigh is for symmetric ones",
    **dict.fromkeys(("ipu", "is_ipu", "is_maia", "is_mtia", "is_vulkan", "mtia", "xpu"), _DEVICES),
    "is_distributed": "a model is trained by one process here",
    "solve": "PyTorch itself has it no more: linalg.solve(a, b)",
    "lstsq": "PyTorch itself has it no more: linalg.lstsq(a, b)",
    "symeig": "PyTorch itself has it no more: linalg.eigh(a)",
    "volatile": "PyTorch itself has it no more: under no_grad() nothing is recorded",
    "reinforce": "PyTorch itself has it no more: distributions have log_prob(), whose gradient it was",
    "new_empty_strided": "new_empty() makes a tensor in row-major order",
    **dict.fromkeys(("resize", "resize_as"), "PyTorch itself warns of it: resize_() and resize_as_() change a tensor's size, reshape() makes a view"),
    "index": "x[…] takes indices",
    "name": "a tensor has no name: module.named_parameters() tells those of parameters",
    **dict.fromkeys(("apply_", "map_", "map2_"), _ELEMENTS),
    **dict.fromkeys(("as_strided_", "set_"), "x.data = y has a tensor see other memory, x.as_strided() is a view"),
    "as_strided_scatter": "y = x.clone(); y.as_strided(size, stride).copy_(src) does it",
    "as_subclass": "there are no classes of tensors beneath Tensor",
    "const_data_ptr": "it is data_ptr()",
    "geqrf": "linalg.qr(x) has both factors",
    "ormqr": "linalg.householder_product(x, tau) is the matrix of those reflections",
    "grad_dtype": "a gradient is of its tensor's dtype",
    "hash_tensor": "equal(x, y) compares all elements",
    "module_load": "x.copy_(other) does it, and module.load_state_dict(state) for all parameters",
    "narrow_copy": "it is narrow_copy(x, dim, start, length), or x.narrow(dim, start, length).clone()",
    "nonzero_static": "nonzero(x) answers with as many rows as there are",
    "slice_inverse": "y = zeros(size); y[a:b] = x does it",
    "storage_type": "x.untyped_storage() tells of the memory that a tensor lies in",
    "unsafe_chunk": "it is x.chunk()",
    **dict.fromkeys(("unsafe_split", "unsafe_split_with_sizes"), "it is x.split()"),
}


class Absent:
    """In a class, a name that it does not have: who asks for it is told why. (A `__getattr__` would be asked for every name, which each call of a
    method would pay for.)
    """

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self.__doc__ = f"Not here: {why}."
        self.why = why

    def __get__(self, obj: object, owner: type) -> object:
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self.name}': {self.why}", name=self.name)

    def __repr__(self) -> str:
        return f"<not here: {self.why}>"


def _own_names(obj: object) -> list[str]:
    return [name for name in object.__dir__(obj) if name not in _ABSENT_OF_TENSORS or name in vars(obj)]


def tell_why(tensor: type) -> None:
    """Has the class of tensors say of what it does not have why it does not."""
    for name, why in _ABSENT_OF_TENSORS.items():
        setattr(tensor, name, Absent(name, why))
    setattr(tensor, "__dir__", _own_names)  # noqa: B010


def absent(name: str) -> str | None:
    """Why a name of PyTorch's top is not here, where that is meant."""
    for words, why in _ABSENT:
        if any(name == word if word in _WHOLE else name.startswith(word) for word in words):
            return why
    return next((why for end, why in _ENDS if name.endswith(end)), None)


def elsewhere(name: str) -> str | None:
    """Where a name is that somebody looks for at the package's top."""
    from importlib import import_module

    for module in ("nn", "nn.functional", "optim", "optim.lr_scheduler", "utils.data", "data", "linalg"):
        if not name.startswith("_") and name in dir(import_module(f"{__package__}.{module}")):
            return f"it is {module}.{name}"
    return None


class Lazy:
    """A module's `__getattr__`: imports its submodules when they are asked for, and what it has of them."""

    def __init__(
        self,
        module: str,
        submodules: tuple[str, ...] = (),
        members: dict[str, str] | None = None,
        families: dict[str, str] | None = None,
    ) -> None:
        self.module = module
        self.submodules = submodules
        self.members = members or {}
        # Submodules that have all members whose names begin so.
        self.families = families or {}

    def __call__(self, name: str) -> object:
        if name in self.submodules:
            from importlib import import_module

            return import_module(f"{self.module}.{name}")
        if name in self.members:
            from importlib import import_module

            # Kept, so that a submodule of that name does not stand for it from then on.
            value = getattr(import_module(f"{self.module}.{self.members[name]}"), name)
            setattr(sys.modules[self.module], name, value)
            return value
        for start, where in self.families.items():
            if name.startswith(start):
                from importlib import import_module

                found: object = getattr(import_module(f"{self.module}.{where}"), name, None)
                if found is not None:
                    return found
        if name.startswith("__"):
            raise AttributeError(f"module '{self.module}' has no attribute '{name}'")
        why = _ELSEWHERE.get(self.module.removeprefix(str(__package__)).removeprefix("."), {}).get(name)
        if why is None and self.module == __package__:
            why = absent(name) or elsewhere(name)
        if why is not None:
            raise AttributeError(f"module '{self.module}' has no attribute '{name}': {why}", name=name)
        # `annotations` is what `from __future__` has left there.
        known = [*(k for k in vars(sys.modules[self.module]) if k != "annotations"), *self.submodules, *self.members]
        # With its name and without its object, or Python would suggest a name once more.
        raise AttributeError(unknown(f"module '{self.module}'", name, known), name=name)
