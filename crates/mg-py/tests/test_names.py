"""Names: what there is, what is said about what there is not, and the stubs."""

from __future__ import annotations

import ast
import enum
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import micrograd_rs as mg
import pytest
from conftest import run

CRATE = Path(__file__).parent.parent
MODULES = ["", ".autograd", ".cuda", ".data", ".engine", ".functional", ".linalg", ".nn", ".nn.functional", ".nn.init", ".optim", ".optim.lr_scheduler"]


@pytest.mark.parametrize("name", MODULES)
def test_all_is_there(name):
    module = importlib.import_module("micrograd_rs" + name)
    for public in module.__all__:
        assert getattr(module, public) is not None
    assert module.__doc__


def test_what_is_imported_late_is_what_type_checkers_are_told_of():
    """Names are in two lists: the one that is looked at when they are asked for, and the imports that only type checkers see."""
    tree = ast.parse(Path(mg.__file__).read_text("utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom) and node.level]
    late = mg.__getattr__
    told = {alias.name: node.module for node in imports if node.module for alias in node.names}
    # `jit` is a module that is called.
    assert told.pop("_Called") == "jit"
    assert told == {name: place for name, place in late.members.items() if not name.startswith("_")}
    modules = {alias.name for node in imports if not node.module for alias in node.names}
    assert modules == {*late.submodules} - {"jit", "_C"}


@pytest.mark.parametrize(
    ("ask", "near"),
    [
        (lambda: mg.tensr, "tensor"),
        (lambda: mg.nn.linear, "Linear"),
        (lambda: mg.nn.functional.crossentropy, "cross_entropy"),
        (lambda: mg.functional.soft_max, "softmax"),
        (lambda: mg.optim.Adm, "Adam"),
        (lambda: mg.optim.lr_scheduler.StepLr, "StepLR"),
        (lambda: mg.linalg.nrm, "norm"),
        (lambda: mg.linalg.slve, "solve"),
        (lambda: mg.func.vmp, "vmap"),
        (lambda: mg.data.MNIST, "Mnist"),
        (lambda: mg.onnx.exprt, "export"),
        (lambda: mg.utils.data.Dataloader, "DataLoader"),
        (lambda: mg.nn.Conv2D, "Conv2d"),
        (lambda: mg.Linea, r"nn\.Linear"),
        (lambda: mg.Relu, r"nn\.ReLU"),
        (lambda: mg.crossentropy, r"nn\.functional\.cross_entropy"),
        (lambda: mg.MNIST, r"data\.Mnist"),
        (lambda: mg.masked_sel, "masked_select"),
    ],
)
def test_did_you_mean(ask, near):
    with pytest.raises(AttributeError, match=f"did you mean '{near}'"):
        ask()


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Linear", "nn"),
        ("gelu", "nn.functional"),
        ("Adam", "optim"),
        ("StepLR", "optim.lr_scheduler"),
        ("DataLoader", "utils.data"),
        ("Mnist", "data"),
        ("cross_entropy", "nn.functional"),
        ("clip_grad_norm_", "nn.utils"),
        ("plot", "utils"),
    ],
)
def test_names_that_are_elsewhere(name, place):
    with pytest.raises(AttributeError, match=rf"^module 'micrograd_rs' has no attribute '{name}': it is {re.escape(place)}\.{name}$"):
        getattr(mg, name)


@pytest.mark.parametrize("name", ["foo", "vision", "abc", "nvmlx", "Modul3000", "loader_of_things"])
def test_what_is_far_is_not_meant(name):
    with pytest.raises(AttributeError, match=f"^module 'micrograd_rs' has no attribute '{name}'$"):
        getattr(mg, name)


FOURIER = "there are no complex numbers here, and so no Fourier transforms"


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("from micrograd_rs import fft", f"cannot import name 'fft' from 'micrograd_rs': {FOURIER}"),
        ("from micrograd_rs import stft as s", f"cannot import name 'stft' from 'micrograd_rs': {FOURIER}"),
        ("from micrograd_rs import Linear", "cannot import name 'Linear' from 'micrograd_rs': it is nn.Linear"),
        ("from micrograd_rs.nn import Linea", "cannot import name 'Linea' from 'micrograd_rs.nn'; did you mean 'Linear'?"),
        ("from micrograd_rs.utils.data import DataLoader, Dataloader", "cannot import name 'Dataloader' from 'micrograd_rs.utils.data'; did you mean 'DataLoader'?"),
        ("import micrograd_rs.fft", f"No module named 'micrograd_rs.fft': {FOURIER}"),
        ("import micrograd_rs.fft as fft", f"No module named 'micrograd_rs.fft': {FOURIER}"),
        ("from micrograd_rs.fft import rfft", f"No module named 'micrograd_rs.fft': {FOURIER}"),
        ("import micrograd_rs.ao.quantization", "No module named 'micrograd_rs.ao': there are no quantised tensors here"),
        *((f"import micrograd_rs.{name}", f"No module named 'micrograd_rs.{name}': ") for name in ("sparse", "quantization", "nested", "export")),
    ],
)
def test_imports_say_why_not(statement, text):
    with pytest.raises(ImportError) as caught:
        exec(statement)
    assert str(caught.value).startswith(text)
    assert isinstance(caught.value, ModuleNotFoundError) == text.startswith("No module")
    assert caught.value.name == re.search(r"'(micrograd_rs[\w.]*)'", text)[1]
    # Under very many names, the instruction has a prefix.
    many = "".join(f"x{i} = {i}\n" for i in range(300)) + statement
    with pytest.raises(ImportError) as caught:
        exec(many)
    assert str(caught.value).startswith(text)


def test_who_asks_whether_a_name_is_there_is_answered():
    """Reasons are errors of attributes wherever nothing is imported."""
    import copy
    import inspect
    from unittest import mock

    for name in ("fft", "Linea", "nonsense", "sparse"):
        assert not hasattr(mg, name) and getattr(mg, name, 5) == 5
        assert inspect.getattr_static(mg, name, None) is None
        with pytest.raises(AttributeError), mock.patch.object(mg, name, 3):
            pass
        with mock.patch.object(mg, name, 3, create=True):
            assert getattr(mg, name) == 3
        assert not hasattr(mg, name)
    assert copy.copy(mg.Tensor) is copy.deepcopy(mg.Tensor) is mg.Tensor
    assert inspect.getmodule(mg.Tensor) is mg and mock.create_autospec(mg.nn.Linear) is not None
    with pytest.raises(ImportError, match=r"^cannot import name 'nonsense' from 'micrograd_rs' \(.*__init__.py\)$"):
        from micrograd_rs import nonsense  # noqa: F401


def test_the_class_of_tensors_lists_what_it_has():
    import copy
    import inspect
    import pickle
    from unittest import mock

    names = dir(mg.Tensor)
    assert not {"stft", "to_sparse", "astype", "index"} & set(names) and {"relu", "shape", "__add__", "__dir__", "__init__"} <= set(names)
    assert names == sorted(names)
    for name in names:
        assert getattr(mg.Tensor, name, self := object()) is not self, name
    # All that is left out is left out of a tensor, too; it and the class say why.
    absent = [name for name, value in vars(mg.Tensor).items() if type(value).__name__ == "Absent"]
    assert len(absent) > 80 and not set(absent) & {*names, *dir(mg.ones(1))}
    for name in absent:
        with pytest.raises(AttributeError, match=rf"^type object 'micrograd_rs\.Tensor' has no attribute '{name}': \w"):
            getattr(mg.Tensor, name)
        assert not hasattr(mg.Tensor, name) and not hasattr(mg.ones(1), name)
    assert not set(absent) & {name for name, *_ in inspect.classify_class_attrs(mg.Tensor)}
    x = mg.ones(2)
    assert isinstance(x, mg.Tensor) and not isinstance(3, mg.Tensor) and issubclass(mg.Tensor, object) and isinstance(mg.Tensor, type)
    assert type(x) is mg.Tensor and repr(mg.Tensor) == "<class 'micrograd_rs.Tensor'>"
    assert pickle.loads(pickle.dumps(mg.Tensor)) is copy.deepcopy(mg.Tensor) is mg.Tensor
    assert mock.create_autospec(mg.Tensor, instance=True).relu is not None
    assert "stft" not in run("import micrograd_rs as mg\nhelp(mg.Tensor)").stdout
    assert not {"Any", "ModuleType", "TYPE_CHECKING", "sys"} & set(dir(mg.optim)) and {"Adam", "swa_utils", "adamw"} <= set(dir(mg.optim))


def test_names_of_arrays_and_functions():
    for name, why in (("astype", r"x\.to\(dtype\)"), ("len", r"len\(x\)"), ("fft", "Fourier"), ("copy", r"x\.clone\(\)")):
        with pytest.raises(AttributeError, match=rf"^'micrograd_rs\.Tensor' object has no attribute '{name}': .*{why}"):
            getattr(mg.ones(2), name)
    for name, why in (("array", r"tensor\(x\) copies"), ("rfft", "Fourier"), ("fft_fft", "Fourier"), ("expand_dims", "unsqueeze")):
        with pytest.raises(AttributeError, match=rf"^module 'micrograd_rs' has no attribute '{name}': .*{why}"):
            getattr(mg, name)


@pytest.mark.parametrize(
    ("code", "near"),
    [
        ("mg.Tensor([1.0]).relus()", "relu"),
        ("mg.Tensor([1.0]).requiresgrad", "requires_grad"),
        ("mg.Value(1.0).sigmod()", "sigmoid"),
        ("mg.Device('cpu').is_cud()", "is_cuda"),
    ],
)
def test_the_interpreter_knows_the_members(code, near):
    """Python suggests members itself when an AttributeError reaches the top."""
    done = run(f"import micrograd_rs as mg\n{code}")
    assert done.returncode == 1 and f"Did you mean: '{near}'" in done.stderr


def test_a_tensor_says_why_it_lacks_what_pytorch_has():
    """Of each name that PyTorch's tensors have and these have not, the reason is said; and a tensor does not list it, nor hide a user's own."""
    x = mg.ones(2)
    names = json.loads((CRATE / "tests" / "surface" / "names.json").read_text())["names"]["Tensor"]
    missing = [name for name in names if not hasattr(mg.Tensor, name)]
    assert len(missing) > 50 and not set(missing) & set(dir(x))
    for name in missing:
        with pytest.raises(AttributeError, match=rf"^'micrograd_rs\.Tensor' object has no attribute '{name}': \w.{{10}}"):
            getattr(x, name)
        assert not hasattr(x, name)
    x.values = 3
    assert x.values == 3 and "values" in dir(x) and mg.ones(2).tolist() == x.tolist()
    # What PyTorch lacks, too, is NumPy's, a function, or misspelt, and of what is misspelt no reason is known.
    others = {name for name, value in vars(mg.Tensor).items() if type(value).__name__ == "Absent"} - set(names)
    assert others == {"argpartition", "array", "astype", "conjugate", "copy", "fft", "fill", "flat", "ifft", "irfft", "len", "partition", "rfft", "searchsorted", "tobytes"}
    done = run("import micrograd_rs as mg\nmg.ones(1).to_sparse()")
    assert "no sparse tensors" in done.stderr and "Did you mean" not in done.stderr


def test_nothing_near():
    with pytest.raises(AttributeError) as caught:
        mg.zzzzqqqq
    assert "did you mean" not in str(caught.value)
    with pytest.raises(AttributeError) as caught:
        mg.ones(1).zzzzqqqq
    assert "did you mean" not in str(caught.value)
    assert not hasattr(mg.ones(1), "__something__") and not hasattr(mg, "__path_of_nothing__")
    with pytest.raises(ImportError):
        from micrograd_rs import nonsense  # noqa: F401


def test_unknown_attributes_cannot_be_set():
    # Tensors take any, as PyTorch's do.
    for one in (mg.Generator(), mg.float32, mg.device("cpu"), mg.Value(1.0)):
        with pytest.raises(AttributeError):
            one.requires_gradient = True


def test_everything_has_words():
    for kind in (mg.Tensor, mg.Value, mg.Device, mg.dtype, mg.Neuron, mg.Layer, mg.MLP, mg.Explanation):
        assert kind.__doc__
        for name in dir(kind):
            if not name.startswith("_") and hasattr(kind, name):
                assert getattr(kind, name).__doc__, f"{kind.__name__}.{name}"


def test_stubs_are_as_written():
    done = subprocess.run([sys.executable, CRATE / "tools" / "stubs.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_stubs_know_what_there_is():
    """Every public name of the extension and its classes is in the stubs, and nothing else."""
    import ast

    from micrograd_rs import _micrograd_rs as rs

    tree = ast.parse((CRATE / "python" / "micrograd_rs" / "_micrograd_rs.pyi").read_text())

    def defined(body):
        names = set()
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                names.add(node.target.id)
            elif isinstance(node, ast.Assign):
                names.update(t.id for t in node.targets)
        return names

    def public(names):
        return {n for n in names if not n.startswith("_")}

    assert public(defined(tree.body)) == public(dir(rs))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and hasattr(rs, node.name):
            kind = getattr(rs, node.name)
            assert public(defined(node.body)) == {name for name in public(vars(kind)) if hasattr(kind, name)}, node.name


def test_integers_become_the_default_dtype():
    """No text says that they become f32: `set_default_dtype` says what they become."""
    wrong = re.compile(r"integers?( and bool)? (become|are promoted to)[\s/#]+f32|of integers, in f32|both become f32|(zeros|ones), f32|three are integers, else f32|makes an f32|copied: floats are f32", re.IGNORECASE)
    crates, docs = CRATE.parent, CRATE.parent.parent / "docs"
    texts = [*crates.glob("*/src/**/*.rs"), *CRATE.glob("tools/*"), *CRATE.glob("python/**/*.py*"), *docs.glob("**/*.md")]
    texts = [path for path in texts if path.suffix in (".rs", ".py", ".pyi", ".in", ".md")]
    assert len(texts) > 100
    found = {str(path.relative_to(crates)) if path.is_relative_to(crates) else path.name: m[0] for path in texts if (m := wrong.search(path.read_text(encoding="utf-8")))}
    assert not found


def test_import_is_light(program):
    out = program("""
        import sys
        before = set(sys.modules)
        import micrograd_rs
        print(*sorted(set(sys.modules) - before))
    """)
    heavy = {"numpy", "typing", "inspect", "dataclasses", "re", "micrograd_rs.nn", "micrograd_rs.optim", "difflib"}
    assert not heavy & set(out.split()), heavy & set(out.split())


def test_import_takes_little_memory(program):
    pytest.importorskip("resource")
    grown = program("""
        import resource
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        import micrograd_rs
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """)
    # Kilobytes, but bytes on macOS.
    assert int(grown) / (1 if sys.platform == "linux" else 1024) < 16_000


def test_doctests(program, tmp_path):
    """In a Python of its own: some set what holds for all. `mg` is the package in all of them."""
    program(
        """
        import builtins, doctest, importlib, inspect, pkgutil
        import micrograd_rs as mg
        from micrograd_rs import _micrograd_rs as rs
        failed, examples = [], 0
        for found in pkgutil.walk_packages(mg.__path__, "micrograd_rs."):
            # One is the program `python -m micrograd_rs`, one is looked at below, and the others are not here, and say so.
            if not found.name.endswith(("__main__", "._micrograd_rs", ".ao", ".fft", ".nested", ".quantization", ".sparse", "rs.export")):
                ran = doctest.testmod(importlib.import_module(found.name), extraglobs={"mg": mg}, optionflags=doctest.ELLIPSIS)
                failed += [found.name] * bool(ran.failed)
                examples += ran.attempted
        # What the package calls `bool` and `float` is not what an example means.
        ran = doctest.testmod(mg, extraglobs={"mg": mg, **vars(builtins)}, optionflags=doctest.ELLIPSIS)
        failed += ["micrograd_rs"] * bool(ran.failed)
        examples += ran.attempted
        # What the extension has, which doctest does not look at: functions, classes, and what is in these.
        parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        texts = {}
        for owner in (rs, *(value for value in vars(rs).values() if inspect.isclass(value)), mg.nn.init, mg.autograd):
            for name, value in [("", owner), *vars(owner).items()]:
                text = getattr(value, "__doc__", None)
                if isinstance(text, str) and ">>>" in text and not inspect.isfunction(value):
                    texts.setdefault(text, f"{owner.__name__}.{name}")
        for text, name in texts.items():
            ran = runner.run(parser.get_doctest(text, {"mg": mg}, name, None, 0))
            failed += [name] * bool(ran.failed)
            examples += ran.attempted
        assert not failed, failed
        assert examples > 4000, examples
        """,
        TMPDIR=str(tmp_path),
    )


# Names of which a docstring does not say all, and why. There are to be no others.
OF_THE_FUNCTION = "its docstring is the recorded function's own"
A_CALL_OF_AN_OBJECT = "an object, whose class says what it is made of and not what it is called with"
UNSAID = {
    "docstring": {"Jit": OF_THE_FUNCTION},
    "example": {"Jit": OF_THE_FUNCTION},
    "arguments": {"Jit": OF_THE_FUNCTION, "identity_transform": A_CALL_OF_AN_OBJECT},
}


def docstrings():
    """The tool that says what docstrings lack."""
    spec = importlib.util.spec_from_file_location("docstrings", CRATE / "tools" / "docstrings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_has_an_example_and_says_its_arguments():
    tool = docstrings()
    for room in [*tool.ROOMS, *tool.CLASSES]:
        for what, names in tool.lacking(room).items():
            assert not set(names) - set(UNSAID[what]), f"{room}: no {what}"


def test_a_docstring_without_an_example_is_found():
    def bare(x, way):
        """Takes `x`."""

    def shown(x, way):
        """Takes `x` its `way`.

        >>> 1
        1
        """

    def referring(x, way):
        """See `nn.Linear`. Takes `x` its `way`."""

    def lost(x, way):
        """See `nn.Lineal`. Takes `x` its `way`."""

    def elsewhere(in_features):
        """Its arguments: see `nn.Linear`."""

    tool = docstrings()
    assert [tool.lacks(each) for each in (bare, shown, referring, lost)] == [["example", "arguments"], [], [], ["example"]]
    assert tool.lacks(elsewhere) == ["arguments"]


# Whose classes say what each argument is, those of their methods included.
OF_CLASSES = [
    "nn", "nn.parallel", "nn.utils.rnn", "nn.utils.prune", "nn.utils.parametrize", "optim", "optim.lr_scheduler", "optim.swa_utils", "utils.data", "amp",
    "metrics", "distributions", "data",
]  # fmt: skip


@pytest.mark.parametrize("room", OF_CLASSES)
def test_classes_explain_each_argument(room):
    """Each class, each layer's `forward` among its methods, has an entry for each argument in "Arguments:"."""
    tool, seen = docstrings(), 0
    for name, kind in tool.members(room).items():
        if not isinstance(kind, type) or issubclass(kind, enum.Enum):
            continue
        seen += 1
        assert tool.unexplained(kind) == [], name
        for method, value in tool.methods(kind).items():
            assert inspect.getdoc(value), f"{name}.{method}"
            assert tool.unexplained(value) == [], f"{name}.{method}"
    assert seen >= {"nn": 150, "optim": 15, "distributions": 60}.get(room, 1)


def test_each_layer_has_a_forward_of_its_own_words():
    """What a layer answers with is told by itself, or by a class that it shares it with, and not by `Module`."""
    seen, of_all = 0, inspect.getdoc(mg.nn.Module.forward)
    for name, layer in docstrings().members("nn").items():
        if isinstance(layer, type) and issubclass(layer, mg.nn.Module) and layer.forward is not mg.nn.Module.forward:
            seen += 1
            assert inspect.getdoc(layer.forward) != of_all, name
    assert seen > 140


def test_an_argument_without_an_entry_is_found():
    tool = docstrings()

    class Bare(mg.nn.Module):
        """Takes `size` and `bias`."""

        def __init__(self, size, bias=True):
            pass

        def forward(self, input):
            """`input`, twice."""

    class Told(mg.nn.Module):
        """Of a size.

        Arguments:
            size: how large
            bias, device: two of one meaning,
                on two lines: this is none
        """

        def __init__(self, size, bias=True, device=None, _own=None):
            pass

        def forward(self, input):
            """Twice.

            Arguments:
                input:
            """

    assert tool.unexplained(Bare) == ["size", "bias"] and tool.unexplained(Bare.forward) == ["input"]
    assert tool.unexplained(Told) == [] and tool.unexplained(Told.forward) == ["input"]
    assert tool.explained(Told.__doc__) == {"size", "bias", "device"}
    assert tool.explained(None) == set() and list(tool.methods(mg.nn.PixelShuffle)).count("forward") == 1


def test_words_that_classes_share():
    """A class says its own, then what stands beside it, then what the classes say that it is made of."""
    from micrograd_rs._words import share_words

    class Root:
        """A root.

        Arguments:
            low, high: from where to where
            size: how large, which takes
                two lines
            device: of the root

        Errors: none of
        the root.
        """

    class Leaf(Root):
        """A leaf.

        Arguments:
            args: what is left
            size: of the leaf

        >>> 1
        1
        """

        def __init__(self, high, size, *args, device=None, dtype=None, low=0, _own=0, unknown=0):
            pass

    class Silent(Root):
        pass

    class Shapes(Root):
        """Shapes.

        Shapes: `[n]`.
        """

        def __init__(self, size):
            pass

    for kind in (Root, Leaf, Silent, Shapes):
        kind.__module__ = "micrograd_rs.nn.leaves"
    shared = """
        Arguments:
            device: beside it
        """
    share_words([Leaf, Silent, Shapes], shared)
    assert Leaf.__doc__.split("\n") == [
        "A leaf.", "", ">>> 1", "1", "", "Arguments:", "    args: what is left", "    low, high: from where to where", "    size: of the leaf",
        "    device: beside it", "", "Errors: none of", "the root.",
    ]  # fmt: skip
    assert Silent.__doc__ is None
    assert Shapes.__doc__.split("\n") == [
        "Shapes.", "", "Shapes: `[n]`.", "", "Arguments:", "    size: how large, which takes", "        two lines", "", "Errors: none of", "the root.",
    ]  # fmt: skip
    # Once more changes nothing.
    before = Leaf.__doc__
    share_words([Leaf], shared)
    assert Leaf.__doc__ == before


def test_layers_need_no_docstrings(program):
    """Python that keeps none has layers all the same."""
    told = program("import micrograd_rs as mg; print(mg.nn.Linear(3, 2)(mg.ones(4, 3)).shape, mg.nn.Linear.__doc__)", PYTHONOPTIMIZE="2")
    assert told.split("\n")[0] == "(4, 2) None"


def test_words_belong_to_operations():
    """Each entry of words.txt is an operation's, or is what some are like; each operation that is seen has one, and an entry's arguments are the
    operation's.
    """
    from micrograd_rs._micrograd_rs import _operations

    entries = (CRATE / "src" / "surface" / "words.txt").read_text(encoding="utf-8").split("\n== ")[1:]
    told = {name: text for name, _, text in (entry.partition("\n") for entry in entries)}
    assert len(told) == len(entries)
    operations = {operation["words"]: operation for operation in _operations() if operation["places"] or operation["in_place"]}
    # What writes into its tensor has an entry of its own where another example is wanted.
    written = {f"{name}_" for name, operation in operations.items() if operation["in_place"]} & set(told) - set(operations)
    assert all(told[name].startswith(">>>") for name in written)
    likened = set(re.findall(r"^like: (.+)$", "\n".join(told.values()), re.MULTILINE))
    assert set(told) - {"*", *written} == {*operations, *(name for name in likened if name.startswith("@"))} and likened <= set(told)
    for name, operation in operations.items():
        arguments = {line.partition(": ")[0] for line in told[name].partition(">>>")[0].splitlines() if line}
        arguments -= {"like", "says", "errors", *(["input"] if operation["receiver"] else [])}
        assert arguments <= {param[0] for param in operation["params"]}, name
        assert ">>>" in told[name] or operation["name"].startswith("_"), name


def test_each_module_may_be_the_first_that_is_asked_for():
    import pkgutil

    modules = [found.name for found in pkgutil.iter_modules(mg.__path__) if not found.name.startswith("_")]
    refused = {"ao", "export", "fft", "nested", "quantization", "sparse"}
    begin = "import sys\nimport micrograd_rs as mg\n"
    for name in set(modules) - refused:
        # What was imported for one module may be what another lacks.
        code = begin + f"mg.{name}" if hasattr(mg, name) else f"import micrograd_rs.{name}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, f"{name}: {done.stderr}"


def test_wheel_is_small():
    """A wheel is an archive: its size is that of its files compressed. Tests run on a build that is not optimised as a whole, and whose kernels are
    packed in half a second, so that it is larger by a tenth; the published one is weighed where it is built, by `cargo xtask wheel`, and has 10 MB at most."""
    import zlib

    files = [f for f in Path(mg.__file__).parent.rglob("*") if f.is_file() and f.suffix != ".pyc"]
    size = sum(len(zlib.compress(f.read_bytes(), 6)) for f in files)
    assert size < 11e6 and (Path(mg.__file__).parent / "py.typed").exists()
