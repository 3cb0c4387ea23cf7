"""Writes what PyTorch answers to the samples. Needs PyTorch, and is run by hand where samples are added:

    python -m surface.record [family …]        in `tests/`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from . import samples
from .run import dtypes, evaluate

HERE = Path(__file__).parent / "recorded"


def rounded(entry):
    if isinstance(entry, float):
        return float(f"{entry:.10g}")
    if isinstance(entry, list):
        return [rounded(e) for e in entry]
    if isinstance(entry, dict):
        return {k: rounded(v) for k, v in entry.items()}
    return entry


def main() -> int:
    import torch

    wanted = sys.argv[1:] or samples.families()
    for family in wanted:
        lines = []
        for name, expressions in samples.of(family).items():
            for sample in expressions:
                entry = {"name": name, **sample}
                try:
                    entry.update(evaluate(torch, torch.nn.functional, sample["torch"], sample["order"]))
                    entry["dtypes"] = dtypes(torch, torch.nn.functional, sample["torch"]) if sample["dtypes"] else {}
                except Exception as error:  # noqa: BLE001
                    if not sample["error"]:
                        print(f"{name}: {sample['torch']}: {type(error).__name__}: {error}", file=sys.stderr)
                        return 1
                    entry["raises"] = type(error).__name__
                lines.append(json.dumps(rounded(entry), separators=(",", ":")))
        (HERE / f"{family}.jsonl").write_text("\n".join(lines) + "\n")
        print(f"{family}: {len(lines)} samples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
