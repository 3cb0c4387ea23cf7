"""Pickles, states and files of what is on a CUDA device."""

from __future__ import annotations

import copy
import os
import pickle

import micrograd_rs as mg
import pytest
from conftest import needs_cuda, run
from micrograd_rs import Tensor, nn, optim

pytestmark = needs_cuda


def test_pickles_keep_the_device():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()
    x = mg.rand(5, 3, device="cuda")
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert all(p.is_cuda and p.is_leaf and p.requires_grad for p in other.parameters())
        assert other(x).tolist() == net(x).tolist()
    leaf = pickle.loads(pickle.dumps(Tensor([1.0], device="cuda")))
    assert leaf.is_cuda and leaf.requires_grad
    assert pickle.loads(pickle.dumps(mg.Device("cuda:0"))) == "cuda:0"


def test_a_pickle_where_the_device_is_not(tmp_path):
    (tmp_path / "t").write_bytes(pickle.dumps(mg.ones(2, device="cuda")))
    done = run(f"import pickle; pickle.load(open({str(tmp_path / 't')!r}, 'rb'))", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 1 and "RuntimeError" in done.stderr and "cuda:0 cannot be used" in done.stderr


def test_state_moves_between_devices(tmp_path):
    there, here = nn.Linear(3, 2).cuda(), nn.Linear(3, 2)
    path = tmp_path / "net.safetensors"
    mg.save_safetensors(there.state_dict(), path)
    here.load_state_dict(mg.load_safetensors(path))
    assert here.weight.is_cpu and here.weight.tolist() == there.weight.tolist()
    other = nn.Linear(3, 2, device="cuda")
    other.load_state_dict(here.state_dict())
    assert other.weight.is_cuda and other.weight.tolist() == here.weight.tolist()
    adam = optim.Adam(other.parameters(), lr=0.1)
    other(mg.ones(1, 3, device="cuda")).sum().backward()
    adam.step()
    again = optim.Adam(other.parameters(), lr=0.1)
    again.load_state_dict(adam.state_dict())
    again.zero_grad()
    other(mg.ones(1, 3, device="cuda")).sum().backward()
    again.step()
    assert other.weight.is_cuda and other.weight.grad.is_cuda


def test_files_are_read_to_the_device(tmp_path):
    from micrograd_rs.safetensors import load_file, load_sharded, safe_open, save_sharded

    made = {f"small{i}": mg.rand(i, 3) for i in range(40)}
    made |= {"large": mg.rand(3000, 3001), "wide": mg.rand(3, dtype="f64"), "truth": mg.rand(70001) < 0.5, "half": mg.rand(9).half(), "none": mg.zeros(0, 2)}
    path = tmp_path / "f.safetensors"
    mg.save_safetensors(made, path)
    save_sharded(made, tmp_path, max_shard_size=1 << 20)
    ways = [load_file(path, "cuda"), load_sharded(tmp_path, "cuda:0"), mg.load(path, "cuda"), mg.load(path, mmap=True, map_location=mg.device(0))]
    with safe_open(path, device="cuda") as file:
        ways.append({name: file.get_tensor(name) for name in file.keys()})
        rows = file.get_slice("large")
        for index in (slice(10, 2000), slice(3, 3), (slice(2, 9), slice(5, 7)), (slice(None), 4), 7):
            assert rows[index].is_cuda and (rows[index].cpu() == made["large"][index]).all()
    for found in ways:
        assert set(found) == set(made)
        for name, t in found.items():
            assert t.is_cuda and t.dtype == made[name].dtype and t.shape == made[name].shape and (t.cpu() == made[name]).all(), name
    # What `save` wrote goes back to where it was, and what shares memory shares it there.
    whole = made["large"].cuda()
    mg.save({"whole": whole, "row": whole[5], "turned": whole.t(), "here": made["half"], "array": made["wide"].numpy()}, path)
    back = mg.load(path)
    assert back["whole"].is_cuda and back["here"].is_cpu and (back["array"] == made["wide"].numpy()).all()
    back["whole"].zero_()
    assert not back["row"].any() and not back["turned"].any()
    assert mg.load(path, map_location="cpu")["row"].is_cpu
    path.write_bytes(path.read_bytes()[:-8] + b"\2" * 8)
    wrong = tmp_path / "g.safetensors"
    mg.save_safetensors({"truth": made["truth"]}, wrong)
    wrong.write_bytes(wrong.read_bytes()[:-1] + b"\7")
    with pytest.raises(ValueError, match="byte 7 at 70000 is no BOOL"):
        load_file(wrong, "cuda")
    mg.save_safetensors({"large": made["large"]}, path)
    file = safe_open(path, device="cuda")
    os.truncate(path, 5000)
    with pytest.raises(ValueError, match="shorter while it was read"):
        file.get_tensor("large")
