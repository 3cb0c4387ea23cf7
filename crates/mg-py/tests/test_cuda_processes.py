"""A CUDA device in threads, in children, and at the end of a program."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import sys

import micrograd_rs as mg
import pytest
from conftest import needs_cuda
from micrograd_rs import Tensor

pytestmark = needs_cuda


def test_threads():
    def work(seed):
        x = mg.full((64, 64), 1.0 + seed, device="cuda")
        total = 0.0
        for _ in range(20):
            total += ((x @ x) / 64).mean().item()
        leaf = Tensor([float(seed)], device="cuda")
        (leaf * leaf).sum().backward()
        return total, leaf.grad.item()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for seed, (total, grad) in enumerate(pool.map(work, range(16))):
            assert total == pytest.approx(20 * (1.0 + seed) ** 2, rel=1e-5) and grad == 2 * seed


def test_the_end_with_live_tensors(program):
    program("""
        import threading
        import micrograd_rs as mg
        a = mg.rand(100, 100, device="cuda")
        b = (a @ a).sum()
        made = (a + 1).realize()
        leaf = mg.Tensor([1.0], device="cuda"); (leaf * leaf).sum().backward()
        cycle = [a]; cycle.append(cycle)
        step = mg.jit(lambda x: x + a)
        for _ in range(4): step(a)
        threading.Thread(target=lambda: mg.rand(10, device="cuda").realize()).start()
        class Late:
            def __del__(self):
                assert mg.ones(3, device="cuda").sum().item() == 3
        late = Late()
    """)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_is_told(program):
    out = program("""
        import os, micrograd_rs as mg
        x = mg.ones(3, device="cuda").realize()
        pending = x + 1
        pid = os.fork()
        if pid == 0:
            for use in (pending.tolist, x.tolist, lambda: mg.zeros(1, device="cuda").realize(), mg.cuda.synchronize):
                try:
                    use()
                    print("no error")
                except RuntimeError as error:
                    print("spawn" if 'start the child with "spawn"' in str(error) else error)
            del x, pending
            print(mg.ones(3).sum().item(), flush=True)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        print(pending.tolist())
    """)
    assert out.split("\n")[:6] == ["spawn"] * 4 + ["3.0", "[2.0, 2.0, 2.0]"]


def test_a_spawned_child_computes(tmp_path):
    path = tmp_path / "main.py"
    path.write_text("""
import multiprocessing, micrograd_rs as mg
def work(t):
    return (t * 2).sum().item(), (t + 1)
if __name__ == "__main__":
    x = mg.ones(4, device="cuda")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        total, other = pool.apply(work, (x,))
    assert total == 8 and other.is_cuda and other.tolist() == [2] * 4
    print("well")
""")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "well", done.stderr
