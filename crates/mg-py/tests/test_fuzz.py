"""Random programs against a reference that knows storages and no graphs, and tests of that reference and of the shrinker."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import intended, surface  # noqa: E402
from fuzz.calls import calls  # noqa: E402
from fuzz.check import Checker  # noqa: E402
from fuzz.compare import differs, parts  # noqa: E402
from fuzz.files import files  # noqa: E402
from fuzz.interrupts import trial  # noqa: E402
from fuzz.operations import joined, undrawn  # noqa: E402
from fuzz.program import Program, script  # noqa: E402
from fuzz.run import Library, execute, ours  # noqa: E402
from fuzz.shared import Shared, given  # noqa: E402
from fuzz.shrink import shrink  # noqa: E402

PROGRAMS = int(os.environ.get("FUZZ_PROGRAMS", "1000"))
SHARED = int(os.environ.get("FUZZ_SHARED", "150"))
TRIALS = int(os.environ.get("FUZZ_INTERRUPTS", "4"))
CALLS = int(os.environ.get("FUZZ_CALLS", "20000"))


def fresh_seed() -> int:
    """The seed of a run: FUZZ_SEED, of which `fresh` is another each time; pytest shows it where a test fails."""
    given = os.environ.get("FUZZ_SEED", "20261122")
    seed = random.SystemRandom().randrange(10**9) if given == "fresh" else int(given)
    print(f"FUZZ_SEED={seed}")
    return seed


reference = surface.library


def run(text: str, library: Library | None = None) -> dict:
    """The variables that lines leave, as lists of numbers."""
    library = library or reference()
    trace = execute(Program(tuple(text.strip().split("\n"))), library)
    assert not any(trace.outcomes), [str(raised) for raised in trace.outcomes]
    found = parts(library, trace.names)
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in found.items()}


def test_random_programs():
    seed = fresh_seed()
    checker = Checker("numpy")
    right: list[Program] = []
    for at in range(PROGRAMS):
        program = checker.generator.program(seed + at, ("tensors", "step"))
        found = checker.check(program)
        if found is not None:
            mode, difference = found
            smallest = checker.smallest(program, mode, difference)
            pytest.fail(f"seed {seed + at}, {mode}: {difference}\n{checker.show(smallest)}")
        right.append(program)
        if len(right) == 2:
            beside = checker.check_together(right)
            assert beside is None, f"at once: {beside[1]}\n" + "\n\n".join(checker.show(p) for p in right)
            right = []


def test_memory_that_numpy_has_changes_nothing():
    seed = fresh_seed()
    checker = Shared()
    for at in range(SHARED):
        program = checker.of.generator.program(seed + at, ("tensors", "step"))
        found = checker.check(program, ("deferred", "eager", "jit"))
        assert found is None, f"seed {seed + at}, {found[0]}: {found[1]}\n{given(program, checker.library)[0]}"


# What comes in a callback of Python's own (of a `WeakSet`, say) is told of there, and goes no further.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")
def test_interrupted_trainings():
    seed = fresh_seed()
    for at in range(TRIALS):
        wrong = trial(seed + at)
        assert wrong is None, f"seed {seed + at}: {wrong}"


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a process's memory")
def test_random_calls(capfd):
    assert calls(CALLS, fresh_seed()) == 0, capfd.readouterr().out


def test_calls_that_end_badly_are_told_of(capfd, monkeypatch):
    pytest.importorskip("resource")
    planted = """
import os, sys, time
import micrograd_rs as mg
import fuzz.calls as calls
def crash(*_, **__): os.abort()
def hang(*_, **__): time.sleep(60)
def fault(*_, **__): raise RuntimeError("internal error, please report it: planted")
# Several, so that the calls come to one whatever other names there are.
for name in ("eye", "linspace", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"): setattr(mg, name, hang)
for name in ("full", "logspace", "tril_indices", "triu_indices", "hann_window", "vander", "cartesian_prod"): setattr(mg, name, fault)
for name in ("cat", "concat", "stack", "hstack", "vstack", "dstack", "column_stack"): setattr(mg, name, crash)
for f in (crash, hang, fault): f.__module__ = "micrograd_rs"
sys.exit(calls.work(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
"""
    monkeypatch.setattr("fuzz.calls.CHILD", [sys.executable, "-c", planted])
    monkeypatch.setattr("fuzz.calls.LONGEST", 2)
    assert calls(12000, 1) == 1
    told = capfd.readouterr().out
    assert "planted" in told and "hangs" in told and "ends the process" in told


# The reference.


def test_the_reference_shares_storages():
    got = run(
        """
a = L.zeros(2, 3)
b = a.t()
c = a[0]
d = a.reshape(6)
e = a.t().reshape(6)
f = a.flip(0)
g = a[[0]]
h = a[L.tensor(0)]
i = a.detach()
c[:] = 1
b[2] = 5
"""
    )
    assert got["a"] == [[1, 1, 5], [0, 0, 5]]
    assert got["b"] == [[1, 0], [1, 0], [5, 5]]
    assert got["c"] == got["h"] == [1, 1, 5]
    assert got["d"] == [1, 1, 5, 0, 0, 5]
    assert got["i"] == got["a"]
    assert got["e"] == [0] * 6
    assert got["f"] == [[0] * 3] * 2
    assert got["g"] == [[0] * 3]


def test_the_reference_carries_slopes_through_writes():
    library = reference()
    text = """
w = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = w * w
v = y[1:]
v *= 2
y[0] = w[2]
with L.no_grad(): y += 100
y.sum().backward()
y.sum().backward()
g = w.grad
w.grad = None
(w.max(0).values + w.exp().sum() * 0).backward()
"""
    trace = execute(Program(tuple(text.strip().split("\n"))), library)
    assert not any(trace.outcomes)
    # y is [w2, 2·w1², 2·w2²], twice.
    assert trace.names["g"].tolist() == [0, 16, 26]
    assert trace.names["w"].grad.tolist() == [0, 0, 1]
    assert trace.names["y"].requires_grad and trace.names["v"].requires_grad


def test_the_reference_promotes():
    got = run(
        """
a = (L.ones(2, dtype=L.float16) * L.tensor(0.5)).dtype.name
b = (L.ones(2, dtype=L.int32) + L.tensor(1)).dtype.name
c = (L.ones(2, dtype=L.int32) * 0.5).dtype.name
d = (L.tensor(True) + L.tensor(True)).dtype.name
e = (L.tensor(1.0) * L.ones(1, dtype=L.float64)).dtype.name
"""
    )
    assert got == {"a": "float16", "b": "int32", "c": "float32", "d": "bool", "e": "float64"}


@pytest.mark.parametrize(
    "line",
    [
        "w += 1",
        "w.view(3)[0] = 1",
        "w.backward()",
        "w[3]",
        "w.reshape(2)",
        "L.ones(2, 2).t().view(4)",
        "L.ones(1).expand(3).mul_(2)",
        "L.ones(2, dtype=L.int64).mul_(0.5)",
        "w @ L.ones(3, dtype=L.float64)",
    ],
)
def test_the_reference_refuses(line):
    program = Program(("w = L.ones(3, requires_grad=True)", line))
    assert execute(program, reference()).outcomes[1] is not None


def test_the_reference_is_as_pytorch():
    pytest.importorskip("torch")
    checker = Checker("torch", library=reference())
    seed = fresh_seed()
    for at in range(200):
        program = checker.generator.program(seed + at, ("tensors",))
        found = checker.check(program, ("deferred",))
        # It keeps no graph, so it refuses no second walk; and it looks at every index and every write.
        limits = ("backward through the graph a second", "out of bounds", "single memory location", "share places")
        if found is not None and not any(limit in found[1].detail for limit in limits):
            smallest = checker.smallest(program, *found)
            pytest.fail(f"seed {seed + at}: {found[1]}\n{checker.show(smallest)}")


# Finding and shrinking.


@pytest.fixture
def wrong_transpose():
    """A second copy of the reference, with one mistake: writes through `t()` are lost."""
    folder = Path(surface.__file__).parent
    found = spec_from_file_location("mistaken", folder / "__init__.py", submodule_search_locations=[str(folder)])
    sys.modules["mistaken"] = module_from_spec(found)
    mistaken = import_module("mistaken.surface")
    right = mistaken.Tensor.t
    mistaken.Tensor.t = lambda self: right(self).clone()
    yield mistaken.library()
    for name in [name for name in sys.modules if name.partition(".")[0] == "mistaken"]:
        del sys.modules[name]


def test_a_planted_mistake_is_found_and_shrunk(wrong_transpose):
    checker = Checker("numpy", library=wrong_transpose)
    for seed in range(3000):
        program = checker.generator.program(seed, ("tensors",))
        found = checker.check(program, ("deferred",))
        if found is not None:
            break
    else:
        pytest.fail("3000 programs do not show it")
    smallest = checker.smallest(program, *found)
    assert len(smallest) <= 3, checker.show(smallest)
    assert any(".t()" in line for line in smallest.lines), checker.show(smallest)
    assert checker.check(smallest, ("deferred",)) is not None


def test_the_reference_does_not_differ_from_itself():
    checker = Checker("numpy", library=reference())
    for seed in range(100):
        assert checker.check(checker.generator.program(seed, ("tensors", "step")), ("deferred", "mixed")) is None


def test_lines_that_a_difference_does_not_take_are_dropped():
    program = Program(("a = 1", "b = a + 5", "c = [b, a, 7]", "def f(x):\n    y = x\n    return y", "d = f(c)"))
    smaller = shrink(program, lambda p: any("5" in line for line in p.lines))
    assert len(smaller.lines) == 1
    assert "5" in smaller.lines[0]


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        ("a = L.zeros(2)", "a = L.ones(2)", "value"),
        ("a = L.zeros(2)", "a = L.zeros(3)", "shape"),
        ("a = L.zeros(2)", "a = L.zeros(2, dtype=L.float64)", "dtype"),
        ("a = L.zeros(2)", "a = L.zeros(2, requires_grad=True)", "requires_grad"),
        ("a = [L.zeros(2)] * 2", "a = [L.zeros(2), L.zeros(2)]", "sharing"),
        ("a = L.zeros(2)", "b = L.zeros(2)", "absence"),
        ("a = L.zeros(2)", "a = L.zeros(2)[5]", "error"),
        ("a = L.zeros(2)[5]", "a = L.zeros(2)", "no error"),
        ("a = L.tensor([0.25], requires_grad=True); a.sum().backward()", "a = L.tensor([0.25], requires_grad=True)", "grad"),
    ],
)
def test_what_is_compared(first, second, what):
    one, other = Program((first,)), Program((second,))
    library = reference()
    wanted = execute(one, library)
    got = execute(other, library, expected=wanted.outcomes)
    found = differs(one, wanted, got, library, library)
    assert found is not None and found.what == what
    again = execute(one, library, expected=execute(one, library).outcomes)
    assert differs(one, execute(one, library), again, library, library) is None


def test_new_names_join_by_themselves(monkeypatch):
    monkeypatch.setattr(surface.Tensor, "twice", lambda self: self + self, raising=False)
    monkeypatch.setattr(surface.Tensor, "plus", lambda self, other: self + other, raising=False)
    largest = surface.Tensor.amax
    monkeypatch.setattr(surface.Tensor, "largest", lambda x, dim=None, keepdim=False: largest(x, dim, keepdim), raising=False)
    monkeypatch.setattr(surface.functional, "thrice", lambda x: x * 3, raising=False)
    monkeypatch.setattr(surface.Tensor, "odd_one", lambda self, a, b, c: self, raising=False)
    library = reference()
    names = {operation.name for operation in joined(library, library).values()}
    assert {"twice (unary)", "plus (binary)", "thrice (unary)", "largest (reduction)"} <= names
    assert "x.odd_one()" in undrawn(library, library)
    checker = Checker("numpy", library=library)
    drawn = [line for seed in range(300) for line in checker.generator.program(seed, ("tensors",)).lines]
    assert any(".twice()" in line for line in drawn) and any("F.thrice(" in line for line in drawn)


def test_programs_are_drawn_anew_from_their_seed():
    checker = Checker("numpy")
    assert checker.generator.program(7) == checker.generator.program(7)
    assert checker.generator.program(7) != checker.generator.program(8)


def test_a_program_is_a_script(tmp_path):
    program = Program(("a = L.ones(2)", "a[5] = 1", "g = W(L.nn.Linear(1, 1))(a[:1])"))
    path = tmp_path / "program.py"
    path.write_text(script(program, frozenset((1,)), ("a", "g")))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "IndexError" in done.stdout


def test_damaged_files_are_read_or_refused():
    assert files(int(os.environ.get("FUZZ_FILES", "400")), fresh_seed()) == 0


def test_a_reader_that_fails_otherwise_is_found(monkeypatch, tmp_path, capsys):
    from fuzz import files as module

    def worse(folder):
        def fails(path):
            raise OverflowError("a reader's mistake")

        return dict.fromkeys(module.seeds(tmp_path), fails)

    monkeypatch.setattr(module, "readers", worse)
    (tmp_path / "status").write_bytes(b" " * 100)
    limit = module.MEMORY
    monkeypatch.setattr("resource.setrlimit", lambda *_: None)
    assert module.work(1, 3, str(tmp_path / "status")) == 0 and limit > 0
    assert capsys.readouterr().out.count("OverflowError: a reader's mistake") == 3


@pytest.mark.parametrize(
    "line",
    [
        "t1 = L.det(L.zeros(0, 3, 3, dtype=L.bfloat16))",
        "L.ones(3, dtype=L.bool).cumsum_(0)",
        "t1 = L.ones(2, 2, dtype=L.bool) @ L.ones(2, 2, dtype=L.bool)",
        "t1 = L.searchsorted(L.ones(3, dtype=L.bool), L.ones(1, dtype=L.bool))",
        "t1 = L.median(L.zeros(0, dtype=L.int64))",
        "t1 = L.tensor([1], dtype=L.uint8).clamp(max=-5)",
        "t1 = L.special.legendre_polynomial_p(L.ones(2), 2000000)",
        "L.ones(2).expand(3, 2).fill_(1)",
        "L.ones(2, requires_grad=True).logical_not_()",
        "t1 = L.cat([L.zeros(0)], 5)",
        "t1 = F.batch_norm(L.zeros(3), None, None, training=True)",
        "t1 = F.adaptive_avg_pool2d(L.ones(1, 4, 4, dtype=L.int64), (0, 2))",
        "t1 = F.adaptive_avg_pool2d(L.ones(1, 0, 4), (2, 2))",
        "t1 = F.interpolate(L.zeros(1, 1, 3, 3), size=(0, 2))",
        "t1 = L.zeros(0).tile((-1,))",
        "t1 = L.zeros(1).reshape([1] * 17)",
        "t1 = L.linalg.svd(L.full((2, 2), float('nan')))",
        "L.igamma(L.ones(2, requires_grad=True), L.ones(2)).sum().backward()",
        "t1 = L.linalg.solve(L.zeros(2, 2), L.zeros(2))",
    ],
)
def test_what_we_alone_refuse_is_known_by_our_words(line):
    """Errors' words change, and reasons that look for those of before dismiss nothing."""
    (raised,) = execute(Program((line,)), ours()).outcomes
    assert raised is not None and intended.outcome(line, None, raised, "torch"), str(raised)
