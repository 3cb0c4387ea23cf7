"""Names: modules that are imported when they are first used, and what is said about names that nobody knows."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType
    from typing import NoReturn


NO_CODE = "no file holds a module's code: save(m.state_dict(), f) its numbers, or onnx.export(m, args, f) a graph"
# What modules that were traced or scripted have in PyTorch, and why they do not here.
_OF_MODULES = {"save": NO_CODE}


def _distance(a: str, b: str) -> int:
    """How many letters are to be written, left out, replaced or swapped with the next for `a` to become `b`."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        last, before, row = before, row, [i + 1]
        for j, y in enumerate(b):
            best = min(row[j] + 1, before[j + 1] + 1, before[j] + (x != y))
            if i and j and x == b[j - 1] and a[i - 1] == y:
                best = min(best, last[j - 1] + 1)
            row.append(best)
    return row[-1]


def _folded(name: str) -> str:
    return name.lower().replace("_", "")


def _nearest(name: str, places: Iterable[tuple[str, Iterable[str]]]) -> str | None:
    """What is meant by a name that is not there, of the names in places, as it is written (`nn.Linear`); None where nothing is near. First what differs by
    case and underscores alone, then what is misspelt; of equals, what begins as a class or as a function does, and then the first place.
    """
    # A name of three letters may lack one, and is too short to have one of them wrong.
    limit = 0 if len(name) < 3 else 1 if len(name) < 8 else 2 if len(name) < 13 else 3
    folded, capital = _folded(name), name[:1].isupper()
    found: tuple[tuple[int, bool, bool], str] | None = None
    for prefix, names in places:
        for known in names:
            if known.startswith("_") or abs(len(known) - len(name)) > 2 * limit + 4:
                continue
            if _folded(known) == folded:
                away = 0
            elif len(name) > 3 and len(known) > len(name) >= 0.6 * len(known) and known.startswith(name):
                away = 1
            elif abs(len(known) - len(name)) > limit or len(set(name) ^ set(known)) > 2 * limit:
                continue
            elif (away := _distance(name, known)) > limit or (len(name) < 4 and len(known) <= len(name)):
                continue
            order = (away, known[:1].isupper() != capital, known.endswith("_") != name.endswith("_"))
            if found is None or order < found[0]:
                found = order, prefix + known
    return found and found[1]


def _near(name: str, known: Iterable[str], elsewhere: Iterable[tuple[str, Iterable[str]]] = ()) -> str:
    near = None if name.startswith("_") else _nearest(name, [("", known), *elsewhere])
    return f"; did you mean '{near}'?" if near else ""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """What to say of a name that `what` does not have."""
    if name in _OF_MODULES and not what.startswith("module "):
        return f"{what} has no attribute '{name}': {_OF_MODULES[name]}"
    return f"{what} has no attribute '{name}'{_near(name, known)}"


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


_NO_FOURIER = "there are no complex numbers here, and so no Fourier transforms"
# What PyTorch has at its top and is not here, and what there is instead: names that begin so or are so.
_ABSENT = (
    (("fft", "rfft", "irfft", "ifft", "hfft", "ihfft", "stft", "istft"), _NO_FOURIER),
    (("complex", "cfloat", "cdouble", "chalf", "bcomplex", "view_as_complex", "view_as_real", "polar", "imag"), "there are no complex numbers here"),
    (("sparse", "spmm", "hspmm", "smm", "sspaddmm"), "there are no sparse tensors here"),
    (("quantiz", "qint", "quint", "qscheme", "per_tensor_", "per_channel_", "fake_quantize", "dequantize", "ao"), "there are no quantised tensors here"),
    (("float8", "float4"), "of floats with less than 16 bits float8_e4m3fn and float8_e5m2 are here"),
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
        # NumPy's.
        "array": "tensor(x) copies, as_tensor(x) shares the memory",
        "ndarray": "it is Tensor",
        "astype": "x.to(dtype) does it",
        "copy": "it is clone",
        "expand_dims": "it is unsqueeze",
        "repeat": "it is repeat_interleave",
        "take_along_axis": "it is take_along_dim",
        "array_equal": "it is equal",
        "pad": "it is nn.functional.pad",
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
_WHOLE = frozenset(("polar", "imag", "smm", "ao", "export", "library", "overrides", "package", "ops", "classes", "mps", "xpu", "mtia", "hip", "rocm", "nested", "masked"))


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
    **dict.fromkeys(("stft", "istft"), _NO_FOURIER),
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
    # What NumPy's arrays have, and what is looked for as a method and is a function.
    "astype": "it is x.to(dtype)",
    "copy": "it is x.clone()",
    "fill": "it is x.fill_(value)",
    "conjugate": "it is x.conj()",
    "flat": "x.flatten() is a line of its elements",
    "tobytes": "x.numpy().tobytes() are its bytes",
    "searchsorted": "it is searchsorted(x, values)",
    **dict.fromkeys(("partition", "argpartition"), "x.topk(k) and x.kthvalue(k) find the largest and the k-th"),
    "len": "it is len(x)",
    "array": "it is x.numpy()",
    **dict.fromkeys(("fft", "ifft", "rfft", "irfft"), _NO_FOURIER),
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
        what = f"'{owner.__module__}.{owner.__name__}' object" if obj is not None else f"type object '{owner.__module__}.{owner.__name__}'"
        raise AttributeError(f"{what} has no attribute '{self.name}': {self.why}", name=self.name)

    def __repr__(self) -> str:
        return f"<not here: {self.why}>"


def _own_names(obj: object) -> list[str]:
    return [name for name in object.__dir__(obj) if name not in _ABSENT_OF_TENSORS or name in vars(obj)]


def _names_of_class(tensor: type) -> list[str]:
    return [name for name in type.__dir__(tensor) if name not in _ABSENT_OF_TENSORS]


def tell_why(tensor: type) -> None:
    """Has the class of tensors say of what it does not have why it does not; neither it nor a tensor lists these names."""
    from ._micrograd_rs import _list_names_of_tensors

    for name, why in _ABSENT_OF_TENSORS.items():
        setattr(tensor, name, Absent(name, why))
    setattr(tensor, "__dir__", _own_names)  # noqa: B010
    _list_names_of_tensors(_names_of_class)


def absent(name: str) -> str | None:
    """Why a name of PyTorch's top is not here, where that is meant."""
    for words, why in _ABSENT:
        if any(name == word if word in _WHOLE else name.startswith(word) for word in words):
            return why
    return next((why for end, why in _ENDS if name.endswith(end)), None)


# Where a name is looked for that the package's top does not have, the likeliest first.
_PLACES = ("nn", "nn.functional", "optim", "utils.data", "data", "optim.lr_scheduler", "linalg", "nn.utils", "nn.init", "metrics", "utils")


def _places() -> Iterator[tuple[str, list[str]]]:
    from importlib import import_module

    for place in _PLACES:
        module = import_module(f"{__package__}.{place}")
        yield f"{place}.", list(getattr(module, "__all__", dir(module)))


def elsewhere(name: str) -> str | None:
    """Where a name is that somebody looks for at the package's top."""
    return next((f"it is {place}{name}" for place, names in _places() if name in names), None)


def _at_import(frame: FrameType) -> bool:
    """Whether a frame asks for a name by `from module import name`."""
    from opcode import opname

    return frame.f_lasti >= 0 and opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM"


def refuse(module: str) -> NoReturn:
    """What a file says that stands for a module of PyTorch's that is not here: why, to who imports it."""
    why = absent(module.removeprefix(f"{__package__}."))
    raise ModuleNotFoundError(f"No module named '{module}': {why}", name=module)


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
        # `from package import module` asks so whether the module has been imported, maybe while others that a hint would import are half done.
        private = name.startswith("_") and not (self.module == __package__ and absent(name))
        if private or sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap":
            raise AttributeError(f"module '{self.module}' has no attribute '{name}'")
        why = self.why_not(name)
        # `from module import name` keeps nothing of an AttributeError, and says why a name is not there in words of its own. (What is imported already it
        # finds without an attribute.)
        if why and _at_import(sys._getframe(1)) and f"{self.module}.{name}" not in sys.modules:
            path = getattr(sys.modules[self.module], "__file__", None)
            raise ImportError(f"cannot import name '{name}' from '{self.module}'{why}", name=self.module, path=path)
        # With its name and without its object, or Python would suggest a name once more.
        raise AttributeError(f"module '{self.module}' has no attribute '{name}'{why}", name=name)

    def why_not(self, name: str) -> str:
        """What there is to say of a name that the module does not have, to be put behind that it does not have it."""
        why = _ELSEWHERE.get(self.module.removeprefix(str(__package__)).removeprefix("."), {}).get(name)
        top = self.module == __package__
        if why is None and top:
            why = absent(name) or elsewhere(name)
        if why is not None:
            return f": {why}"
        # What a module imports from Python's own is none of its names.
        of_python = ("__future__", "collections", "types", "typing")
        own = [k for k, value in vars(sys.modules[self.module]).items() if str(getattr(value, "__module__", "")).partition(".")[0] not in of_python]
        known = [*own, *self.submodules, *self.members]
        return _near(name, known, _places() if top else ())
