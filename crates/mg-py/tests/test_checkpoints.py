"""`save` and `load`, and files of other programs: safetensors, PyTorch's, NumPy's."""

from __future__ import annotations

import collections
import datetime
import io
import json
import math
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile
import zipfile

import micrograd_rs as mg
import pytest
from micrograd_rs import Tensor, nn, npz, optim, safetensors
from micrograd_rs.data import DataLoader, TensorDataset

DTYPES = [dtype.short_name for dtype in mg._micrograd_rs._DTYPES]
# Those that NumPy has, too.
NUMPYS = [d for d in DTYPES if d != "bf16" and not d.startswith("f8")]


def of(dtype):
    return mg.tensor([[1, 0, 1], [0, 1, 1]]).to(dtype)


def same(a, b):
    if isinstance(a, Tensor):
        assert isinstance(b, Tensor) and a.dtype == b.dtype and a.shape == b.shape and a.requires_grad == b.requires_grad
        assert a.tolist() == b.tolist()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            same(a[k], b[k])
    elif isinstance(a, (list, tuple)):
        assert type(a) is type(b) and len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    else:
        assert type(a) is type(b) and (a == b or (a != a and b != b)), (a, b)


def test_there_and_back(tmp_path):
    path = tmp_path / "c.mg"
    obj = {
        "model": {"a.weight": mg.randn(2, 3), "turned": mg.randn(2, 3).t(), "leaf": Tensor([1.0, 2.0])},
        "dtypes": [of(d) for d in DTYPES],
        "numbers": (1, -(2**70), 0.1, math.inf, -math.inf, math.nan, True, None, "naïve \0 text", b"\0\xff"),
        3: [mg.tensor(1.5), mg.zeros(0, 4), {}, [], ()],
        (1, "x"): {1, 2},
        "kinds": [mg.float32, mg.Size([2, 3]), mg.device("cpu")],
    }
    mg.save(obj, path)
    same(obj, mg.load(path))
    # It is a safetensors file, with names that others know.
    plain = mg.load_safetensors(path)
    assert plain["model.a.weight"].tolist() == obj["model"]["a.weight"].tolist()
    buffer = io.BytesIO()
    mg.save(obj, buffer)
    assert buffer.getvalue() == path.read_bytes()
    buffer.seek(0)
    same(obj, mg.load(buffer))
    assert mg.load(path, mmap=True)["model"]["leaf"].requires_grad
    w = mg.ones(2)
    mg.save([w, {"again": w}], path)
    loaded = mg.load(path)
    assert loaded[0] is loaded[1]["again"]
    mg.save(mg.arange(3), path)
    assert mg.load(path, map_location="cpu").tolist() == [0, 1, 2]
    mg.save({"a.b": mg.ones(1), "a": {"b": mg.zeros(1)}, "__metadata__": mg.ones(2)}, path)
    same(mg.load(path), {"a.b": mg.ones(1), "a": {"b": mg.zeros(1)}, "__metadata__": mg.ones(2)})


def test_a_checkpoint_whose_header_is_128_bytes_is_no_pickle(tmp_path):
    read = 0
    for n in range(1, 90):
        path = tmp_path / f"{n}.mg"
        mg.save_safetensors({"w" * n: mg.ones(3)}, path)
        with path.open("rb") as file:
            read += file.read(1) == b"\x80"
        assert mg.load(path)["w" * n].tolist() == [1, 1, 1]
    assert read > 0
    pickled = tmp_path / "old.pt"
    pickled.write_bytes(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.")
    with pytest.raises(ValueError, match="a pickle"):
        mg.load(pickled)


def test_what_cannot_be_saved(tmp_path):
    path = tmp_path / "c.mg"
    mg.save({"fine": 1}, path)
    own: list = []
    own.append(own)
    with pytest.raises(TypeError, match=r"save: model.layers.1: Linear cannot be saved"):
        mg.save({"model": {"layers": [1, nn.Linear(1, 1)]}}, path)
    with pytest.raises(ValueError, match="contains itself"):
        mg.save(own, path)
    with pytest.raises(FileNotFoundError):
        mg.save(1, tmp_path / "none" / "c")
    assert mg.load(path) == {"fine": 1}
    with pytest.raises(FileNotFoundError):
        mg.load(tmp_path / "none")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_leaves_the_old_file(tmp_path):
    """A limit on the size of files stands for the full disk: it is met in the middle of the write."""
    path = tmp_path / "c.mg"
    mg.save({"old": mg.ones(3)}, path)
    program = (
        "import resource, signal, sys, micrograd_rs as mg\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))\n"
        "for write in (lambda: mg.save({'new': mg.ones(1 << 20)}, sys.argv[1]), lambda: mg.npz.savez(sys.argv[1] + '.npz', a=mg.ones(1 << 20))):\n"
        "    try:\n"
        "        write()\n"
        "    except OSError:\n"
        "        print('refused')\n"
    )
    npz.savez(f"{path}.npz", a=mg.zeros(2))
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    assert done.stdout.split() == ["refused", "refused"], done.stderr
    assert mg.load(path)["old"].tolist() == [1, 1, 1] and mg.load(f"{path}.npz")["a"].tolist() == [0, 0]
    assert sorted(os.listdir(tmp_path)) == ["c.mg", "c.mg.npz"]


def test_training_goes_on_with_the_same_bits(tmp_path):
    """Model, optimiser, schedule, generator and loader in one file; the middle of an epoch."""
    path = tmp_path / "run.mg"
    x = mg.randn(40, 4)
    data = TensorDataset(x, x.sum(1, keepdim=True))

    def made():
        net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))
        o = optim.NAdam(net.parameters(), lr=0.05)
        return net, o, optim.lr_scheduler.CosineAnnealingLR(o, 20), DataLoader(data, batch_size=4, shuffle=True, num_workers=1)

    def step(net, o, schedule, a, b):
        o.zero_grad()
        (net(a) - b).square().mean().backward()
        o.step()
        schedule.step()

    mg.manual_seed(4)
    net, o, schedule, loader = parts = made()
    seen = 0
    for epoch in range(3):
        for a, b in loader:
            step(net, o, schedule, a, b)
            seen += 1
            if seen == 13:
                state = [part.state_dict() for part in parts]
                mg.save({"parts": state, "rng": mg.get_rng_state(), "epoch": epoch}, path)
    mg.manual_seed(77)
    parts2 = made()
    saved = mg.load(path)
    for part, state in zip(parts2, saved["parts"], strict=True):
        part.load_state_dict(state)
    mg.set_rng_state(saved["rng"])
    for _ in range(saved["epoch"], 3):
        for a, b in parts2[3]:
            step(*parts2[:3], a, b)
    for p, q in zip(net.parameters(), parts2[0].parameters()):
        assert p.tolist() == q.tolist()
    same(o.state_dict(), parts2[1].state_dict())


def test_safe_open(tmp_path):
    path = tmp_path / "a.safetensors"
    tensors = {d: of(d) for d in DTYPES} | {"long": mg.arange(100).reshape(50, 2), "empty": mg.zeros(0, 3), "one": mg.tensor(2.0)}
    safetensors.save_file(tensors, path, {"who": "we"})
    with safetensors.safe_open(path) as file:
        assert set(file.keys()) == set(tensors) and file.metadata() == {"who": "we"} and "long" in file and len(file) == len(tensors)
        for name, t in tensors.items():
            same(file.get_tensor(name), t)
        part = file.get_slice("long")
        assert part.get_shape() == [50, 2] and part.get_dtype() == mg.int64
        assert part[3:5].tolist() == [[6, 7], [8, 9]] and part[-1:, 1].tolist() == [99] and part[::25].tolist() == [[0, 1], [50, 51]]
        assert part[60:].shape == (0, 2) and file.get_slice("empty")[:].shape == (0, 3)
        held = file.get_tensor("long")
        with pytest.raises((KeyError, ValueError), match="none"):
            file.get_tensor("none")
        with pytest.raises(KeyError):
            file.get_slice("none")
    with pytest.raises(ValueError, match="closed"):
        file.keys()
    # What is written to a tensor of the file is not written to the file.
    held[0, 0] = 999
    assert held[0].tolist() == [999, 1] and safetensors.load_file(path)["long"][0].tolist() == [0, 1]
    same(safetensors.load(safetensors.save(tensors)), dict(sorted(tensors.items())))


def test_a_mapped_file_of_safetensors_is_not_read(tmp_path):
    """A tensor of half a gigabyte that the file has no disk for: rows of it take no memory to speak of."""
    if not sys.platform.startswith("linux"):
        pytest.skip("asks Linux for its memory")
    path, n = tmp_path / "big", 1 << 29
    header = json.dumps({"big": {"dtype": "U8", "shape": [n], "data_offsets": [0, n]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + n)

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = resident()
    opened = safetensors.safe_open(path)
    t = opened.get_tensor("big")
    assert opened.get_slice("big")[n - 4 :].tolist() == [0] * 4 and t[5].item() == 0
    assert resident() - before < 64 << 20


def test_the_real_package_reads_ours_and_we_its(tmp_path):
    theirs = pytest.importorskip("safetensors")
    np = pytest.importorskip("numpy")
    import safetensors.numpy as st

    del theirs
    path = tmp_path / "a.safetensors"
    ours = {d: of(d) for d in NUMPYS}
    safetensors.save_file(ours, path)
    for name, array in st.load_file(path).items():
        assert array.tolist() == ours[name].tolist() and ours[name].dtype.name == array.dtype.name
    st.save_file({name: t.numpy() for name, t in ours.items()}, path, {"k": "v"})
    for name, t in safetensors.load_file(path).items():
        same(t, ours[name])


def test_shards(tmp_path):
    tensors = {f"layer{i}.weight": mg.full((100,), float(i)) for i in range(7)} | {"big": mg.ones(1000)}
    safetensors.save_sharded(tensors, tmp_path, 1000)
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert index["metadata"]["total_size"] == 6800 and set(index["weight_map"]) == set(tensors)
    assert index["weight_map"]["big"] == "model-00001-of-00005.safetensors"
    same(dict(sorted(safetensors.load_sharded(tmp_path).items())), dict(sorted(tensors.items())))
    same(mg.load(tmp_path / "model.safetensors.index.json")["layer3.weight"], tensors["layer3.weight"])
    one = tmp_path / "one"
    one.mkdir()
    safetensors.save_sharded(tensors, one, "1MB")
    assert os.listdir(one) == ["model.safetensors"] and set(safetensors.load_sharded(one)) == set(tensors)
    for text in ('{"weight_map": {"a": "../x"}}', '{"weight_map": {"a": "/etc/passwd"}}', '{"weight_map": {"a": 5}}', '{"weight_map": []}', "[]", "nonsense"):
        path = tmp_path / "bad.json"
        path.write_text(text)
        with pytest.raises(ValueError):
            safetensors.safe_open(path)
    with pytest.raises(ValueError, match="5GB"):
        safetensors.save_sharded(tensors, tmp_path, "much")


def test_pytorchs_files(tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "model.pt"
    base = torch.arange(12, dtype=torch.float32)
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    o = torch.optim.Adam(net.parameters())
    net(torch.randn(4, 3)).sum().backward()
    o.step()
    dtypes = [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
    obj = {
        "model": net.state_dict(),
        "optim": o.state_dict(),
        "views": [base, base[3:], base.view(3, 4).t(), base[::2], base[0], base[:0], torch.ones(1).expand(3)],
        "dtypes": [torch.tensor([[0, 1], [1, 1]]).to(d) for d in dtypes],
        "wide": torch.tensor([1, 2**64 - 1], dtype=torch.uint64),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "plain": (1, 2.5, "x", None, True, {1, 2}, collections.OrderedDict(a=1)),
        "kinds": [torch.float32, torch.Size([2, 3]), torch.device("cpu")],
    }
    torch.save(obj, path)
    got = mg.load(path)
    assert list(got) == list(obj)

    def matches(a, b):
        if isinstance(b, torch.Tensor):
            assert isinstance(a, Tensor) and tuple(a.shape) == tuple(b.shape) and str(b.dtype).split(".")[-1] == a.dtype.name
            assert a.tolist() == b.tolist() and a.requires_grad == b.requires_grad
        elif isinstance(b, dict):
            assert list(a) == list(b)
            for k in b:
                matches(a[k], b[k])
        elif isinstance(b, (list, tuple)) and not isinstance(b, torch.Size):
            assert len(a) == len(b)
            for x, y in zip(a, b):
                matches(x, y)
        elif not isinstance(b, (torch.dtype, torch.device)):
            assert a == b

    matches(got, obj)
    assert got["kinds"] == [mg.float32, mg.Size([2, 3]), mg.device("cpu")]
    ours = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    ours.load_state_dict(got["model"])
    adam = optim.Adam(ours.parameters())
    adam.load_state_dict(got["optim"])
    with open(path, "rb") as file:
        matches(mg.load(file), obj)
    torch.save(torch.ones(2, 2), path)
    assert mg.load(path, map_location="cpu").tolist() == [[1, 1], [1, 1]]
    # Whatever else they name is refused before anything is imported.
    torch.save(net, path)
    with pytest.raises(ValueError, match=r"it names torch\.nn"):
        mg.load(path)
    torch.save({"a": torch.ones(1)}, path, _use_new_zipfile_serialization=False)
    with pytest.raises(ValueError, match="zip files"):
        mg.load(path)


class Turned(nn.Module):
    """A layer whose weight had another sign in its first version."""

    _version = 2

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(mg.zeros(2))

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        version = local_metadata.get("version")
        if version is None or version < 2:
            state_dict[f"{prefix}weight"] = -state_dict[f"{prefix}weight"]
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


def test_the_versions_of_modules_are_in_files(tmp_path):
    path = tmp_path / "c.mg"
    net = nn.Sequential(Turned(), nn.BatchNorm1d(2))
    net[0].weight.data.fill_(3)
    mg.save({"model": net.state_dict(), "plain": {"a": 1}}, path)
    buffer = io.BytesIO()
    mg.save(net.state_dict(), buffer)
    buffer.seek(0)
    for state in (mg.load(path)["model"], mg.load(path, mmap=True)["model"], mg.load(buffer)):
        assert state._metadata == net.state_dict()._metadata
        other = nn.Sequential(Turned(), nn.BatchNorm1d(2))
        other.load_state_dict(state)
        assert other[0].weight.tolist() == [3, 3]
    assert type(mg.load(path)["plain"]) is dict
    mg.save(state, path)
    assert mg.load(path)._metadata == state._metadata
    # Only numbers under names are kept of it.
    state._metadata = {"": {"version": 2, "x": None, "y": [1], 3: 1}, "0": 1, 1: {}}
    mg.save(state, path)
    assert mg.load(path)._metadata == {"": {"version": 2, "x": None}}
    for metadata in ("null", "3", "[]", '{"0": 1}'):
        mg.save_safetensors({"0.weight": mg.ones(2)}, path, {"micrograd_rs": '{"dict": [["w", {"tensor": "0.weight"}]], "metadata": %s}' % metadata})
        assert mg.load(path)._metadata == {}


def test_the_versions_of_modules_are_in_pytorchs_files(tmp_path):
    path = tmp_path / "f.pt"
    state = collections.OrderedDict(w=1)
    state._metadata = collections.OrderedDict({"": {"version": 2}, "0": {"x": [1]}})
    archive(path, pickle.dumps(state))
    assert mg.load(path) == {"w": 1} and mg.load(path)._metadata == {"": {"version": 2}, "0": {}}
    state._metadata = [1]
    archive(path, pickle.dumps(state))
    assert mg.load(path)._metadata == {}
    archive(path, pickle.dumps(collections.OrderedDict(w=1)))
    assert type(mg.load(path)) is collections.OrderedDict
    torch = pytest.importorskip("torch")
    theirs = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    torch.save(theirs.state_dict(), path)
    assert mg.load(path)._metadata == theirs.state_dict()._metadata


def archive(path, pickled, storages=(), root="a"):
    with zipfile.ZipFile(path, "w") as out:
        out.writestr(f"{root}/data.pkl", pickled)
        for key, data in storages:
            out.writestr(f"{root}/data/{key}", data)


class Evil:
    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


def test_nothing_is_executed(tmp_path):
    path, mark = tmp_path / "evil.pt", tmp_path / "mark"
    for call, arguments in ((os.system, (f"touch {mark}",)), (eval, (f"open({str(mark)!r}, 'w')",)), (exec, ("1/0",)), (getattr, ("x", "upper")), (io.open, (str(mark), "w"))):
        archive(path, pickle.dumps({"x": Evil(call, *arguments)}))
        with pytest.raises(ValueError, match="it names"):
            mg.load(path)
        assert not mark.exists()
    for code in (b"cos\nsystem\n(S'true'\ntR.", b"cbuiltins\neval\n(S'1'\ntR.", b"cmicrograd_rs\nload\n(S'x'\ntR.", b"ctorch._utils\n_rebuild_tensor_v2.__globals__\n.", b"ccollections\nOrderedDict.__init__\n."):
        archive(path, code)
        with pytest.raises(ValueError):
            mg.load(path)


def test_classes_that_a_file_may_have():
    from micrograd_rs.serialization import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals

    add_safe_globals([dict])
    with safe_globals([dict, set]):
        assert get_safe_globals() == [dict, set]
    assert get_safe_globals() == [dict]
    clear_safe_globals()
    assert get_safe_globals() == []


def rebuilt(storage=b"ctorch\nFloatStorage\n", key=b"0", count=4, offset=0, size=(2, 2), stride=(2, 1)):
    def numbers(values):
        return b"(" + b"".join(b"I%d\n" % v for v in values) + b"t"

    pid = b"(S'storage'\n" + storage + b"S'" + key + b"'\nS'cpu'\nI%d\ntQ" % count
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + pid + b"I%d\n" % offset + numbers(size) + numbers(stride) + b"I00\nN" + b"tR."


def test_broken_files_of_pytorchs(tmp_path):
    path, four = tmp_path / "b.pt", struct.pack("<4f", 1, 2, 3, 4)
    archive(path, rebuilt(), [("0", four)])
    assert mg.load(path).tolist() == [[1, 2], [3, 4]]
    for pickled, storages in (
        (rebuilt(), []),
        (rebuilt(), [("0", four[:-1])]),
        (rebuilt(), [("0", four + four)]),
        (rebuilt(offset=1), [("0", four)]),
        (rebuilt(offset=-1), [("0", four)]),
        (rebuilt(size=(2, 3)), [("0", four)]),
        (rebuilt(size=(2, -2)), [("0", four)]),
        (rebuilt(stride=(2**62, 2**62)), [("0", four)]),
        (rebuilt(stride=(2,)), [("0", four)]),
        (rebuilt(size=(1,) * 40, stride=(1,) * 40), [("0", four)]),
        (rebuilt(key=b"../0"), [("0", four)]),
        (rebuilt(storage=b"ctorch\nComplexFloatStorage\n"), [("0", four)]),
        (rebuilt(storage=b"S'x'\n"), [("0", four)]),
        (rebuilt(count=2**62), [("0", four)]),
        (rebuilt(storage=b"ctorch\nBoolStorage\n", count=4, size=(4,), stride=(1,)), [("0", b"\1\2\0\1")]),
        (rebuilt()[:-9], [("0", four)]),
        (b"", []),
        (b"garbage", []),
        (b"(" * 1000, []),
        (b"]" * 5 + b".", []),
        (b"\x80\x02}q\x00X\xff\xff\xff\x7f", []),
        (b"ctorch\nFloatStorage\n}S'size'\nI0\nsb.", []),
    ):
        archive(path, pickled, storages)
        for mmap in (False, True):
            try:
                got = mg.load(path, mmap=mmap)
            except ValueError:
                continue
            assert pickled.startswith((b"]", b"ctorch\nFloat")), (pickled, got)
    whole = io.BytesIO()
    archive(whole, rebuilt(), [("0", four)])
    for n in range(0, len(whole.getvalue()), 7):
        path.write_bytes(whole.getvalue()[:n])
        for mmap in (False, True):
            with pytest.raises((ValueError, OSError)):
                mg.load(path, mmap=mmap)
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("readme", "nothing")
    with pytest.raises(ValueError, match="neither"):
        mg.load(path)


def test_a_name_in_a_zip_that_is_no_text(tmp_path):
    path = tmp_path / "d.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("é/data.pkl", b"N.")
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xa9"))
    with pytest.raises(ValueError, match="d.zip"):
        mg.load(path)


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["a/data.pkl", "a.npy"])
def test_damaged_compression_is_the_files_fault(tmp_path, kind, name):
    path = tmp_path / "d.zip"
    with zipfile.ZipFile(path, "w", kind) as out:
        out.writestr(name, bytes(range(250)))
    data = bytearray(path.read_bytes())
    start = 30 + len(name)
    data[start : start + 12] = b"\xff" * 12
    path.write_bytes(data)
    with pytest.raises(ValueError, match="d.zip"):
        mg.load(path)


def test_no_elements_of_a_size_beyond_all(tmp_path):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, %d)}" % 2**70
    (tmp_path / "z.npy").write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header)
    with pytest.raises(ValueError, match="more elements"):
        mg.load(tmp_path / "z.npy")


def test_small_files_of_pytorchs_that_would_be_large(tmp_path):
    path, four = tmp_path / "l.pt", struct.pack("<4f", 1, 2, 3, 4)
    # Lists of the same list twice, sixty times: 2^60 of them, were each made by itself.
    archive(path, b"]" + b"".join(b"q%c](h%ch%ce" % (i, i, i) for i in range(60)) + b".")
    got, depth = mg.load(path), 0
    while got:
        assert got[0] is got[1]
        got, depth = got[0], depth + 1
    assert depth == 60
    # What contains itself does so here.
    archive(path, b"]q\0h\0a.")
    assert (got := mg.load(path))[0] is got
    # A value that is remembered under a large number asks for no room for all before it.
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    archive(path, b"]r\xff\xff\xff\x1f.")
    assert mg.load(path) == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20
    archive(path, b"]\x96\x00\x00\x00\xba\x00\x00\x00\x00ab")
    with pytest.raises(ValueError, match="its pickle"):
        mg.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20
    archive(path, pickle.dumps(bytearray(b"abc"), protocol=5))
    assert mg.load(path) == bytearray(b"abc")
    # What was expanded takes its storage's room.
    archive(path, rebuilt(size=(1 << 20, 1 << 20), stride=(0, 0), offset=2), [("0", four)])
    got = mg.load(path)
    assert got.shape == (1 << 20, 1 << 20) and got[7, 1234].item() == 3
    archive(path, b"ccollections\ndefaultdict\n(c__builtin__\nset\ntR(I1\nctorch\nfloat32\nu.")
    got = mg.load(path)
    assert got == {1: mg.float32} and got[5] == set()


def test_npz(tmp_path):
    np = pytest.importorskip("numpy")
    ours = {d: of(d) for d in NUMPYS} | {"empty": mg.zeros(0, 2), "one": mg.tensor(3.0), "turned": mg.randn(2, 3).t()}
    for write in (npz.savez, npz.savez_compressed):
        write(tmp_path / "a", **ours)
        with np.load(tmp_path / "a.npz") as theirs:
            assert set(theirs.files) == set(ours)
            for name, t in ours.items():
                assert theirs[name].tolist() == t.tolist() and theirs[name].shape == tuple(t.shape) and theirs[name].dtype.name == t.dtype.name
        got = npz.load(tmp_path / "a.npz")
        for name, t in ours.items():
            same(got[name], t)
        assert set(mg.load(tmp_path / "a.npz")) == set(ours)
    arrays = {"f": np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)), "big": np.arange(3, dtype=">i4"), "s": np.float32(2), "t": np.array([True])}
    np.savez(tmp_path / "b.npz", **arrays)
    for name, t in npz.load(tmp_path / "b.npz").items():
        assert t.tolist() == arrays[name].tolist() and tuple(t.shape) == arrays[name].shape
    npz.save(tmp_path / "c", mg.arange(4.0, dtype="bf16"))
    assert np.load(tmp_path / "c.npy").tolist() == [0, 1, 2, 3] and mg.load(tmp_path / "c.npy").dtype == mg.float32
    npz.savez(tmp_path / "d", mg.ones(1), mg.zeros(1))
    assert set(npz.load(tmp_path / "d.npz")) == {"arr_0", "arr_1"}
    np.save(tmp_path / "e.npy", np.array(["text"]))
    with pytest.raises(ValueError, match="<U4"):
        npz.load(tmp_path / "e.npy")
    np.save(tmp_path / "e.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ValueError, match="O"):
        npz.load(tmp_path / "e.npy")


def npy(header, data=b"\0" * 8, version=b"\1\0", length=None):
    text = header.encode()
    return b"\x93NUMPY" + version + struct.pack("<H", len(text) if length is None else length) + text + data


@pytest.mark.parametrize("junk", [
    b"", b"\x93NUMPY", npy("{}"), npy("[1]"), npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}"),
    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"),
    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"), npy("{'descr': '<f8', 'fortran_order': False, 'shape': 1}"),
    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,)}"), npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}"),
    npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}"), npy("__import__('os').system('true')"),
    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000000,)}"), npy("{'descr': '|b1', 'fortran_order': False, 'shape': (8,)}", b"\7" * 8),
    npy("{", length=60000), npy("(" * 5000), npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", version=b"\x09\0"),
    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", b"\0" * 9), npy("{'descr': '|u1', 'fortran_order': False, 'shape': " + repr((1,) * 30) + "}", b"\0"),
])
def test_broken_files_of_numpys(tmp_path, junk):
    path = tmp_path / "j.npy"
    path.write_bytes(junk)
    with pytest.raises((ValueError, OverflowError)):
        npz.load(path)
    with zipfile.ZipFile(tmp_path / "j.npz", "w") as out:
        out.writestr("a.npy", junk)
    with pytest.raises((ValueError, OverflowError)):
        npz.load(tmp_path / "j.npz")


def test_broken_structures(tmp_path):
    path = tmp_path / "s"
    for text in ("", "{", "[]", '{"tensor": "none"}', '{"dict": [[1]]}', '{"dict": [1]}', '{"float": "1e5"}', '{"os.system": "true"}', '{"list": 5}', '{"dict": [[{"list": []}, 1]]}', "[" * 100000, '{"dtype": "f5"}', "{}", '{"size": ["a"]}'):
        mg.save_safetensors({"x": mg.ones(1)}, path, {"micrograd_rs": text})
        with pytest.raises(ValueError):
            print(text[:50], mg.load(path))


def test_broken_safetensors(tmp_path):
    path, whole = tmp_path / "w", safetensors.save({"a": mg.arange(4.0), "b": mg.tensor([True, False])})

    def header(**entries):
        text = json.dumps(entries).encode()
        return struct.pack("<Q", len(text)) + text

    f = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    files = [whole[:n] for n in range(0, len(whole), 5)] + [
        whole + b"\0",
        whole[:-1] + b"\2",
        header(a=f, b={**f, "data_offsets": [4, 12]}) + b"\0" * 12,
        header(a=f, b={**f, "data_offsets": [12, 20]}) + b"\0" * 20,
        header(a={**f, "data_offsets": [8, 0]}) + b"\0" * 8,
        header(a={**f, "data_offsets": [0, 2**63]}) + b"\0" * 8,
        header(a={**f, "shape": [2**40, 2**40]}) + b"\0" * 8,
        header(a={**f, "shape": [-2]}) + b"\0" * 8,
        header(a={**f, "dtype": "F99"}) + b"\0" * 8,
        header(a={**f, "dtype": "F64"}) + b"\0" * 8,
        header(a={**f, "shape": [1] * 20 + [2]}) + b"\0" * 8,
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 4) + b"\xff\xfe{}",
    ]
    for i, data in enumerate(files):
        path.write_bytes(data)
        for read in (mg.load, safetensors.load_file, lambda p: mg.load(p, mmap=True)):
            with pytest.raises(ValueError):
                read(path)


def shared(a, b):
    """Whether a write to one is seen by the other."""
    before = b.tolist()
    with mg.no_grad():
        a.detach().view(-1)[0] += 1
    return b.tolist() != before


def there_and_back(obj, **options):
    file = io.BytesIO()
    mg.save(obj, file)
    file.seek(0)
    return mg.load(file, **options)


def leaves(value):
    if isinstance(value, mg.Tensor):
        return [(value.dtype, tuple(value.shape), value.stride(), value.requires_grad, value.double().tolist())]
    if isinstance(value, dict):
        return [(key, leaf) for key, item in value.items() for leaf in leaves(item)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value.tolist() if hasattr(value, "tolist") else value]


@pytest.mark.parametrize("name", ["adam", "kinds", "linear", "training"])
def test_files_of_pytorch_that_are_mapped(tmp_path, name):
    path = pathlib.Path(__file__).parents[2] / "mg-nn" / "tests" / "files" / f"{name}.pt"
    wanted = mg.load(path)
    assert leaves(mg.load(path, mmap=True)) == leaves(wanted) != []
    # What is written to them is not written to the file, and those of one storage see it.
    copy = tmp_path / "f.pt"
    copy.write_bytes(path.read_bytes())
    got = mg.load(copy, mmap=True)

    def fill(value):
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
            fill(item)
        if isinstance(value, mg.Tensor) and value.is_floating_point() and value.is_contiguous():
            with mg.no_grad():
                value.fill_(7)

    fill(got)
    assert copy.read_bytes() == path.read_bytes() and leaves(mg.load(copy)) == leaves(wanted)
    copy.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match="f.pt"):
        mg.load(copy, mmap=True)


def test_a_mapped_file_of_pytorch_is_not_read(tmp_path):
    """Of a file that is large, mapped, few pages are in memory until its elements are looked at."""
    torch = pytest.importorskip("torch")
    resource = pytest.importorskip("resource")
    n = 1 << 26
    torch.save({"a": torch.ones(n, dtype=torch.uint8), "b": torch.arange(5)}, tmp_path / "f.pt")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    got = mg.load(tmp_path / "f.pt", mmap=True)
    assert got["a"].shape == (n,) and got["b"].tolist() == [0, 1, 2, 3, 4]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < n // 2, grown
    assert got["a"][-3:].tolist() == [1, 1, 1]


def test_what_shares_memory_does_so_again(tmp_path):
    m = mg.arange(6.0)
    parts = [m, m.view(2, 3), m.view(2, 3).t(), m[1:3], m[4:], m[:1].expand(3), m[::2]]
    for options in ({}, {"map_location": "cpu"}, {"map_location": lambda t, where: t}):
        got = there_and_back(parts, **options)
        for a, b in zip(got, parts, strict=True):
            assert a.tolist() == b.tolist() and a.stride() == b.stride() and a.shape == b.shape
        got[0][2] = 9
        assert [t.tolist() for t in got[1:4]] == [[[0, 1, 9], [3, 4, 5]], [[0, 3], [1, 4], [9, 5]], [1, 9]]
        got[5][0] = 7
        assert got[0].tolist() == [7, 1, 9, 3, 4, 5] and got[6].tolist() == [7, 9, 4]
    # Also where none of them is the whole; and each is there under its name for others.
    mg.save({"a": m[0:4], "b": m[2:6], "c": mg.ones(2)}, tmp_path / "f")
    assert mg.load_safetensors(tmp_path / "f")["b"].tolist() == [2, 3, 4, 5]
    for mmap in (False, True):
        got = mg.load(tmp_path / "f", mmap=mmap)
        got["a"][3] = 9
        assert got["b"].tolist() == [2, 9, 4, 5] and got["c"].tolist() == [1, 1]
    # Tied weights, parameters, gradients that are wanted.
    one, two = nn.Linear(2, 2), nn.Linear(2, 2)
    two.weight = one.weight
    got = there_and_back({"one": one.state_dict(), "two": two.state_dict()})
    assert shared(got["one"]["weight"], got["two"]["weight"]) and not shared(got["one"]["bias"], got["two"]["bias"])
    p = nn.Parameter(mg.ones(2, 3))
    a, b, c, d = there_and_back([p, p, p.detach(), p.detach().t()])
    assert a is b and a.requires_grad and not c.requires_grad and shared(a, c) and shared(c, d) and d.shape == (3, 2)
    # Of what does not share nothing does.
    for a, b in ((mg.zeros(3), mg.zeros(3)), (m, m.clone()), (m * 2, m * 2), (m, m.int()), (m[:2], m[2:])):
        assert not shared(*there_and_back([a, b]))
    # Gradients of one number, which lie at one place as long as nobody writes to them.
    x, y = (mg.ones(4, requires_grad=True) for _ in range(2))
    (x + y).backward(mg.ones(4))
    assert not shared(*there_and_back([x.grad, y.grad]))
    assert [t.shape for t in there_and_back([mg.zeros(0, 3), mg.zeros(0, 3), mg.tensor(1.0)])] == [(0, 3), (0, 3), ()]


def test_elements_lie_as_they_did():
    x = mg.randn(2, 3, 4)
    tensors = [x.t() if x.dim() == 2 else x.permute(2, 0, 1), x[0].t(), mg.ones(2, 1).expand(2, 3), mg.ones(1).expand(2, 3), x.movedim(0, -1)[..., 0:1]]
    for t in tensors[:4]:
        (got,) = there_and_back([t])
        assert got.tolist() == t.tolist() and got.stride() == t.stride()
    # Gaps are not kept.
    assert there_and_back(tensors[4]).tolist() == tensors[4].tolist()
    p = nn.Parameter(mg.arange(6.0).view(2, 3).t())
    got, again = there_and_back([p, p])
    assert got is again and got.requires_grad and got.tolist() == p.tolist() and got.stride() == p.stride()


def test_broken_places(tmp_path):
    m = mg.arange(6.0)
    path = tmp_path / "f"
    mg.save([m, m[1:3]], path)
    tensors, metadata = mg.load_safetensors(path, metadata=True)
    said = json.loads(metadata["micrograd_rs"])
    good = said["list"][1]
    assert good == {"tensor": "1", "of": "0", "offset": 1, "stride": [1]}
    for wrong in ({"offset": 5}, {"offset": -1}, {"offset": "1"}, {"offset": True}, {"stride": [3, 1]}, {"stride": [9]}, {"stride": [-2]}, {"stride": "1"}, {"stride": None}, {"of": "7"}, {"of": 3}, {"offset": None}):
        mg.save_safetensors(tensors, path, {"micrograd_rs": json.dumps({"list": [{"tensor": "0"}, {**good, **wrong}]})})
        with pytest.raises(ValueError):
            mg.load(path)
    for wrong in ([1, 1], ["a"], [-1], 3):
        mg.save_safetensors(tensors, path, {"micrograd_rs": json.dumps({"tensor": "0", "stride": wrong})})
        with pytest.raises(ValueError):
            mg.load(path)


def test_pytorchs_files_share(tmp_path):
    torch = pytest.importorskip("torch")
    t = torch.arange(6.0)
    torch.save({"a": t, "b": t.view(2, 3), "c": t[1:3], "d": t.view(2, 3).t(), "e": t[:1].expand(4)}, tmp_path / "f.pt")
    got = mg.load(tmp_path / "f.pt")
    assert got["d"].stride() == (1, 3) and got["e"].stride() == (0,)
    got["a"][1] = 9
    assert got["b"].tolist() == [[0, 9, 2], [3, 4, 5]] and got["c"].tolist() == [9, 2] and got["d"].tolist() == [[0, 3], [9, 4], [2, 5]]


def python_values(np=None):
    values = {
        "bytes": b"\x01\xff", "none": b"", "array": bytearray(b"ab"), "count": collections.Counter("aab"), "complex": 1 + 2j,
        "default": collections.defaultdict(list, {"x": [1]}), "range": range(1, 9, 2), "slice": slice(1, None, 2), "frozen": frozenset({1, (2, 3)}),
        "path": pathlib.PurePosixPath("/a/b"), "own": pathlib.Path("a"), "when": datetime.datetime(2020, 1, 2, 3, 4, 5, 6), "day": datetime.date(2020, 1, 2),
        "zone": datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc), "time": datetime.time(3, 4), "span": datetime.timedelta(3, 4, 5), "keys": {(1, b"a"): {b"b"}},
    }  # fmt: skip
    if np is not None:
        values |= {
            "f": np.float64(3.5), "i": np.int32(4), "true": np.bool_(True), "c": np.complex64(1j), "text": np.str_("ab"), "a": np.arange(6.0).reshape(2, 3),
            "columns": np.asfortranarray(np.arange(6).reshape(2, 3)), "texts": np.array(["ab", "c"]), "swapped": np.arange(3, dtype=">i4"),
            "empty": np.zeros((0, 3)), "single": np.array(3.0), "state": np.random.RandomState(3).get_state(), "key": {np.int64(3): 1},
        }  # fmt: skip
    return values


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_values_of_python_in_pytorchs_files(tmp_path, protocol):
    path = tmp_path / "f.pt"
    for name, value in python_values().items():
        archive(path, pickle.dumps([value], protocol))
        (got,) = mg.load(path)
        assert type(got) is type(value) and got == value, name
    archive(path, pickle.dumps(collections.defaultdict(list, {"x": [1]}), protocol))
    assert mg.load(path)["y"] == []


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_values_of_numpys_in_pytorchs_files(tmp_path, protocol):
    np = pytest.importorskip("numpy")
    path = tmp_path / "f.pt"
    for name, value in python_values(np).items():
        archive(path, pickle.dumps([value, value], protocol))
        got, again = mg.load(path)
        assert type(got) is type(value), name
        if isinstance(value, np.ndarray):
            assert got.dtype == value.dtype and got.strides == value.strides and got.tolist() == value.tolist() and got.flags.writeable and got is again
        elif name == "state":
            assert np.random.RandomState(4).set_state(got) is None and got[1].tolist() == value[1].tolist()
        else:
            assert got == value
    for wrong in (np.array([None]), np.array([(1, 2)], dtype=[("a", "i4"), ("b", "i4")]), np.array(["2020-01-01"], dtype="M8[D]")):
        archive(path, pickle.dumps(wrong, protocol))
        with pytest.raises(ValueError, match="NumPy's type"):
            mg.load(path)


def test_values_that_are_none(tmp_path):
    path = tmp_path / "f.pt"
    for code in (
        b"c_codecs\nencode\n(S'a'\nS'rot13'\ntR.", b"c_codecs\nencode\n(I1\ntR.", b"c_codecs\ndecode\n(S'a'\ntR.", b"c__builtin__\ncomplex\n(S'1'\ntR.",
        b"c__builtin__\nbytearray\n(I99999999999\ntR.", b"c__builtin__\nbytes\n(I99999999999\ntR.", b"c__builtin__\nrange\n(F1.5\ntR.", b"cpathlib\nPosixPath\n(I1\ntR.", b"cpathlib\nPath.home\n(tR.",
        b"cdatetime\ndatetime\n(S'x'\ntR.", b"cdatetime\ndatetime.fromtimestamp\n(I1\ntR.", b"cnumpy\ndtype\n(S'O8'\ntR.", b"cnumpy\nfromfile\n(S'x'\ntR.",
        b"cnumpy.core.multiarray\nscalar\n(S'f8'\nS'x'\ntR.", b"cnumpy.core.multiarray\n_reconstruct\n(tR.", b"cnumpy.core.multiarray\n_reconstruct\n(tRI1\nb.",
        b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch\nSize\nctorch\nTensor\n(tNtR.", b"ctorch._tensor\n_rebuild_from_type_v2\n(NNNNtR.", b"ccollections\nCounter.fromkeys\n(tR.",
    ):
        archive(path, code)
        with pytest.raises(ValueError, match=str(path.name)):
            mg.load(path)
    np = pytest.importorskip("numpy")
    good = pickle.dumps(np.arange(3.0), 2)
    text = pickle.dumps(np.array(["ab"]), 4)
    assert b"a\0\0\0" in text
    archive(path, text.replace(b"a\0\0\0", b"a\0\0\x7f"))
    with pytest.raises(ValueError, match="character"):
        mg.load(path)
    for old, new in ((b"f8", b"f4"), (b"K\x03", b"K\x04")):
        assert old in good
        archive(path, good.replace(old, new))
        with pytest.raises(ValueError):
            mg.load(path)


def test_buffers_of_pytorchs(tmp_path):
    torch = pytest.importorskip("torch")
    p = torch.nn.Parameter(torch.ones(2))
    p.tag = 3
    t = torch.zeros(2)
    t.tag = 5
    torch.save({"b": torch.nn.Buffer(torch.ones(1)), "n": torch.nn.Buffer(torch.ones(1), persistent=False), "p": p, "t": t}, tmp_path / "f.pt")
    got = mg.load(tmp_path / "f.pt")
    assert isinstance(got["b"], nn.Buffer) and isinstance(got["p"], nn.Parameter) and got["t"].tolist() == [0, 0] and not isinstance(got["t"], nn.Buffer)
    # Attributes are kept, but for what tensors have of themselves.
    assert got["p"].tag == 3 and got["t"].tag == 5 and got["p"].requires_grad
    net = nn.Module()
    net.b, net.n = got["b"], got["n"]
    assert list(net.state_dict()) == ["b"] and len(list(net.buffers())) == 2


def test_what_is_open_already_needs_no_file(monkeypatch):
    def refuse(*_):
        raise AssertionError("a file of its own")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    buffer = io.BytesIO()
    mg.save({"a": mg.arange(3), "b": "text"}, buffer)
    buffer.seek(0)
    assert mg.load(buffer)["a"].tolist() == [0, 1, 2]
    data = safetensors.save({"a": mg.arange(3)}, {"by": "me"})
    assert safetensors.load(data)["a"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="truncated"):
        safetensors.load(data[:-1])
    with pytest.raises(ValueError, match="truncated"):
        mg.load(io.BytesIO(data[:-1]))


def test_views_of_memory_that_runs_backwards_are_saved():
    np = pytest.importorskip("numpy")
    x = mg.tensor(np.arange(12.0).reshape(3, 4))[:, ::-1]
    for saved in ({"a": x, "b": x[1]}, {"b": x[1], "a": x}, {"a": x[::-1], "b": x[:, 1:3]}):
        buffer = io.BytesIO()
        mg.save(saved, buffer)
        buffer.seek(0)
        loaded = mg.load(buffer)
        assert {name: t.tolist() for name, t in loaded.items()} == {name: t.tolist() for name, t in saved.items()}
        loaded["a"][1].fill_(7.0)
        assert set(loaded["b"].flatten().tolist()) >= {7.0}
