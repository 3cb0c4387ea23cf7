"""`hub`, `utils.model_zoo`, `fx`, `jit.annotations`, and names of dtypes and layouts that no tensor has: what programs mention where they begin."""

from __future__ import annotations

import copy
import hashlib
import importlib
import pickle
import sys

import micrograd_rs as mg
import pytest

HUBCONF = '''
dependencies = ["torch", "math"]
import micrograd_rs as torch
from beside_the_hubconf import WIDTH

def small(out=1, **options):
    """A layer."""
    from later_beside_it import bias
    return torch.nn.Linear(WIDTH, out, bias=bias, **options)

def _hidden(): ...

number = 3
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(HUBCONF)
    (tmp_path / "beside_the_hubconf.py").write_text("WIDTH = 3")
    (tmp_path / "later_beside_it.py").write_text("bias = False")
    yield tmp_path
    for name in ("beside_the_hubconf", "later_beside_it"):
        sys.modules.pop(name, None)


def test_models_of_a_folder(folder):
    path = list(sys.path)
    net = mg.hub.load(str(folder), "small", 2, source="local", dtype=mg.float64, trust_repo=True)
    assert net.weight.shape == (2, 3) and net.bias is None and net.weight.dtype == mg.float64
    assert mg.hub.list(folder, source="local") == ["small"] and mg.hub.help(folder, "small", source="local") == "A layer."
    assert sys.path == path
    with pytest.raises(RuntimeError, match=r"hubconf\.py has no 'large'; it has small"):
        mg.hub.load(folder, "large", source="local")
    with pytest.raises(RuntimeError, match=r"has no 'number'; it has small"):
        mg.hub.load(folder, "number", source="local")
    with pytest.raises(FileNotFoundError, match=r"there is no .*hubconf\.py"):
        mg.hub.load(folder / "nowhere", "small", source="local")
    (folder / "hubconf.py").write_text("dependencies = ['torch', 'a_package_of_nobody']\ndef small(): ...")
    with pytest.raises(RuntimeError, match="needs a_package_of_nobody, which cannot be imported"):
        mg.hub.load(folder, "small", source="local")
    assert sys.path == path


def test_models_of_the_network():
    for call in (lambda: mg.hub.load("a/b", "small"), lambda: mg.hub.list("a/b"), lambda: mg.hub.help("a/b", "small")):
        with pytest.raises(RuntimeError, match=r"hub\.\w+: 'a/b' is not fetched from the network: clone it, and pass its folder with source='local'"):
            call()
    with pytest.raises(ValueError, match="takes 'local' as source, got 'gitlab'"):
        mg.hub.load("a/b", "small", source="gitlab")
    with pytest.raises(RuntimeError, match=r"https://x\.org/a is not fetched from the network: download it to a\.pth"):
        mg.hub.download_url_to_file("https://x.org/a", "a.pth")


def test_weights_that_were_downloaded_before(tmp_path, monkeypatch):
    monkeypatch.setattr(mg.hub, "_folder", None)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert mg.hub.get_dir() == str(tmp_path / "hub")
    mg.hub.set_dir(tmp_path / "own")
    assert mg.hub.get_dir() == str(tmp_path / "own")
    path = tmp_path / "own" / "checkpoints" / "net.pth"
    path.parent.mkdir(parents=True)
    for load in (mg.hub.load_state_dict_from_url, mg.utils.model_zoo.load_url):
        with pytest.raises(RuntimeError, match=r"net\.pth\?a=1 is not fetched from the network: download it to .*net\.pth, or load\(\) the file"):
            load("https://x.org/net.pth?a=1", progress=False, map_location="cpu")
    mg.save({"w": mg.ones(2)}, path)
    assert mg.hub.load_state_dict_from_url("https://x.org/net.pth?a=1")["w"].tolist() == [1.0, 1.0]
    assert mg.utils.model_zoo.load_url("https://x.org/z", model_dir=path.parent, file_name="net.pth")["w"].tolist() == [1.0, 1.0]
    assert mg.hub.load_state_dict_from_url(path.as_uri())["w"].tolist() == [1.0, 1.0]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for said in (digest[:8], "0" * 8):
        path.with_name(f"net-{said}.pth").write_bytes(path.read_bytes())
    assert mg.hub.load_state_dict_from_url(f"https://x.org/net-{digest[:8]}.pth", check_hash=True)["w"].tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="does not begin with 00000000: download it anew"):
        mg.hub.load_state_dict_from_url("https://x.org/net-00000000.pth", check_hash=True)


def test_what_is_written_for_a_tracer():
    from micrograd_rs.fx import GraphModule, Proxy, symbolic_trace, wrap

    @wrap
    def double(x):
        return x * 2

    assert double(mg.ones(1)).tolist() == [2.0] and mg.fx.wrap("len") == "len"
    assert not isinstance(mg.ones(1), Proxy) and not isinstance(mg.nn.Linear(1, 1), GraphModule)
    for call in (lambda: symbolic_trace(mg.nn.Linear(1, 1)), Proxy, lambda: mg.fx.Tracer().trace, lambda: mg.fx.replace_pattern(1, 2, 3)):
        with pytest.raises(NotImplementedError, match=r"fx\.\w+: programs are not traced into graphs.*jit\(f\).*onnx\.export"):
            call()


def test_annotations_of_jit():
    module = importlib.import_module("micrograd_rs.jit.annotations")
    assert mg.jit.annotations is module
    from micrograd_rs.jit.annotations import BroadcastingList2, List

    assert List[int] and BroadcastingList2[int]


NAMES = ["complex32", "complex64", "complex128", "chalf", "cfloat", "cdouble"]


def test_names_of_dtypes_that_no_tensor_has():
    known = {getattr(mg, name) for name in ("float64", "float32", "float16", "bfloat16", "int64", "uint8", "bool")}
    for name in NAMES:
        dtype = getattr(mg, name)
        assert dtype not in known and dtype.is_complex and not dtype.is_floating_point and not isinstance(dtype, mg.dtype)
        for same in (copy.deepcopy(dtype), pickle.loads(pickle.dumps(dtype))):
            assert same is dtype
        calls = [
            lambda d: mg.zeros(2, dtype=d), lambda d: mg.ones(2).to(d), lambda d: mg.ones(2).to(dtype=d), lambda d: mg.ones(2).sum(dtype=d), mg.set_default_dtype,
            lambda d: mg.nn.Linear(1, 1).to(d), lambda d: mg.promote_types(d, mg.float32), mg.finfo, lambda d: mg.ones(2).view(d),
        ]  # fmt: skip
        for call in calls:
            with pytest.raises(TypeError, match=r"micrograd_rs\.complex\d+"):
                call(dtype)
    assert (mg.cfloat, mg.cdouble, mg.chalf) == (mg.complex64, mg.complex128, mg.complex32) and len({getattr(mg, name) for name in NAMES}) == 3
    assert [getattr(mg, name).itemsize for name in NAMES[:3]] == [4, 8, 16]


def test_names_of_layouts_that_no_tensor_has():
    layouts = [getattr(mg, f"sparse_{name}") for name in ("coo", "csr", "csc", "bsr", "bsc")]
    assert mg.ones(2).layout not in layouts and mg.strided not in layouts and len(set(layouts)) == 5 and repr(layouts[0]) == "micrograd_rs.sparse_coo"
    for layout in layouts:
        with pytest.raises(TypeError):
            mg.zeros(2, layout=layout)


def test_classes_that_programs_ask_for():
    assert not isinstance(mg.jit.script(mg.nn.Linear(1, 1)), mg.jit.ScriptModule)

    class Old(mg.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.layer = mg.nn.Linear(2, 1)

        @mg.jit.script_method
        def forward(self, x):
            return self.layer(x)

    assert Old()(mg.ones(3, 2)).shape == (3, 1) and not isinstance(Old(), mg.jit.RecursiveScriptModule) and not isinstance(len, mg.jit.ScriptFunction)
    with pytest.raises(NotImplementedError, match=r"jit\(f\)"):
        mg.jit.ScriptFunction()

    def mean(x, op=mg.distributed.ReduceOp.AVG, group: mg.distributed.ProcessGroup | None = None):
        return mg.distributed.all_reduce(x, op, group) if mg.distributed.is_initialized() else x

    assert mean(mg.ones(1)).tolist() == [1.0] and len(mg.distributed.ReduceOp) == 8
    with pytest.raises(RuntimeError, match=r"distributed\.ProcessGroup: .*one process"):
        mg.distributed.ProcessGroup()


def test_modules_are_found_without_an_import(program):
    program("import micrograd_rs as mg; assert mg.utils.data.dataloader.default_collate and mg.utils.data.distributed.DistributedSampler and mg.nn.common_types._size_2_t")


def test_what_libraries_call_where_they_begin():
    assert mg._C._log_api_usage_once("a.b") is None and mg._C._get_tracing_state() is None
    with pytest.raises(AttributeError, match=r"module 'micrograd_rs\._C' has no attribute '_VariableFunctions'"):
        mg._C._VariableFunctions


def test_tensors_are_sorted_by_what_they_are():
    from micrograd_rs.utils import _foreach_utils as each

    params = [mg.ones(1), mg.ones(1).double(), mg.zeros(1)]
    state = [mg.ones(2), None, mg.zeros(2)]
    groups = each._group_tensors_by_device_and_dtype([params, [], state], with_indices=True)
    (lists, at), (others, there) = groups[mg.device("cpu"), mg.float32], groups[mg.device("cpu"), mg.float64]
    assert len(groups) == 2 and at == [0, 2] and there == [1]
    assert lists[0][1] is params[2] and lists[1] == others[1] == [] and lists[2][0] is state[0] and others[2] == [None]
    # Written into, they are those that were given.
    mg._foreach_add_(lists[0], 1)
    assert params[0].item() == 2 and each._group_tensors_by_device_and_dtype([]) == {} and each._has_foreach_support(params, params[0].device)
    with pytest.raises(ValueError, match="takes lists of one length, or empty ones, got 3, 2"):
        each._group_tensors_by_device_and_dtype([params, params[:2]])
    with pytest.raises(ValueError, match="got None at 1"):
        each._group_tensors_by_device_and_dtype([state])


def test_functions_of_processes_that_gradients_go_through():
    from micrograd_rs.distributed import nn as dist_nn

    functional = importlib.import_module("micrograd_rs.distributed.nn.functional")
    assert dist_nn is mg.distributed.nn and dist_nn.functional is functional
    for call in (dist_nn.all_reduce, functional.all_gather):
        with pytest.raises(RuntimeError, match=r"distributed\.all_\w+: .*one process"):
            call(mg.ones(1))
    with pytest.raises(AttributeError, match=r"module 'micrograd_rs\.distributed\.nn' has no attribute 'all_reduces'; did you mean 'all_reduce'"):
        dist_nn.all_reduces
