"""The logic of the comparison: `python3 -m unittest` in this folder."""

import sys
import unittest
import xml.etree.ElementTree

import cases
import compare
import plots
import report
from worker import Refusal, Side, Worker, median

TALKING = """
import json, sys
print(json.dumps({"framework": "fake", "version": "1"}), flush=True)
for line in sys.stdin:
    case, rounds = line.split()
    if case == "dies":
        sys.exit(3)
    if case == "strange":
        print("what?", flush=True)
    elif case == "skipped":
        print(json.dumps({"skip": "not here"}), flush=True)
    elif rounds == "0":
        print(json.dumps({"check": 2.0}), flush=True)
    else:
        print(json.dumps({"seconds_per_call": 0.5, "calls": 7}), flush=True)
"""


def measured(name="add_2p28", **sides):
    return report.Measured(cases.GPU_CASES[name], {key.replace("_", "-"): side for key, side in sides.items()})


class Cases(unittest.TestCase):
    def test_sizes(self):
        self.assertEqual([cases.elements(size) for size in ("1e3", "2e6", "2p28")], [1000, 2_000_000, 2**28])

    def test_a_goal_in_bytes_is_a_time(self):
        case = cases.GPU_CASES["sum_2p28"]
        self.assertAlmostEqual(case.bytes / case.goal, 4.4e12)

    def test_every_goal_has_its_case(self):
        for name in (*cases.GOAL_MICROSECONDS, *cases.GOAL_TERABYTES):
            self.assertGreater(cases.GPU_CASES[name].goal, 0, name)

    def test_every_size_of_a_curve_is_a_case(self):
        for names in cases.CURVES.values():
            self.assertTrue(set(names) <= set(cases.GPU_CASES))

    def test_patterns(self):
        names = lambda *only: [case.name for case in compare.selected(list(only))]
        self.assertEqual(names("small_"), ["small_add_16", "small_chain_16"])
        self.assertEqual(names("copy_*", "small_add_16"), ["copy_2p29", "small_add_16"])
        self.assertEqual(len(names()), len(cases.GPU_CASES))

    def test_who_takes_part(self):
        part = lambda name, case: compare.takes_part(name, cases.GPU_CASES[case])
        self.assertTrue(part("ours", "add_2p28") and part("ours-cpu", "add_2p26") and part("ours-jit", "mlp_sgd_f32_128"))
        self.assertFalse(part("ours-cpu", "add_2p28") or part("ours-cpu", "sum_2p28") or part("torch-graph", "add_1e6"))

    def test_paths_are_not_recorded(self):
        self.assertEqual(compare.command(["--ours", "/home/x", "--rounds", "3"]), "compare.py --ours PATH --rounds 3")


class Workers(unittest.TestCase):
    def setUp(self):
        self.worker = Worker("fake", [sys.executable, "-c", TALKING])
        self.addCleanup(self.worker.end)

    def test_rounds(self):
        side = self.worker.prepare("case")
        side = self.worker.round("case", self.worker.round("case", side))
        self.assertEqual((side.rounds, side.calls, side.check, side.median), ([0.5, 0.5], 7, 2.0, 0.5))

    def test_refusals(self):
        self.assertEqual(self.worker.prepare("skipped").refused.kind, "skip")
        self.assertIn("what?", self.worker.prepare("strange").refused.text)

    def test_one_that_died_is_started_anew(self):
        self.assertIn("exit code 3", self.worker.prepare("dies").refused.text)
        self.assertEqual(self.worker.prepare("case").check, 2.0)

    def test_one_that_is_not_there(self):
        with self.assertRaises(Refusal):
            Worker("none", ["/nonexistent/worker"]).start()


class Reports(unittest.TestCase):
    def test_medians(self):
        self.assertEqual([median(v) for v in ([3.0, 1.0, 2.0], [4.0, 1.0, 2.0, 3.0], [])], [2.0, 2.5, None])

    def test_times_have_three_digits(self):
        self.assertEqual([report.time(t) for t in (3.21e-7, 1.284e-5, 0.0049999, 2.5)], ["321 ns", "12.8 µs", "5.00 ms", "2.50 s"])

    def test_ours_is_the_faster_of_two_and_the_peer_the_fastest(self):
        m = measured(ours=Side([3.0]), ours_jit=Side([2.0]), ours_cpu=Side([0.1]), torch=Side([6.0]), jax=Side([5.0]))
        self.assertEqual((m.ours, m.peer, report.ratio(m)), (2.0, 5.0, "2.50"))

    def test_a_missed_goal_is_said(self):
        goal = cases.GPU_CASES["add_2p28"].goal
        self.assertTrue(report.goal(measured(ours=Side([goal * 1.01]))).endswith(", missed"))
        self.assertNotIn("missed", report.goal(measured(ours=Side([goal * 0.99]))))
        self.assertEqual(report.goal(measured("copy_2p29", ours=Side([1.0]))), "–")

    def test_different_results_are_noticed(self):
        differing = lambda name, ours: measured(name, ours=Side([1.0], check=ours), torch=Side([1.0], check=5.0)).differing
        self.assertEqual(differing("add_2p28", 5.004), [])
        self.assertEqual(differing("add_2p28", 5.006), ["ours has 5.006, torch 5.0"])
        self.assertEqual(len(differing("add_2p28", float("nan"))), 1)
        self.assertEqual(differing("matmul_bf16_512", 5.006), [])

    def test_a_run_in_tables(self):
        failed = Side([], refused=Refusal("error", "out of memory"))
        rows = [measured(ours=Side([7e-4, 8e-4, 7e-4]), torch=failed), measured("matmul_f32_512", ours=Side([1e-5]), jax=Side([2e-5]))]
        versions = {"ours": "0.1.0", "torch": "2", "jax": "1"}
        run = report.Run("compare.py", "today", {"commit": "abc"}, {"gpu": None, "cpu": "c", "processors": 2}, versions, [], 3, 0.1, rows)
        text = report.tables(run)
        self.assertIn("| add_2p28 | 741 µs | 700 µs ±7% | failed | 4.6 TB/s | – |", text)
        self.assertIn("| matmul_f32_512 | – | 26.8 | 13.4 | 26.8 TFLOP/s | 2.00 |", text)
        self.assertIn("add_2p28: **torch failed**: out of memory", text)
        self.assertIn("1 of 1 goals are met", text)
        self.assertEqual(report.document(run)["cases"][0]["sides"]["torch"], {"error": "out of memory"})


class Plots(unittest.TestCase):
    def test_a_picture(self):
        sides = lambda t: {"ours": {"median": t}, "torch": {"median": 2 * t}, "jax": {"skipped": "why"}}
        found = [{"case": f"add_{size}", "section": "sizes", "flops": 0, "sides": sides(t)} for size, t in (("1e3", 1e-6), ("2p28", 1e-3))]
        lines = plots.curves({"cases": found}, plots.PICTURES[0])
        self.assertEqual(lines, {"ours": [(1000.0, 1e-6), (2.0**28, 1e-3)], "torch": [(1000.0, 2e-6), (2.0**28, 2e-3)]})
        picture = xml.etree.ElementTree.fromstring(plots.draw(plots.PICTURES[0], lines, "here"))
        self.assertEqual(sum(element.tag.endswith("circle") for element in picture), 4)

    def test_names_with_more_than_a_size_are_other_curves(self):
        case = {"case": "chain_fwd_2p27", "section": "memory", "flops": 0, "sides": {"ours": {"median": 1.0}}}
        self.assertEqual(plots.curves({"cases": [case, case]}, plots.PICTURES[1]), {})

    def test_prefixes(self):
        self.assertEqual([plots.si(v) for v in (1e-5, 1e3, 1e14, 1)], ["10 µ", "1 k", "100 T", "1"])


if __name__ == "__main__":
    unittest.main()
