"""What was measured on a GPU, as a line, a JSON file and tables."""

import json
import pathlib
from typing import Any, NamedTuple

from cases import Case
from worker import Side

OURS = ("ours", "ours-jit")
TOLERANCE = 1e-3  # checks that differ by more than this, relatively, are of different work
WIDER = 5e-3  # where operands are rounded to tf32, bf16 or f16
SECTIONS = {
    "memory": "Memory-bound",
    "small": "Sixteen elements",
    "steps": "Whole steps",
    "arithmetic": "Products of matrices",
    "sizes": "Sizes",
}


class Measured(NamedTuple):
    case: Case
    sides: dict[str, Side]

    @property
    def ours(self) -> float | None:
        """The faster of our ways, where there are two: one calls the step, the other replays it."""
        return best({name: side for name, side in self.sides.items() if name in OURS})

    @property
    def peer(self) -> float | None:
        return best({name: side for name, side in self.sides.items() if not name.startswith("ours")})

    @property
    def tolerance(self) -> float:
        exact = self.case.parameters.get("precision", "f32") == "f32"
        return TOLERANCE if exact else WIDER

    @property
    def differing(self) -> list[str]:
        """Workers whose results are not the others'; a peer is the reference where there is one."""
        checks = {name: side.check for name, side in self.sides.items() if side.check is not None}
        if not checks:
            return []
        reference = next((name for name in checks if not name.startswith("ours")), next(iter(checks)))
        wanted = checks[reference]
        far = lambda check: not abs(check - wanted) <= self.tolerance * abs(wanted)
        return [f"{name} has {check}, {reference} {wanted}" for name, check in checks.items() if far(check)]

    @property
    def failed(self) -> bool:
        return bool(self.differing) or any(side.refused and side.refused.kind == "error" for side in self.sides.values())


class Run(NamedTuple):
    command: str
    date: str
    source: dict[str, Any]
    machine: dict[str, Any]
    versions: dict[str, str]
    left_out: list[str]
    rounds: int
    seconds: float
    measured: list[Measured]


def best(sides: dict[str, Side]) -> float | None:
    return min((side.median for side in sides.values() if side.median is not None), default=None)


def time(seconds: float) -> str:
    """Three significant digits and a unit."""
    value, unit = next((seconds * f, u) for f, u in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms"), (1, "s")) if seconds * f < 1000 or f == 1)
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def rate(case: Case, seconds: float) -> str:
    """The least arithmetic or the least bytes that the case needs, over the time."""
    if case.flops:
        return f"{case.flops / seconds / 1e12:.3g} TFLOP/s"
    if case.bytes / seconds >= 1e11:
        return f"{case.bytes / seconds / 1e12:.3g} TB/s"
    return ""


def cell(case: Case, side: Side | None) -> str:
    """A time, or of products of matrices their rate, with the spread where it is more than 3 %."""
    if side is None or (side.refused and side.refused.kind == "skip"):
        return "–"
    if side.median is None:
        return "failed"
    text = f"{case.flops / side.median / 1e12:.3g}" if case.section == "arithmetic" else time(side.median)
    return text + (f" ±{side.spread:.0%}" if side.spread and side.spread > 0.03 else "")


def goal(measured: Measured) -> str:
    """The goal, and whether it was met."""
    if not measured.case.goal or measured.ours is None:
        return "–"
    missed = "" if measured.ours <= measured.case.goal else ", missed"
    return f"{time(measured.case.goal)}{missed}"


def ratio(measured: Measured) -> str:
    """Of the fastest peer's time and ours: above 1 we are faster."""
    if measured.ours is None or measured.peer is None:
        return "–"
    return f"{measured.peer / measured.ours:.2f}"


def line(measured: Measured) -> str:
    """A case on the terminal."""
    case = measured.case
    cells = [f"{name} {cell(case, side)}" for name, side in measured.sides.items() if not (side.refused and side.refused.kind == "skip")]
    text = f"{case.name:<20} {'  '.join(cells)}  goal {goal(measured)}  ×{ratio(measured)}"
    for name, side in measured.sides.items():
        if side.refused and side.refused.kind == "error":
            text += f"\n    {name} FAILED: {side.refused.text}"
    return text + "".join(f"\n    DIFFERENT RESULTS: {difference}" for difference in measured.differing)


def document(run: Run) -> dict[str, Any]:
    def side(side: Side) -> dict[str, Any]:
        if side.refused:
            return {"skipped" if side.refused.kind == "skip" else "error": side.refused.text}
        return {"median": side.median, "rounds": side.rounds, "calls_per_round": side.calls, "check": side.check}

    def case(measured: Measured) -> dict[str, Any]:
        c = measured.case
        return {
            "case": c.name,
            "section": c.section,
            "work": c.work,
            "flops": c.flops,
            "bytes": c.bytes,
            "goal": c.goal or None,
            "sides": {name: side(s) for name, s in measured.sides.items()},
            "different_results": measured.differing,
        }

    return {
        "date": run.date,
        "command": run.command,
        "source": run.source,
        "machine": run.machine,
        "versions": run.versions,
        "left_out": run.left_out,
        "protocol": {"rounds": run.rounds, "seconds_per_round": run.seconds, "unit": "seconds per call"},
        "cases": [case(measured) for measured in run.measured],
    }


def tables(run: Run) -> str:
    card = run.machine.get("gpu") or {}
    source = f"commit {run.source.get('commit', 'unknown')}" + (" with changes" if run.source.get("modified") else "")
    reached = [m for m in run.measured if m.case.goal and m.ours is not None]
    met = sum(m.ours <= m.case.goal for m in reached)
    page = [
        f"# Measured on {card.get('name', 'no GPU')}",
        "",
        f"Written by `{run.command}` on {run.date}, {source}. How: [README.md](README.md).",
        "",
        f"- Machine: {card.get('name')}, driver {card.get('driver_version')}, {card.get('memory.total')}, at most {card.get('clocks.max.sm')};"
        f" {run.machine['cpu']}, {run.machine['processors']} processors",
        f"- Versions: {', '.join(f'{name} {version}' for name, version in run.versions.items())}",
        f"- Median of {run.rounds} rounds of at least {run.seconds} s, in turn; ± half the way from the fastest round to the slowest, where"
        " it is more than 3 %.",
        "- ours calls each line; ours-jit replays the whole step; ours-cpu is the same program on this machine's processors.",
        "- The last column is the fastest peer's time over ours, the faster of our two: above 1 we are faster.",
        f"- Results agree to {TOLERANCE:.1%}, to {WIDER:.1%} where operands are rounded to tf32, bf16 or f16; others are marked.",
        f"- {met} of {len(reached)} goals are met.",
        *(f"- Left out: {reason}" for reason in run.left_out),
    ]
    for section, title in SECTIONS.items():
        rows = [m for m in run.measured if m.case.section == section]
        if not rows:
            continue
        names = [n for n in run.versions if any(n in m.sides and cell(m.case, m.sides[n]) != "–" for m in rows)]
        unit = ", TFLOP/s" if section == "arithmetic" else ""
        page += ["", f"## {title}{unit}", "", f"| case | goal | {' | '.join(names)} | rate | best peer ÷ ours | work |"]
        page.append("|" + "---|" * (len(names) + 5))
        for m in rows:
            cells = [cell(m.case, m.sides.get(name)) for name in names]
            reached_rate = rate(m.case, m.ours) if m.ours is not None else ""
            work = m.case.work.replace("*", "\\*").replace("|", "\\|")
            page.append(f"| {m.case.name} | {goal(m)} | {' | '.join(cells)} | {reached_rate} | {ratio(m)} | {work} |")
    for m in run.measured:
        for name, side in m.sides.items():
            if side.refused and side.refused.kind == "error":
                page += ["", f"{m.case.name}: **{name} failed**: {side.refused.text}"]
        page += [text for difference in m.differing for text in ("", f"{m.case.name}: **different results**: {difference}")]
    return "\n".join(page) + "\n"


def write(run: Run, path: pathlib.Path):
    """The JSON file, and the tables beside it."""
    path.with_suffix(".json").write_text(json.dumps(document(run), indent=1) + "\n")
    path.with_suffix(".md").write_text(tables(run))
