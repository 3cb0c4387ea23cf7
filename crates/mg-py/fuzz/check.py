"""Programs through the library and the reference, in every mode."""

from __future__ import annotations

import ast
import collections
import math
import re
from collections.abc import Callable
from dataclasses import replace

from .compare import PASSED, Difference, alike, differs, numbers, parts, tolerance, values_differ
from .generate import Generator
from .measure import composed, left_to_machine, overflows, shaken, unrounded, widened, with_poles
from .operations import available, undrawn
from .program import Program
from .run import MODES, Library, Trace, execute, ours, together, torch
from .shrink import shrink
from .values import TOLERANCE, flat


def reference(name: str) -> Library:
    """PyTorch, or storages of NumPy where it is not installed."""
    if name != "numpy":
        try:
            return torch()
        except ImportError:
            if name == "torch":
                raise
    from .surface import library

    return library()


class Checker:
    def __init__(self, reference_name: str = "auto", without: str | None = None, library: Library | None = None) -> None:
        self.ours = library or ours()
        self.reference = reference(reference_name)
        self.generator = Generator(self.ours, self.reference, without)
        #: What differed though nothing was wrong, by reason.
        self.dismissed: dict[str, list[str]] = collections.defaultdict(list)

    def check(self, program: Program, modes: tuple[str, ...] = MODES) -> tuple[str, Difference] | None:
        """The first mode in which the program differs, and in what."""
        for mode in modes:
            if mode == "threads":
                continue
            if mode == "jit" and not program.has_step:
                continue
            wanted = execute(program, self.reference)
            if wanted.void:
                return None
            got = execute(program, self.ours, mode, wanted.outcomes)
            PASSED.clear()
            found = differs(program, wanted, got, self.reference, self.ours)
            if found is None and PASSED and mode != "deferred" and not any(passed.what == "unreadable" for passed in PASSED):
                found = self.unlike_deferred(program, wanted, mode)
            if found is not None and not self.astray(program, wanted, found, mode):
                return mode, found
        return None

    def unlike_deferred(self, program: Program, wanted: Trace, mode: str) -> Difference | None:
        """What differs between a mode and the first one. A difference from the reference that is intended hides what else differs; that is
        the same in all modes.
        """
        traces = (execute(program, self.ours, how, wanted.outcomes) for how in ("deferred", mode))
        plain, other = (parts(self.ours, trace.names) for trace in traces)
        return values_differ(plain, other, self.ours, self.ours, program)

    def check_together(self, programs: list[Program]) -> tuple[Program, Difference] | None:
        """The first of some programs that differs when they run at once, and in what. Alone they do not."""
        wanted = [execute(program, self.reference) for program in programs]
        if any(w.void for w in wanted):
            return None
        traces = together(programs, self.ours, [w.outcomes for w in wanted])
        for program, times in zip(programs, traces):
            for trace in times:
                reference = execute(program, self.reference)
                found = differs(program, reference, trace, self.reference, self.ours)
                if found is not None and not self.astray(program, reference, found, "mixed"):
                    return program, found
        return None

    def astray(self, program: Program, trace: Trace, found: Difference, mode: str) -> bool:
        """Whether it is the reference that is wrong, or nothing can be told of it."""
        for reason, meets in (
            ("the reference's gradient reads what was written over", lambda: self.saved_values_change(program, trace, found)),
            ("the reference reads what it has just written", lambda: self.reads_what_it_writes(program, found)),
            ("the reference's results were put in order, and so copied", lambda: self.is_put_in_order(program, found, mode)),
            ("left to the machine", lambda: left_to_machine(program, self.reference)),
            ("a pole is a pole", lambda: self.has_poles(program, mode)),
            ("a view that was made while nothing was recorded is a constant", lambda: self.agrees(program, mode, _constant_views)),
            ("nothing flows through a logical operation", lambda: self.agrees(program, mode, _logical)),
            ("the reference's result is a view of what nobody has", lambda: self.agrees(program, mode, _of_its_own)),
            ("which results on the way a gradient is computed by is the engine's own", lambda: self.is_on_the_way(program, trace, found)),
            ("a view that stands for other memory is none of what it was of", lambda: self.is_no_view_now(program, trace, found)),
            ("the reference rounds on its way", lambda: self.is_rounded(program, trace, found, mode)),
            ("an infinite gradient comes by two ways", lambda: self.is_of_two_ways(program, found, mode)),
            ("a sum of products overflows", lambda: self.is_overflow(program, found)),
            ("which sign a zero has is left to the order of work", lambda: self.is_of_signs(program, found)),
            ("a tensor that was turned in place is a view of what it was", lambda: self.is_turned(program, found)),
            ("a view has the history that it was made with when that is taken from what it is a view of", lambda: self.is_cut_off(program, found)),
            ("unsteady", lambda: self.unsteady(program, trace, found)),
        ):
            if meets():
                told = f"seed {program.seed}: {found}"
                if told not in self.dismissed[reason]:
                    self.dismissed[reason].append(told)
                return True
        return False

    def is_put_in_order(self, program: Program, found: Difference, mode: str) -> bool:
        """Whether a result was overwritten of which the reference, whose order in memory is another, got a copy: see `Library.settle`."""
        if self.reference.name != "torch" or "needs for its gradient a value" not in found.detail:
            return False
        if re.search(r"(solve|solve_triangular|cholesky|lu|qr|pinv|svd|eigh) needs for its gradient", found.detail):
            return True
        wanted = execute(program, replace(self.reference, settles=False))
        got = execute(program, self.ours, mode, wanted.outcomes)
        return not wanted.void and differs(program, wanted, got, self.reference, self.ours) is None

    def is_rounded(self, program: Program, trace: Trace, found: Difference, mode: str) -> bool:
        """Whether the reference agrees when each of its operations is rounded once, and not on the way; or in all numbers in which it does
        not when it computes in float64.
        """
        if self.reference.name != "torch" or found.what not in ("value", "grad's value"):
            return False
        wanted = unrounded(program, self.reference)
        got = execute(program, self.ours, mode, wanted.outcomes)
        if not wanted.void and differs(program, wanted, got, self.reference, self.ours) is None:
            return True
        here, wide = execute(program, self.ours, mode, trace.outcomes), widened(program, self.reference)
        there, ours, exact = (parts(of, t.names) for of, t in ((self.reference, trace), (self.ours, here), (self.reference, wide)))
        for name, value in there.items():
            for of_gradient in (False, True):
                wanted_numbers, dtype = numbers(value, of_gradient)
                numbers_here, _ = numbers(ours.get(name), of_gradient)
                numbers_exact, _ = numbers(exact.get(name), of_gradient)
                if dtype not in TOLERANCE or len(numbers_here) != len(wanted_numbers):
                    continue
                limit = tolerance(wanted_numbers, dtype, program)
                rounded = tolerance(numbers_exact, dtype, replace(program, exact=False))
                for at, (x, y) in enumerate(zip(wanted_numbers, numbers_here)):
                    if not alike(x, y, limit) and not (at < len(numbers_exact) and alike(numbers_exact[at], y, rounded)):
                        return False
        return True

    def is_of_two_ways(self, program: Program, found: Difference, mode: str) -> bool:
        """Whether a gradient is no number here, and so it is with the reference where that composes what is composed here."""
        if self.reference.name != "torch" or found.what not in ("value", "grad's value"):
            return False
        wanted = composed(program, self.reference)
        got = execute(program, self.ours, mode, wanted.outcomes)
        return not wanted.void and differs(program, wanted, got, self.reference, self.ours) is None

    def has_poles(self, program: Program, mode: str) -> bool:
        """Whether the reference agrees where what is infinite at a pole is infinite there."""
        if self.reference.name != "torch" or "polygamma" not in str(program):
            return False
        wanted = with_poles(program, self.reference)
        got = execute(program, self.ours, mode, wanted.outcomes)
        return not wanted.void and differs(program, wanted, got, self.reference, self.ours) is None

    def is_turned(self, program: Program, found: Difference) -> bool:
        """Whether it is asked how views of a tensor that was turned in place depend on it: here on what it was before."""
        turned = {name for line in program.lines for name in re.findall(r"\b(\w+)\.(?:t|transpose|swapaxes|swapdims|squeeze|unsqueeze)_\(", line)}
        # What the turning answers with is the tensor itself.
        turned |= {new for line in program.lines for new, name in re.findall(r"^(\w+) = (\w+)\.\w+_\(", line) if name in turned}
        return "None" in found.detail and is_answer(program, found, lambda _, by: isinstance(by, ast.Name) and by.id in turned)

    def is_cut_off(self, program: Program, found: Difference) -> bool:
        """Whether there is no gradient by way of a view of what was detached in place: PyTorch's view takes on what is written there later."""
        cut = {name for line in program.lines for name in re.findall(r"\b(\w+)\.detach_\(", line)}
        viewed = {name for line in program.lines for name in re.findall(r"= (\w+)(?:\[|\.(?:view|t|transpose|narrow|select)\()", line)}
        return self.reference.name == "torch" and bool(cut & viewed) and "None" in found.detail

    def is_no_view_now(self, program: Program, trace: Trace, found: Difference) -> bool:
        """Whether a view was given other memory (`view.data = …`): PyTorch goes on to give it the history of what it was a view of."""
        given = [m[1] for line in program.lines for m in re.finditer(r"\b(\w+)\.data = ", line)]
        views = [getattr(trace.names.get(name), "_base", None) is not None for name in given]
        return any(views) and re.search("does not depend on anything that requires|does not require a gradient", found.detail) is not None

    def is_overflow(self, program: Program, found: Difference) -> bool:
        """Whether sums of products went beyond the largest number, and that is all in which the two differ."""
        if found.wanted is None:
            return False
        limit = tolerance(flat(found.wanted), "float32", program)
        both = list(zip(flat(found.wanted), flat(found.got)))
        ends = all(not math.isfinite(x) and not math.isfinite(y) for x, y in both if not alike(x, y, limit))
        return ends and len(both) > 0 and overflows(program, self.reference)

    def is_on_the_way(self, program: Program, trace: Trace, found: Difference) -> bool:
        """Whether it is asked how a gradient (or what was computed of one) depends on a result on the way to it, or what differs was computed
        of the answer.
        """

        def is_meant(of: ast.expr, by: ast.expr) -> bool:
            result = trace.names.get(by.id) if isinstance(by, ast.Name) else None
            is_gradient = any(isinstance(node, ast.Name) and re.fullmatch(r"g\d+", node.id) for node in ast.walk(of))
            return is_gradient and isinstance(result, self.reference.tensor) and not result.is_leaf

        return is_answer(program, found, is_meant)

    def agrees(self, program: Program, mode: str, told: Callable[[str], str]) -> bool:
        """Whether the reference agrees when it is told otherwise what a program means, line by line."""
        lines = [told(line) for line in program.lines]
        if lines == list(program.lines):
            return False
        wanted = execute(program.with_lines(lines), self.reference)
        got = execute(program, self.ours, mode, wanted.outcomes)
        return not wanted.void and differs(program, wanted, got, self.reference, self.ours) is None

    def is_of_signs(self, program: Program, found: Difference) -> bool:
        """Whether the reference answers each number as here when zeros that come of adding and choosing have one sign or the other."""
        if self.reference.name != "torch" or found.what not in ("value", "grad's value"):
            return False
        wanted, got = flat(found.wanted), flat(found.got)
        met: set[int] = set()
        for seed in range(24):
            again = shaken(program, self.reference, seed, signs=True)
            values, dtype = numbers(parts(self.reference, again.names).get(found.where), found.what.startswith("grad"))
            if len(values) != len(wanted):
                return False
            limit = tolerance(wanted, dtype, program)
            met |= {k for k, (x, y) in enumerate(zip(values, got)) if alike(x, y, limit)}
        return len(met) == len(got) == len(wanted)

    def unsteady(self, program: Program, trace: Trace, found: Difference) -> bool:
        """Whether the reference answers otherwise when every rounded number is off by some units in the last place: near a pole, a
        jump or where nearly equal numbers are subtracted, another order of adding is another answer.
        """
        if self.reference.name != "torch" or found.what == "sharing":
            return False
        again = (shaken(program, self.reference, seed) for seed in range(24))
        if found.line in program.lines:
            at = program.lines.index(found.line)
            return any((one.outcomes[at] is None) != (trace.outcomes[at] is None) for one in again)
        if found.what == "shape":
            wanted_shape = trace_shape(self.reference, trace, found)
            return any(trace_shape(self.reference, one, found) != wanted_shape for one in again)
        wanted, got = flat(found.wanted), flat(found.got)
        if found.wanted is None or len(wanted) != len(got):
            return False
        if program.exact:
            # Something may be rounded after all where a function is called many times; then all are off by what rounding can do.
            _, dtype = numbers(parts(self.reference, trace.names).get(found.where), found.what.startswith("grad"))
            rounded = tolerance(wanted, dtype, replace(program, exact=False))
            if not all(alike(x, y, rounded) for x, y in zip(wanted, got)):
                return False
        moved: set[int] = set()
        limit = 0.0
        for one in again:
            values, dtype = numbers(parts(self.reference, one.names).get(found.where), found.what.startswith("grad"))
            if len(values) != len(wanted):
                return True
            limit = tolerance(wanted, dtype, program)
            # Beside half types the tolerance is wide: a part of it is a move.
            moved |= {k for k, (x, y) in enumerate(zip(wanted, values)) if not alike(x, y, limit / 4)}
        return all(k in moved for k, (x, y) in enumerate(zip(wanted, got)) if not alike(x, y, limit))

    def reads_what_it_writes(self, program: Program, found: Difference) -> bool:
        """Whether the reference answers otherwise when what is written from is copied first: it then read what it had just
        written. Or when operands are of which it keeps what it does not know to be overwritten.
        """
        apart = [_kept(_apart(line)) for line in program.lines]
        if apart == list(program.lines):
            return False
        kept = program.with_lines([_kept(line) for line in program.lines])
        if "changed in place since" in found.detail and kept != program:
            # Here that is seen.
            wanted = execute(kept, self.reference)
            got = execute(kept, self.ours, expected=wanted.outcomes)
            return differs(kept, wanted, got, self.reference, self.ours) is None
        traces = execute(program, self.reference), execute(program.with_lines(apart), self.reference)
        if any((a is None) != (b is None) for a, b in zip(traces[0].outcomes, traces[1].outcomes)):
            return False
        a, b = (parts(self.reference, trace.names) for trace in traces)
        return values_differ(a, b, self.reference, self.reference, program) is not None

    def saved_values_change(self, program: Program, trace: Trace, found: Difference) -> bool:
        """Whether a write to `.data` (or a shallow copy) changes what was saved for a gradient: the reference answers with a wrong
        one then. Shown by `.detach()` in its place, whose writes the reference counts.
        """
        if not any(".data" in line or "copy.copy(" in line for line in program.lines):
            return False
        counted = [_counted(line) for line in program.lines]
        again = execute(program.with_lines(counted), self.reference)
        refuses = "modified by an inplace operation|returns multiple views"
        if "changed in place since" in found.detail:
            # A view that is written to so has another history then.
            refuses += "|to not have been used in the graph"
        return any(
            now is not None and was is None and re.search(refuses, str(now))
            for was, now in zip(trace.outcomes, again.outcomes)
        )

    def smallest(self, program: Program, mode: str, difference: Difference, seconds: float = 5.0) -> Program:
        wanted = signature(difference)

        def shows(smaller: Program) -> bool:
            found = self.check(smaller, (mode,))
            return found is not None and signature(found[1]) == wanted

        return shrink(program, shows, seconds)

    def class_of(self, program: Program, mode: str, difference: Difference) -> str:
        """A name for the differences that look alike: what differs, and the operations that it takes."""
        words: set[str] = set()
        for line in program.lines:
            for node in ast.walk(ast.parse(line)):
                if isinstance(node, ast.Attribute):
                    words.add(node.attr)
                elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.UnaryOp)):
                    words.add(type(node.op).__name__)
                elif isinstance(node, ast.Subscript):
                    words.add("[]=" if isinstance(node.ctx, ast.Store) else "[]")
        words -= {"tensor", "float32", "float64"}
        how = mode if mode == "jit" else "plain"
        return f"{how}: {signature(difference)}: {' '.join(sorted(words))}"

    def raising(self, program: Program) -> frozenset[int]:
        """The lines that raise under one library or the other."""
        wanted = execute(program, self.reference).outcomes
        got = execute(program, self.ours).outcomes
        return frozenset(at for at, both in enumerate(zip(wanted, got)) if any(both))

    def show(self, program: Program) -> str:
        return "\n".join(program.lines)

    def coverage(self) -> str:
        drawn = sorted(o.name for o in available(self.ours, self.reference))
        text = [f"drawn ({len(drawn)}): " + ", ".join(drawn), "not drawn:"]
        text += [f"  {name}: {why}" for name, why in undrawn(self.ours, self.reference).items()]
        return "\n".join(text)


def trace_shape(library: Library, trace: Trace, found: Difference) -> tuple[int, ...] | None:
    """The shape of what differs."""
    t = parts(library, trace.names).get(found.where)
    return None if t is None else tuple(t.shape)


METHODS = {"+": "add_", "-": "sub_", "*": "mul_"}


class _Apart(ast.NodeTransformer):
    """Clones what is written from."""

    def clone(self, node: ast.expr) -> ast.expr:
        if not isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
            return node
        return ast.Call(func=ast.Attribute(value=node, attr="clone", ctx=ast.Load()), args=[], keywords=[])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        return ast.AugAssign(target=node.target, op=node.op, value=self.clone(node.value))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(place := node.targets[0], ast.Subscript):
            if isinstance(place.slice, ast.Name):
                # A mask may be a part of what it says where to write.
                told = ast.parse(f"{place.slice.id}.clone() if isinstance({place.slice.id}, L.Tensor) else {place.slice.id}", mode="eval")
                place = ast.Subscript(value=place.value, slice=told.body, ctx=ast.Store())
            return ast.Assign(targets=[place], value=self.clone(node.value))
        if isinstance(node.value, ast.Call):
            return ast.Assign(targets=node.targets, value=self.call(node.value))
        return node

    def call(self, call: ast.Call) -> ast.Call:
        if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
            args = [self.clone(arg) for arg in call.args]
            return ast.Call(func=call.func, args=args, keywords=call.keywords)
        return call

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Expr(value=self.call(node.value)) if isinstance(node.value, ast.Call) else node


def _apart(line: str) -> str:
    before = ast.parse(line)
    after = _Apart().visit(ast.parse(line))
    return line if ast.dump(before) == ast.dump(after) else ast.unparse(ast.fix_missing_locations(after))


def _kept(line: str) -> str:
    """A line with clones of operands whose overwriting PyTorch does not see: `kron` keeps views that do not know their memory, and
    `tensordot` sums over axes of a single element, which copies.
    """
    line = re.sub(r"\b(\w+)\.kron\((\w+)\)", r"\1.clone().kron(\2.clone())", line)
    return re.sub(r"\btensordot\((\w+), (\w+)", r"tensordot(\1.clone(), \2.clone()", line)


class _Constants(ast.NodeTransformer):
    """Detaches what is made while nothing is recorded: PyTorch says of views made there that they require a gradient."""

    def visit_With(self, node: ast.With) -> ast.AST:
        if "no_grad" not in ast.unparse(node.items[0]):
            return self.generic_visit(node)
        for at, line in enumerate(node.body):
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                made = f"(lambda t: t.detach() if isinstance(t, L.Tensor) else t)({ast.unparse(line.value)})"
                node.body[at] = ast.Assign(targets=line.targets, value=ast.parse(made, mode="eval").body)
        return node


def is_answer(program: Program, found: Difference, is_meant: Callable[[ast.expr, ast.expr], bool]) -> bool:
    """Whether what differs is the answer to a question for a gradient (of what, by what) that is meant, or was computed of one."""
    affected: set[str] = set()
    for line in program.lines:
        statement = ast.parse(line).body[0]
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        if any(node.id in affected for node in names if isinstance(node.ctx, ast.Load)):
            affected |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
            if ".backward(" in line and found.what.startswith("grad"):
                affected.add(found.where)
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=bound)], value=ast.Call(func=ast.Name(id="G"), args=[of, asked, *_])):
                inputs = asked.elts if isinstance(asked, ast.List) else [asked]
                affected |= {name.id for name, by in zip(bound, inputs) if isinstance(name, ast.Name) and is_meant(of, by)}
    return bool(affected & {found.where, *re.findall(r"\w+", found.line)})


def _constant_views(line: str) -> str:
    """A line in which what is made while nothing is recorded is a constant."""
    if "no_grad" not in line:
        return line
    before = ast.parse(line)
    after = _Constants().visit(ast.parse(line))
    return line if ast.dump(before) == ast.dump(after) else ast.unparse(ast.fix_missing_locations(after))


def _logical(line: str) -> str:
    """A line that overwrites with what logical operations answer: PyTorch forgets that they overwrite."""
    return re.sub(r"\b(\w+)\.(logical_(?:and|or|xor|not))_\((\w*)\)", r"\1.copy_(\1.\2(\3))", line)


def _of_its_own(line: str) -> str:
    """A line with memory of its own for what PyTorch answers with views of something that nobody has: what is a view of such an answer is none of
    it once it was written to. So it is with an argument that is a part of a constant and becomes a leaf: PyTorch asks the constant for its history.
    """
    line = re.sub(r"^(x\d+ = L\.tensor\((?!.*requires_grad).*)$", r"\1.clone()", line)
    return re.sub(r"(= (?:L\.tensordot|\w+\.inner|\w+\.repeat_interleave|F\.(?:adaptive_)?(?:avg|max|lp)_pool1d)\([^\n]*\))$", r"\1.clone()", line, flags=re.MULTILINE)


def _counted(line: str) -> str:
    """A line that writes to `.data`, with `.detach()` for it."""
    changed = re.sub(r"\.data ([-+*])= (.*)$", lambda m: f".detach().{METHODS[m[1]]}({m[2]})", line, flags=re.M)
    changed = re.sub(r"copy\.copy\((\w+)\)", r"\1.detach().requires_grad_(\1.requires_grad)", changed)
    return re.sub(r"\.data\b(?! = )", ".detach()", changed)


def signature(difference: Difference) -> str:
    """What stays the same while a program shrinks."""
    if difference.what in ("error", "no error", "unreadable", "kind of error"):
        return difference.what + ": " + re.sub(r"\d+", "0", difference.detail.split(", want")[0])[:60]
    return difference.what
