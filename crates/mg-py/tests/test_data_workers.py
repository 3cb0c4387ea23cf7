"""Workers of a loader: each has a data set and streams of random numbers of its own."""

from __future__ import annotations

import copy
import functools
import gc
import os
import pickle
import random
import threading
import time
import warnings

import micrograd_rs as mg
import pytest
from micrograd_rs.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info
from micrograd_rs.utils.data import streams
from micrograd_rs.utils.data.copies import LARGE, Copier


class Counted(Dataset):
    """Which knows how often it was asked."""

    def __init__(self, n=12):
        self.n, self.asked, self.seen = n, 0, []

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        self.asked += 1
        self.seen.append(i)
        time.sleep(0.001 * (i % 3))
        return i, self.asked, len(self.seen), get_worker_info().id


def test_every_worker_has_a_copy():
    data = Counted()
    for _ in range(2):
        batches = [[column.tolist() for column in batch] for batch in DataLoader(data, batch_size=2, num_workers=2)]
        # Batches go round the workers, whichever is ready first.
        assert [batch[3] for batch in batches] == [[0, 0], [1, 1]] * 3
        assert [batch[1] for batch in batches] == [batch[2] for batch in batches] == [[1, 2], [1, 2], [3, 4], [3, 4], [5, 6], [5, 6]]
    assert data.asked == 0 and data.seen == []
    # Workers that stay go on with theirs.
    loader = DataLoader(data, batch_size=2, num_workers=3, persistent_workers=True)
    epochs = [[column.tolist() for column in batch] for _ in range(2) for batch in loader]
    assert [batch[1] for batch in epochs] == [[1, 2]] * 3 + [[3, 4]] * 3 + [[5, 6]] * 3 + [[7, 8]] * 3
    with_one = DataLoader(data, batch_size=3, num_workers=1)
    assert [batch[1].tolist() for batch in with_one] == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]


class Span(IterableDataset):
    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        return iter(range(self.start, self.end))


def own_part(_):
    info = get_worker_info()
    data = info.dataset
    start, end = data.start, data.end
    n = -(-(end - start) // info.num_workers)
    data.start = start + info.id * n
    data.end = min(data.start + n, end)


def test_an_initialised_part_of_what_is_iterated():
    """The example in PyTorch's documentation of IterableDataset."""
    data = Span(0, 8)
    loader = DataLoader(data, batch_size=2, num_workers=2, worker_init_fn=own_part)
    for _ in range(2):
        assert [batch.tolist() for batch in loader] == [[0, 1], [4, 5], [2, 3], [6, 7]]
    assert (data.start, data.end) == (0, 8)

    class Cursor(IterableDataset):
        def __iter__(self):
            self.k = 0
            while self.k < 4:
                self.k += 1
                yield self.k

    assert [batch.tolist() for batch in DataLoader(Cursor(), num_workers=2)] == [[1], [1], [2], [2], [3], [3], [4], [4]]


def test_a_file_that_each_opens(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(range(200)))
    opened = []

    class File(Dataset):
        file = None

        def __len__(self):
            return 200

        def __getitem__(self, i):
            if self.file is None:
                self.file = open(path, "rb", buffering=0)
                opened.append(self.file)
            self.file.seek(i)
            time.sleep(0.0002)
            return self.file.read(1)[0]

    assert [v for batch in DataLoader(File(), batch_size=5, num_workers=4) for v in batch.tolist()] == list(range(200))
    assert len(opened) == 4
    for file in opened:
        file.close()
    # One that is open already cannot be copied, and who looks on is told.
    data = File()
    data.file = open(path, "rb")
    loader = DataLoader(data, num_workers=2)
    with pytest.warns(UserWarning, match=r"cannot be copied: File.file \(BufferedReader\)"):
        next(iter(loader))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(iter(loader))
    data.file.close()


def test_what_is_copied_and_what_is_shared():
    class Part:
        def __init__(self):
            self.words = {"a": [1, 2]}

    class Prepared:
        def __getstate__(self):
            return {"kept": 1}

        def __setstate__(self, state):
            self.__dict__.update(state, opened=True)

    class Slotted:
        __slots__ = ("a", "b")

    class Data(Dataset):
        def __init__(self):
            self.x, self.array = mg.zeros(3), [mg.ones(2)]
            self.part = self.same = Part()
            self.method, self.bound = self.told, functools.partial(Data.told, self)
            self.lock, self.rng, self.generator = threading.Lock(), random.Random(3), mg.Generator().manual_seed(3)
            self.big, self.table = [[i] for i in range(LARGE + 1)], {i: [i] for i in range(LARGE + 1)}
            self.prepared, self.slotted, self.items = Prepared(), Slotted(), iter([1, 2, 3])
            self.slotted.a = [1]
            self.empty, self.here = object(), threading.local()
            self.myself = self
            # Of the engine: nothing changes them.
            self.bpe, self.dtype = mg.tokenizers.BPE.train(["ab ab"], 258), mg.float32
            self.pair, self.set = (1, [2]), {"a"}
            self.datasets = ConcatDataset([TensorDataset(mg.arange(1)) for _ in range(LARGE + 1)])

        def told(self):
            return self

    data = Data()
    copier = Copier()
    made = copier.of(data, "Data")
    assert not copier.kept and type(made) is Data and made is not data and made.myself is made
    assert made.x is data.x and made.array is not data.array and made.array[0] is data.array[0] and made.empty is data.empty and made.here is data.here
    assert made.part is made.same is not data.part and made.part.words == {"a": [1, 2]} and made.part.words["a"] is not data.part.words["a"]
    assert made.told() is made and made.method() is made and made.bound() is made
    assert made.lock is not data.lock and made.rng is not data.rng and made.rng.random() == data.rng.random()
    assert made.generator is not data.generator and made.generator.initial_seed() == 3
    # Of large containers the container alone.
    assert made.big is not data.big and made.big[7] is data.big[7] and made.table is not data.table and made.table[7] is data.table[7]
    assert made.prepared.opened and made.prepared.kept == 1 and made.slotted.a == [1] and made.slotted.a is not data.slotted.a
    assert next(made.items) == 1 and list(data.items) == [1, 2, 3]
    assert made.bpe is data.bpe and made.dtype == mg.float32
    assert made.pair == (1, [2]) and made.pair[1] is not data.pair[1] and made.set == {"a"} and made.set is not data.set
    assert made.datasets.datasets[5] is not data.datasets.datasets[5]
    assert made.datasets.datasets[5].tensors[0] is data.datasets.datasets[5].tensors[0]
    # What a class says of its copies holds.
    data.generated = (i for i in range(3))
    made = (copier := Copier()).of(data, "Data")
    assert copier.kept == ["Data.generated (generator)"] and made.generated is data.generated


def test_arrays_are_shared():
    np = pytest.importorskip("numpy")

    class Data(Dataset):
        def __init__(self):
            self.array, self.rng = np.zeros(5), np.random.default_rng(3)

    data = Data()
    made = Copier().of(data, "Data")
    assert made.array is data.array and made.rng is not data.rng and made.rng.random() == data.rng.random()


def test_a_function_that_is_the_data_sets():
    class Data(Counted):
        def __getitem__(self, i):
            self.asked += 1
            return i

        def collate(self, items):
            return items, self.asked, id(self)

    data = Data(8)
    batches = list(DataLoader(data, batch_size=2, num_workers=2, collate_fn=data.collate))
    assert [items for items, _, _ in batches] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [asked for _, asked, _ in batches] == [2, 2, 4, 4]
    assert len({mine for _, _, mine in batches} - {id(data)}) == 2


class Drawing(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, i):
        time.sleep(0.0003 * (i % 3))
        return random.random(), random.gauss(0, 1), random.randint(0, 10**6), random.choice(range(100))


def no_workers():
    """Those of loops that have ended, too, have done their work."""
    gc.collect()
    for _ in range(200):
        # The last one puts everything back before it lets go of this.
        with streams._guard:
            if not streams._workers:
                return
        time.sleep(0.02)
    raise AssertionError("there are workers still")


def drawn(**options):
    random.seed(5)
    mg.manual_seed(5)
    got = [[column.tolist() for column in batch] for batch in DataLoader(Drawing(), batch_size=2, num_workers=2, **options)]
    return got, random.random(), random.gauss(0, 1)


def test_random_numbers_do_not_depend_on_timing():
    no_workers()
    functions = {name: getattr(random, name) for name in ("random", "getrandbits", "seed", "getstate", "setstate", "gauss")}
    first = drawn()
    assert all(drawn() == first for _ in range(5))
    values = [value for batch in first[0] for value in batch[0]]
    assert len(set(values)) == len(values)
    # The stream of all others goes on as if there were no workers.
    random.seed(5)
    assert first[1:] == (random.random(), random.gauss(0, 1))
    # Seeds of one's own, as PyTorch's notes on reproducibility have them.
    own = drawn(worker_init_fn=lambda i: random.seed(mg.initial_seed() % 2**32))
    assert own == drawn(worker_init_fn=lambda i: random.seed(mg.initial_seed() % 2**32)) and own[0][0][0] != own[0][1][0]
    fixed = drawn(worker_init_fn=lambda i: random.seed(7))
    r = random.Random(7)
    assert fixed[0][0][0][0] == fixed[0][1][0][0] == r.random()
    no_workers()
    assert type(random._inst) is random.Random and {name: getattr(random, name) for name in functions} == functions


def test_numpys_random_numbers_do_not_depend_on_timing():
    np = pytest.importorskip("numpy")
    if not hasattr(np.random, "set_bit_generator"):
        pytest.skip("NumPy before 1.24 has one generator for all threads")
    early = np.random.standard_normal

    class Data(Drawing):
        def __getitem__(self, i):
            time.sleep(0.0003 * (i % 3))
            return np.random.rand(), early(), np.random.permutation(9), np.random.randint(0, 10**6)

    def run():
        np.random.seed(5)
        mg.manual_seed(5)
        got = [[column.tolist() for column in batch] for batch in DataLoader(Data(), batch_size=2, num_workers=3)]
        return got, np.random.rand(), np.random.standard_normal()

    first = run()
    assert all(run() == first for _ in range(5))
    values = [value for batch in first[0] for value in batch[0]]
    assert len(set(values)) == len(values)
    np.random.seed(5)
    assert first[1:] == (np.random.rand(), np.random.standard_normal())
    no_workers()
    assert type(np.random.get_bit_generator()) is np.random.MT19937


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_has_no_workers():
    pytest.importorskip("numpy")
    it = iter(DataLoader(Drawing(), num_workers=2))
    next(it)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        import numpy as np

        ok = type(random._inst) is random.Random and type(np.random.get_bit_generator()) is np.random.MT19937
        os._exit(0 if ok and 0 <= np.random.rand() < 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(it)) == 23


def test_seeds():
    seeds = []
    before = mg.initial_seed()

    def start(i):
        seeds.append((i, get_worker_info().seed, mg.initial_seed()))

    list(DataLoader(Drawing(), num_workers=3, worker_init_fn=start))
    seeds.sort()
    base = seeds[0][1]
    assert seeds == [(i, base + i, base + i) for i in range(3)] and mg.initial_seed() == before


class Augmented(Dataset):
    """Samples with noise, that take some time."""

    def __len__(self):
        return 24

    def __getitem__(self, i):
        time.sleep(0.0003 * (i % 3))
        return mg.rand(2), mg.randn(1), mg.randint(100, (1,))


def test_random_tensors_of_workers_are_their_own():
    def run():
        mg.manual_seed(3)
        found = [[part.tolist() for part in batch] for batch in DataLoader(Augmented(), batch_size=3, num_workers=3)]
        return found, mg.rand(2).tolist()

    first, after = run()
    assert run() == (first, after) and run() == (first, after)
    assert len({str(batch) for batch in first}) == 8


def test_loops_are_not_copied():
    """A data set may hold a loader, and a loop over one: a copy of the loop would end its workers."""

    class Outer(Dataset):
        def __init__(self):
            self.loader = DataLoader(Counted(6), num_workers=1)
            self.loop = iter(self.loader)

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return len(list(self.loader))

    data = Outer()
    next(data.loop)
    for wrong in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            wrong(data.loop)
    with pytest.warns(UserWarning, match=r"Outer.loop \(_Epoch\)"):
        assert [n for batch in DataLoader(data, num_workers=2) for n in batch.tolist()] == [6] * 4
    gc.collect()
    assert len(list(data.loop)) == 5


class OfNumPy(Dataset):
    """Samples of NumPy's global generator."""

    def __len__(self):
        return 4000

    def __getitem__(self, i):
        import numpy

        return float(numpy.random.rand())


def test_states_of_numpy_are_the_loops_own():
    numpy = pytest.importorskip("numpy")
    no_workers()
    get_state, set_state = numpy.random.get_state, numpy.random.set_state
    wrong = 0
    for _ in DataLoader(OfNumPy(), batch_size=20, num_workers=4):
        state = numpy.random.get_state()
        first = numpy.random.rand()
        numpy.random.set_state(state)
        wrong += numpy.random.rand() != first
    assert wrong == 0
    no_workers()
    assert (numpy.random.get_state, numpy.random.set_state) == (get_state, set_state)


class Drawn(Dataset):
    """Whose samples draw from everything."""

    def __len__(self):
        return 22

    def __getitem__(self, i):
        numbers = (random.random(), random.gauss(0, 1))
        try:
            import numpy as np
        except ImportError:
            return i, mg.rand(1), *numbers
        return i, mg.rand(1), *numbers, np.random.rand(), np.random.randn()


class DrawnOneByOne(IterableDataset):
    def __iter__(self):
        for i in range(9):
            yield i, mg.rand(1), random.random()


def seeds(i):
    random.seed(i + 1)


def batches(loader):
    return [[column.tolist() for column in batch] for batch in loader]


@pytest.mark.parametrize("start", [None, seeds], ids=["own", "seeded"])
@pytest.mark.parametrize("stays", [False, True], ids=["new", "stays"])
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("data", [Drawn, DrawnOneByOne])
def test_what_is_drawn_goes_on_where_it_was(data, workers, stays, start, tmp_path):
    """A loader that is resumed draws what it would have drawn: at the beginning of an epoch, in the middle, and behind its end."""
    options = {"batch_size": 3, "num_workers": workers, "persistent_workers": stays, "worker_init_fn": start, "shuffle": data is Drawn or None}
    for given in (0, 1, 4 if data is Drawn else 2, None):
        mg.manual_seed(3)
        loader = DataLoader(data(), **options)
        list(loader)
        epoch = iter(loader)
        for _ in range(100) if given is None else range(given):
            next(epoch, None)
        mg.save([loader.state_dict(), mg.get_rng_state()], tmp_path / "state.mg")
        rest = batches(epoch) if given is not None else []
        following = batches(loader)
        assert following and rest != following
        mg.manual_seed(4)
        random.seed(4)
        state, generator = mg.load(tmp_path / "state.mg")
        again = DataLoader(data(), **options)
        # Whatever this one has done before.
        next(iter(again))
        again.load_state_dict(state)
        assert again.state_dict().keys() == state.keys()
        mg.set_rng_state(generator)
        assert given is None or batches(again) == rest
        assert batches(again) == following


def test_streams_of_other_workers_begin_anew():
    def made(n):
        return DataLoader(Drawn(), batch_size=3, num_workers=n)

    mg.manual_seed(3)
    epoch = iter(loader := made(2))
    next(epoch), next(epoch)
    state = loader.state_dict()
    assert len(state["workers"]) == 2 and {"tensors", "random", "numpy"} == state["workers"][0].keys()
    items = [batch[0].tolist() for batch in epoch]
    for n in (0, 1, 3):
        loader = made(n)
        loader.load_state_dict(state)
        assert [batch[0].tolist() for batch in loader] == items
    # States from before there were any.
    del state["workers"]
    loader = made(2)
    loader.load_state_dict(state)
    assert [batch[0].tolist() for batch in loader] == items and loader.state_dict()["workers"] is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_state_in_a_forks_child():
    loader = DataLoader(Drawn(), batch_size=3, num_workers=2, persistent_workers=True)
    epoch = iter(loader)
    next(epoch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            ok = loader.state_dict()["batches"] == 1
            os._exit(0 if ok else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
