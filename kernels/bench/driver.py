"""The driver, as far as run.py needs it: modules, launches, times. PyTorch owns memory and the stream."""

import ctypes
import pathlib
import statistics
from concurrent.futures import ThreadPoolExecutor

import torch

HERE = pathlib.Path(__file__).resolve().parent
torch.zeros(1, device="cuda")
DRIVER = ctypes.CDLL("libcuda.so.1")
MAX_DYNAMIC_SHARED = 8
FUNCTIONS, MODULES = {}, {}
CONTEXT = ctypes.c_void_p()
DRIVER.cuCtxGetCurrent(ctypes.byref(CONTEXT))
STUCK = None
TICKETS = torch.zeros(4096, dtype=torch.int32, device="cuda")


def check(code):
    if code:
        name = ctypes.c_char_p()
        DRIVER.cuGetErrorName(code, ctypes.byref(name))
        raise RuntimeError(name.value.decode() if name.value else code)


def loaded(name, code=None):
    """A kernel's module. What the driver takes to assemble one it takes in as many threads as ask."""
    check(DRIVER.cuCtxSetCurrent(CONTEXT))
    module = ctypes.c_void_p()
    text, level = words(name, code)
    option, value = (ctypes.c_int * 1)(7), (ctypes.c_void_p * 1)(level)
    check(DRIVER.cuModuleLoadDataEx(ctypes.byref(module), text.encode() + b"\0", 0 if level is None else 1, option, value))
    return module


def prepare(names):
    """Loads these kernels, side by side."""
    names = sorted(set(names) - MODULES.keys())
    with ThreadPoolExecutor(12) as pool:
        MODULES.update(zip(names, pool.map(loaded, names)))


def words(name, code=None):
    """A kernel's text, and the optimisation level (CU_JIT_OPTIMIZATION_LEVEL) that the engine passes with it."""
    ptx = (HERE / "ptx" / f"{name}.ptx").read_text()
    if code:
        ptx = "\n".join(at_mark(code, line) if line.startswith("// mg.epilogue") else line for line in ptx.split("\n"))
    return ptx, next((int(line.split()[2]) for line in ptx.split("\n", 3)[:3] if line.startswith("// mg.level ")), None)


class Stuck(ctypes.Structure):
    """What a kernel that waited too long left of itself: see kernels/bounded.cuh."""

    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("told", "line", "place", "parity")), ("state", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("block", "blocks", "thread", "threads")),
        ("file", ctypes.c_char * 64), ("function", ctypes.c_char * 64), ("what", ctypes.c_char * 96), ("made", ctypes.c_char * 96),
    ]

    def __str__(self):
        file, function, what, made = (text.decode() for text in (self.file, self.function, self.what, self.made))
        among = f", number {self.place} of those made as `{made}`" if made else f" {self.place}"
        return (
            f"waited too long: thread {self.thread} of {self.threads} (warp {self.thread // 32}) of block {self.block} of {self.blocks}, "
            f"in `{function}`, {file.rsplit('/', 1)[-1]}:{self.line}, for phase {self.parity} of `{what}`{among}; it is {self.state:#x}"
        )


def stuck():
    """What a kernel said that waited too long, in words; None where none did."""
    return str(STUCK) if STUCK is not None and STUCK.told else None


def listen(module):
    """Has a module whose waits have an end tell this process of what it waits for."""
    global STUCK
    place, size = ctypes.c_uint64(), ctypes.c_size_t()
    if DRIVER.cuModuleGetGlobal_v2(ctypes.byref(place), ctypes.byref(size), module, b"mg_stuck"):
        return
    if STUCK is None:
        memory = ctypes.c_void_p()
        # Seen by all contexts, and by the device.
        check(DRIVER.cuMemHostAlloc(ctypes.byref(memory), ctypes.c_size_t(ctypes.sizeof(Stuck)), 3))
        ctypes.memset(memory, 0, ctypes.sizeof(Stuck))
        STUCK = Stuck.from_address(memory.value)
    address = ctypes.c_uint64(ctypes.addressof(STUCK))
    check(DRIVER.cuMemcpyHtoD_v2(place, ctypes.byref(address), ctypes.c_size_t(8)))


def at_mark(code, mark):
    """What `code` says of a mark: of a row, or of several rows one after the other, of which the first is there."""
    names = mark.split()[2:]
    if mark.split()[1] == "mg.epilogue":
        return code(names)
    apart, *values, batch, row, column = names
    text = []
    for first in range(0, len(values), 4):
        step = f".reg .b32 %below;add.u32 %below,{row},{first // 4 * int(apart)};"
        text += ["{", step, code([*values[first : first + 4], batch, "%below", column]), "}"]
    return "\n".join(text)


def function(name, shared, code=None):
    """The kernel; with `code`, a function of what a product's mark names, spliced in at the mark."""
    if (name, code) not in FUNCTIONS:
        handle = ctypes.c_void_p()
        module = loaded(name, code) if code or name not in MODULES else MODULES[name]
        check(DRIVER.cuModuleGetFunction(ctypes.byref(handle), module, name.encode()))
        if shared > 48 * 1024:
            check(DRIVER.cuFuncSetAttribute(handle, MAX_DYNAMIC_SHARED, shared))
        listen(module)
        FUNCTIONS[name, code] = handle
    return FUNCTIONS[name, code]


def tensor_map(address, elements, sizes, strides, *rest):
    """As `Gpu::tensor_map` encodes it: boxes; or windows by their corners, steps, neighbours and places."""
    code = {"F16": 6, "F32": 7, "BF16": 9, "TF32": 11}[elements]
    memory = ctypes.create_string_buffer(192)
    at = (ctypes.addressof(memory) + 63) // 64 * 64
    rank = len(sizes)
    is_boxes = len(rest) == 1
    sizes, strides = (ctypes.c_uint64 * rank)(*sizes), (ctypes.c_uint64 * (rank - 1))(*strides)
    of = (ctypes.c_void_p(at), code, rank, ctypes.c_void_p(address), sizes, strides)
    if is_boxes:
        boxes, each = (ctypes.c_uint32 * rank)(*rest[0]), (ctypes.c_uint32 * rank)(*[1] * rank)
        check(DRIVER.cuTensorMapEncodeTiled(*of, boxes, each, 0, 3, 3, 0))
    else:
        low, high, steps, neighbours, places = rest
        low, high = (ctypes.c_int * 2)(*low), (ctypes.c_int * 2)(*high)
        each = (ctypes.c_uint32 * 4)(1, *steps, 1)
        check(DRIVER.cuTensorMapEncodeIm2col(*of, low, high, neighbours, places, each, 0, 3, 3, 0))
    return ctypes.string_at(at, 128)


def bind(plan, addresses, code=None):
    """The plan's launches, ready to go: addresses by the names of their pointers."""
    workspace = torch.empty(max(plan["workspace"], 1), dtype=torch.uint8, device="cuda")
    addresses = {"workspace": workspace.data_ptr(), "tickets": TICKETS.data_ptr(), "fault": 0} | addresses
    launches = []
    for launch in plan["launches"]:
        args = bytearray.fromhex(launch["args"])
        for at, name, offset in launch["pointers"]:
            args[at : at + 8] = ((addresses[name] + offset) % 2**64).to_bytes(8, "little")
        for at, name, offset, *tensor in launch["maps"]:
            args[at : at + 128] = tensor_map(addresses[name] + offset, *tensor)
        argument = ctypes.create_string_buffer(bytes(args), len(args))
        pointers = (ctypes.c_void_p * 1)(ctypes.cast(argument, ctypes.c_void_p))
        # Copies of operands have no mark.
        handle = function(launch["kernel"], launch["shared"], code if launch is plan["launches"][-1] else None)
        launches.append((handle, launch["grid"], launch["block"], launch["shared"], pointers, argument))

    def go():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        for handle, grid, block, shared, pointers, _ in launches:
            check(DRIVER.cuLaunchKernel(handle, *grid, *block, shared, stream, pointers, None))

    go.workspace = workspace
    return go


def graph(work, times):
    """A CUDA graph of `times` calls."""
    work()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for _ in range(times):
            work()
    captured.replay()
    torch.cuda.synchronize()
    return captured


def rounds(works, rounds=7, span=2e-3):
    """Microseconds a call of each of `works`: every round measures each of them, one after the other, over about `span`
    seconds of calls in a CUDA graph; all rounds are returned."""
    graphs = []
    for work in works:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        work()
        torch.cuda.synchronize()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times = max(2, min(200, int(span * 1e3 / max(begin.elapsed_time(end), 1e-3))))
        graphs.append((graph(work, times), times))
    results = [[] for _ in works]
    for _ in range(rounds):
        for result, (captured, times) in zip(results, graphs):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            captured.replay()
            end.record()
            end.synchronize()
            result.append(begin.elapsed_time(end) * 1e3 / times)
    return results


def median(values):
    return statistics.median(values)
