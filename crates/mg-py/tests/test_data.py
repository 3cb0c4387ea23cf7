"""Data sets, samplers and loaders."""

from __future__ import annotations

import collections
import copy
import gc
import pickle
import threading
import time
import warnings

import micrograd_rs as mg
import pytest
from micrograd_rs.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    get_worker_info,
    random_split,
)


class Squares(Dataset):
    def __init__(self, n=20):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return mg.tensor([float(i), float(i * i)]), i


class Bad(Squares):
    def __getitem__(self, i):
        if i == 7:
            raise KeyError("no seven")
        return super().__getitem__(i)


class Count(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(start, self.n, step))


def seen(loader):
    return [y.tolist() for _, y in loader]


def rows(n=20):
    return TensorDataset(mg.arange(float(2 * n)).reshape(n, 2), mg.arange(n))


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("dataset", [Squares, rows])
def test_batches(dataset, workers):
    data = dataset(20)
    loader = DataLoader(data, batch_size=6, num_workers=workers)
    assert len(loader) == 4 and seen(loader) == seen(loader) == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19]]
    x, y = next(iter(loader))
    assert x.shape == (6, 2) and x.dtype == mg.float32 and y.dtype == mg.int64 and isinstance(next(iter(loader)), list)
    x += 1.0
    assert data[0][0].tolist()[0] == 0.0
    dropping = DataLoader(data, batch_size=6, drop_last=True, num_workers=workers)
    assert len(dropping) == 3 == len(seen(dropping))
    single = list(DataLoader(data, batch_size=None, num_workers=workers))
    assert len(single) == 20 and single[3][0].shape == (2,) and int(single[3][1]) == 3


@pytest.mark.parametrize("dataset", [Squares, rows, lambda n: Subset(rows(2 * n), range(0, 2 * n, 2))])
def test_shuffling_does_not_depend_on_workers(dataset):
    def epochs(workers):
        g = mg.Generator().manual_seed(5)
        loader = DataLoader(dataset(20), batch_size=3, shuffle=True, num_workers=workers, generator=g)
        return [seen(loader) for _ in range(3)]

    first = epochs(0)
    assert first == epochs(1) == epochs(4)
    assert first[0] != first[1] and sorted(sum(first[0], [])) == sorted(sum(seen(DataLoader(dataset(20))), []))
    mg.manual_seed(3)
    a = seen(DataLoader(dataset(20), shuffle=True))
    mg.manual_seed(3)
    assert a == seen(DataLoader(dataset(20), shuffle=True, num_workers=2))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("make", [
    lambda w: DataLoader(Squares(), batch_size=3, shuffle=True, num_workers=w),
    lambda w: DataLoader(rows(), batch_size=3, shuffle=True, num_workers=w, drop_last=True),
    lambda w: DataLoader(rows(), batch_size=3, shuffle=True, num_workers=w, generator=mg.Generator().manual_seed(1)),
    lambda w: DataLoader(Squares(), batch_size=3, num_workers=w, sampler=WeightedRandomSampler([1.0] * 20, 15)),
    lambda w: DataLoader(Squares(), num_workers=w, batch_sampler=BatchSampler(RandomSampler(Squares(), generator=mg.Generator().manual_seed(9)), 4, False)),
    lambda w: DataLoader(TensorDataset(mg.arange(20.0), mg.arange(20)), batch_size=2, num_workers=w, sampler=SubsetRandomSampler([1, 5, 8, 3, 9, 2])),
])
def test_resumed_in_the_middle(make, workers):
    """What follows is what would have followed, in this epoch and the next one."""
    mg.manual_seed(11)
    loader = make(workers)
    seen(loader)
    it = iter(loader)
    next(it), next(it)
    state, generator = pickle.loads(pickle.dumps(loader.state_dict())), mg.get_rng_state()
    rest = [y.tolist() for _, y in it]
    following = seen(loader)
    mg.manual_seed(999)
    again = make(2 - workers)
    again.load_state_dict(state)
    assert again.state_dict()["batches"] == 2
    mg.set_rng_state(generator)
    assert seen(again) == rest and seen(again) == following
    assert state["batches"] == 2 and loader.state_dict()["batches"] == 0
    with pytest.raises(ValueError, match="batches"):
        again.load_state_dict({"seed": 1})


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_errors_reach_the_loop(workers):
    loader = DataLoader(Bad(), batch_size=4, num_workers=workers)
    it = iter(loader)
    next(it)
    with pytest.raises(KeyError, match="no seven") as e:
        next(it)
    notes = " ".join(e.value.__notes__)
    assert "item 7 of the data set" in notes and ("in worker" in notes) == (workers > 0)
    # The batches after it come.
    assert next(it)[1].tolist() == [8, 9, 10, 11]

    def start(i):
        raise OSError("cannot start")

    if workers:
        with pytest.raises(OSError, match="cannot start"):
            next(iter(DataLoader(Squares(), num_workers=workers, worker_init_fn=start)))


def test_workers():
    started, threads = [], set()

    class Watched(Squares):
        def __getitem__(self, i):
            info = get_worker_info()
            threads.add((info.id, info.num_workers, threading.current_thread().name))
            time.sleep(0.001)
            return i

    loader = DataLoader(Watched(60), batch_size=2, num_workers=3, worker_init_fn=started.append, persistent_workers=True, prefetch_factor=4)
    for _ in range(2):
        assert [i for b in loader for i in b.tolist()] == list(range(60))
    assert sorted(started) == [0, 1, 2] and {t[:2] for t in threads} <= {(0, 3), (1, 3), (2, 3)} and len(threads) > 1
    assert get_worker_info() is None
    # A loop that is left ends its workers.
    before = threading.active_count()
    for _ in range(5):
        for _batch in DataLoader(Squares(100), num_workers=2):
            break
    gc.collect()
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.02)
    assert threading.active_count() <= before
    del loader

    class Slow(Squares):
        def __getitem__(self, i):
            time.sleep(0.5)
            return i

    with pytest.raises(RuntimeError, match="within 0.05 seconds"):
        next(iter(DataLoader(Slow(), num_workers=1, timeout=0.05)))


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_iterated_data(workers):
    loader = DataLoader(Count(17), batch_size=3, num_workers=workers)
    got = [b.tolist() for b in loader]
    assert sorted(sum(got, [])) == list(range(17)) and got == [b.tolist() for b in loader]
    it = iter(loader)
    next(it), next(it)
    again = DataLoader(Count(17), batch_size=3, num_workers=workers)
    again.load_state_dict(loader.state_dict())
    assert [b.tolist() for b in again] == got[2:]
    if workers < 2:
        assert [b.tolist() for b in DataLoader(Count(17), batch_size=5, drop_last=True, num_workers=workers)] == [list(range(i, i + 5)) for i in (0, 5, 10)]
        assert list(DataLoader(Count(3), batch_size=None, num_workers=workers)) == [0, 1, 2]
    chained = ChainDataset([Count(2), Count(3)])
    assert [b.tolist() for b in DataLoader(chained, batch_size=4)] == [[0, 1, 0, 1], [2]]
    for wrong in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        with pytest.raises(ValueError):
            DataLoader(Count(3), **wrong)


@pytest.mark.parametrize("workers", [0, 1])
def test_whatever_can_be_iterated_over(workers):
    class Squares:
        def __iter__(self):
            return (i * i for i in range(5))

    for _ in range(2):
        assert [b.tolist() for b in DataLoader(Squares(), batch_size=2, num_workers=workers)] == [[0, 1], [4, 9], [16]]
    for samples in (lambda: (i for i in range(3)), lambda: iter([0, 1, 2]), lambda: {0, 1, 2}, lambda: map(int, "012")):
        with warnings.catch_warnings():
            # A generator cannot be copied for a worker, which is told.
            warnings.simplefilter("ignore")
            assert sorted(x.item() for x in DataLoader(samples(), num_workers=workers)) == [0, 1, 2]
    with pytest.raises(ValueError, match="order"):
        DataLoader((i for i in range(3)), shuffle=True)


def test_data_sets():
    one, two = rows(4), rows(3)
    both = one + two
    assert isinstance(both, ConcatDataset) and len(both) == 7
    assert [both[i][1].item() for i in (0, 3, 4, 6, -1, -7)] == [0, 3, 0, 2, 2, 0]
    with pytest.raises(IndexError):
        both[7]
    part = Subset(both, [6, 0])
    assert [p[1].item() for p in part] == [2, 0]
    assert StackDataset(one, [5, 6, 7, 8])[1][1] == 6 and StackDataset(a=one, b=one)[2]["b"][1].item() == 2
    for wrong in (lambda: TensorDataset(mg.ones(2), mg.ones(3)), TensorDataset, lambda: ConcatDataset([]), lambda: StackDataset(one, two)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(NotImplementedError, match="__getitem__"):
        Dataset()[0]


def test_random_split():
    g = mg.Generator().manual_seed(2)
    a, b = random_split(range(10), [7, 3], generator=g)
    assert len(a) == 7 and sorted([*a, *b]) == list(range(10)) and list(a) != list(range(7))
    parts = random_split(range(10), [0.5, 0.3, 0.2])
    assert [len(p) for p in parts] == [5, 3, 2]
    assert [len(p) for p in random_split(range(11), [0.5, 0.5])] == [6, 5]
    assert sorted(y for b in DataLoader(random_split(rows(10), [5, 5])[0], batch_size=2) for y in b[1].tolist()) != []
    for wrong in ([5, 4], [0.5, 0.4], [11, -1]):
        with pytest.raises(ValueError):
            random_split(range(10), wrong)


@pytest.mark.parametrize("dataset", [Squares(), TensorDataset(mg.arange(20.0))])
@pytest.mark.parametrize("workers", [0, 2])
def test_more_samples_than_can_be_drawn_at_once(dataset, workers):
    sampler = RandomSampler(dataset, replacement=True, num_samples=int(1e10))
    assert len(sampler) == int(1e10)
    loader = DataLoader(dataset, batch_size=4, sampler=sampler, num_workers=workers)
    assert len(loader) == 25 * 10**8
    batches = iter(loader)
    first = [next(batches)[0].tolist() for _ in range(2)]
    state = loader.state_dict()
    second = next(batches)[0].tolist()
    again = DataLoader(dataset, batch_size=4, sampler=sampler, num_workers=workers)
    again.load_state_dict(state)
    assert next(iter(again))[0].tolist() == second and first[0] != first[1]
    assert len({next(iter(RandomSampler(dataset, num_samples=int(1e10)))) for _ in range(50)}) > 1


def test_numbers_drawn_in_pieces_are_those_drawn_at_once(monkeypatch):
    from micrograd_rs.utils.data import sampler as module

    def drawn(replacement, n):
        return [list(RandomSampler(range(7), replacement, n, generator=mg.Generator().manual_seed(5))), list(DataLoader(range(7), sampler=RandomSampler(range(7), replacement, n)))]

    whole = {}
    for pieces in (False, True):
        monkeypatch.setattr(module, "_AT_ONCE", 8 if pieces else 100)
        for replacement in (False, True):
            for n in (5, 7, 30):
                mg.manual_seed(1)
                got = str(drawn(replacement, n))
                assert got == whole.setdefault((replacement, n), got)


def test_samplers():
    assert list(SequentialSampler(range(3))) == [0, 1, 2]
    assert sorted(RandomSampler(range(5))) == [0, 1, 2, 3, 4]
    assert len(list(RandomSampler(range(5), num_samples=12))) == 12 and len(list(RandomSampler(range(5), True, 50))) == 50
    drawn = list(WeightedRandomSampler([0.0, 1.0, 0.0, 3.0], 400, generator=mg.Generator().manual_seed(1)))
    assert set(drawn) == {1, 3} and 240 < drawn.count(3) < 360
    assert sorted(WeightedRandomSampler([1.0, 1.0, 1.0], 3, replacement=False)) == [0, 1, 2]
    # Their sum may be beyond what there is.
    drawn = list(WeightedRandomSampler([0.0, 1e308, 1e308], 400, generator=mg.Generator().manual_seed(1)))
    assert set(drawn) == {1, 2} and 150 < drawn.count(1) < 250
    assert sorted(SubsetRandomSampler([4, 9, 2])) == [2, 4, 9]
    assert list(BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]] and list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    for wrong in (lambda: BatchSampler(range(3), 0, False), lambda: WeightedRandomSampler([1.0], 2, False), lambda: RandomSampler(range(3), num_samples=-1)):
        with pytest.raises(ValueError):
            wrong()


def test_collate():
    Point = collections.namedtuple("Point", "x y")
    batch = default_collate([{"p": Point(1, 2.0), "s": ["a", (True, mg.ones(2))]}, {"p": Point(3, 4.0), "s": ["b", (False, mg.zeros(2))]}])
    assert batch["p"].x.tolist() == [1, 3] and batch["p"].y.dtype == mg.float64 and isinstance(batch["p"], Point)
    assert batch["s"][0] == ("a", "b") and batch["s"][1][0].dtype == mg.bool and batch["s"][1][1].shape == (2, 2)
    for wrong in ([(1, 2), (1,)], [{"a": 1}, {"b": 1}], [], [mg.ones(2), mg.ones(3)]):
        with pytest.raises(ValueError):
            default_collate(wrong)
    with pytest.raises(TypeError, match="collate_fn"):
        default_collate([object()])


def test_samples_are_copied_side_by_side():
    """What is nothing but copying is done in one go, and gives what `stack` gives; what is more than that is left to it."""
    from micrograd_rs._micrograd_rs import _batch

    x = mg.arange(24.0).reshape(4, 2, 3)
    for samples in ([x[i] for i in range(4)], [x[1:][i] for i in range(3)], [x[0, 0], x[3, 1]], [mg.tensor(3), mg.tensor(4)], [mg.zeros(0, 2)] * 3):
        samples = [s.realize() for s in samples]
        made, wanted = _batch(samples), mg.stack(samples)
        assert made.shape == wanted.shape and made.dtype == wanted.dtype and made.tolist() == wanted.tolist()
        assert _batch(tuple(samples)).tolist() == wanted.tolist()
    made = _batch([x[0], x[1]])
    made.zero_()
    assert x[0].tolist() == [[0, 1, 2], [3, 4, 5]], "it is a copy"
    x[2] = 7
    assert default_collate([x[2], x[0]])[0].tolist() == [[7, 7, 7]] * 2, "of what is written by now"
    leaf = mg.ones(2, requires_grad=True)
    later = [x[0] * 2, x[1]], [x.transpose(1, 2)[0], x.transpose(1, 2)[1]], [x[0], x[0].double()], [x[0], x[0, 0]], [leaf, leaf], [x[0], 3.0], []
    assert [_batch(samples) for samples in later] == [None] * len(later)
    np = pytest.importorskip("numpy")
    assert _batch([np.ones(2), np.ones(2, "f4")]) is None and _batch([np.array("a"), np.array("b")]) is None
    with pytest.raises(MemoryError):
        _batch([np.zeros(1 << 30, "u1")] * (1 << 20))
    default_collate([leaf, leaf]).sum().backward()
    assert leaf.grad.tolist() == [2, 2]

    @mg.jit
    def step(x, y):
        return default_collate([x, y])

    for i in range(5):
        assert step(mg.full((2,), float(i)).realize(), x[0, 0, :2].clone().realize()).tolist() == [[i, i], [0, 1]]
    assert step.is_replaying


def test_arrays_are_copied_side_by_side():
    numpy = pytest.importorskip("numpy")
    x = numpy.arange(24, dtype=numpy.float32).reshape(4, 2, 3)
    for rows in (x, x[:, ::-1], x.transpose(0, 2, 1), x.astype(numpy.uint8), x.astype(numpy.float64), x > 5, x.astype(">f4")):
        made = default_collate([rows[i] for i in range(4)])
        assert made.tolist() == rows.tolist() and made.dtype == mg.from_numpy(rows.astype(rows.dtype.newbyteorder("="))).dtype
    made = default_collate([x[0], x[1]])
    made.zero_()
    assert x[0, 0, 1] == 1, "it is a copy"
    assert default_collate([x[0], mg.ones(2, 3)])[1].tolist() == [[1] * 3] * 2
    assert default_collate([numpy.float32(1), numpy.float32(2)]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="sample 1 has"):
        default_collate([x[0], x[0, 0]])


def test_collate_is_pytorchs():
    torch = pytest.importorskip("torch")
    np = pytest.importorskip("numpy")
    from torch.utils.data import default_collate as theirs

    for batch in ([1, 2], [1.5, 2.0], [True, False], [np.ones(3), np.zeros(3)], [np.float32(1), np.float32(2)], ["a", "b"], [(1, "x"), (2, "y")], [[1, 2], [3, 4]], [{"a": 1}, {"a": 2}]):
        a, b = default_collate(batch), theirs(batch)

        def plain(value):
            if hasattr(value, "tolist"):
                return np.asarray(value).dtype, value.tolist()
            if isinstance(value, dict):
                return {k: plain(v) for k, v in value.items()}
            return type(value), [plain(v) for v in value] if isinstance(value, (list, tuple)) else value

        assert plain(a) == plain(b), batch
    del torch


def test_unfit_loaders():
    data = Squares()
    for wrong in (
        {"batch_size": 0}, {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"num_workers": 1, "prefetch_factor": 0},
        {"persistent_workers": True}, {"shuffle": True, "sampler": [1]}, {"batch_sampler": [[1]], "drop_last": True}, {"batch_size": None, "drop_last": True},
    ):
        with pytest.raises(ValueError):
            DataLoader(data, **wrong)
    for workers in (0, 2):
        with pytest.raises(IndexError):
            list(DataLoader(rows(3), sampler=[0, 9], num_workers=workers))
    copied = copy.deepcopy(DataLoader(data, batch_size=5, num_workers=1, persistent_workers=True))
    assert len(seen(copied)) == 4
    assert mg.data.DataLoader is DataLoader is mg.utils.data.DataLoader


def test_a_loader_trains():
    mg.manual_seed(0)
    x = mg.randn(64, 3)
    data = TensorDataset(x, x @ mg.tensor([[1.0], [2.0], [-1.0]]))
    net = mg.nn.Linear(3, 1)
    o = mg.optim.Adam(net.parameters(), lr=0.1)

    @mg.jit
    def step(a, b):
        o.zero_grad()
        loss = (net(a) - b).square().mean()
        loss.backward()
        o.step()
        return loss.detach()

    for _ in range(40):
        for a, b in DataLoader(data, batch_size=16, shuffle=True, num_workers=1):
            loss = step(a, b)
    assert loss.item() < 1e-2 and step.is_replaying


def test_collating_types_of_ones_own():
    from micrograd_rs.utils.data._utils.collate import collate, collate_tensor_fn, default_collate_fn_map

    class Words(list):
        pass

    def joined(entries, *, collate_fn_map):
        assert Words in collate_fn_map
        return Words(word for entry in entries for word in entry)

    samples = [{"x": mg.ones(2), "words": Words("ab")}, {"x": mg.zeros(2), "words": Words("c")}]
    got = collate(samples, collate_fn_map={mg.Tensor: collate_tensor_fn, Words: joined})
    assert got["x"].tolist() == [[1.0, 1.0], [0.0, 0.0]] and got["words"] == Words("abc")
    # By a base, or one of several types; what nobody puts together is refused.
    assert collate([1, 2.5], collate_fn_map={(int, float): lambda entries, *, collate_fn_map: max(entries)}) == 2.5
    with pytest.raises(TypeError, match=r"collate: a sample in entry \['x'\] has Tensor, for which"):
        collate(samples, collate_fn_map={Words: joined})
    with pytest.raises(ValueError, match="number of entries"):
        default_collate(samples)
    default_collate_fn_map[Words] = joined
    try:
        assert default_collate(samples)["words"] == Words("abc")
        assert next(iter(DataLoader(samples, batch_size=2)))["words"] == Words("abc")
    finally:
        del default_collate_fn_map[Words]
    assert default_collate([True, False]).dtype == mg.bool and default_collate([1, 2]).dtype == mg.int64


def test_fractions_among_integers_are_kept():
    from micrograd_rs.utils.data import DataLoader, default_collate

    assert default_collate([1, 2.5]).tolist() == [1.0, 2.5] and default_collate([2.5, 1]).tolist() == [2.5, 1.0]
    assert default_collate([{"a": 1}, {"a": 2.5}])["a"].tolist() == [1.0, 2.5]
    assert default_collate([1, 2]).dtype == mg.int64 and default_collate([True, False]).dtype == mg.bool
    labels = [0, 0.5, 1, 0.25, 1.0, 0.75]
    assert [v for batch in DataLoader(labels, batch_size=3) for v in batch.tolist()] == labels
