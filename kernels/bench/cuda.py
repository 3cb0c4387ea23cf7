"""The driver, as far as run.py needs it: modules, launches, times. PyTorch owns memory and the stream."""

import ctypes
import pathlib
import statistics

import torch

HERE = pathlib.Path(__file__).resolve().parent
torch.zeros(1, device="cuda")
DRIVER = ctypes.CDLL("libcuda.so.1")
MAX_DYNAMIC_SHARED = 8
FUNCTIONS = {}
TICKETS = torch.zeros(4096, dtype=torch.int32, device="cuda")


def check(code):
    if code:
        name = ctypes.c_char_p()
        DRIVER.cuGetErrorName(code, ctypes.byref(name))
        raise RuntimeError(name.value.decode() if name.value else code)


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
        module, handle = ctypes.c_void_p(), ctypes.c_void_p()
        ptx = (HERE / "ptx" / f"{name}.ptx").read_text()
        if code:
            lines = [at_mark(code, line) if line.startswith("// mg.epilogue") else line for line in ptx.split("\n")]
            ptx = "\n".join(lines)
        # CU_JIT_OPTIMIZATION_LEVEL, as the engine passes it.
        level = next((int(line.split()[2]) for line in ptx.split("\n", 3)[:3] if line.startswith("// mg.level ")), None)
        option, value = (ctypes.c_int * 1)(7), (ctypes.c_void_p * 1)(level)
        text = ptx.encode() + b"\0"
        check(DRIVER.cuModuleLoadDataEx(ctypes.byref(module), text, 0 if level is None else 1, option, value))
        check(DRIVER.cuModuleGetFunction(ctypes.byref(handle), module, name.encode()))
        if shared > 48 * 1024:
            check(DRIVER.cuFuncSetAttribute(handle, MAX_DYNAMIC_SHARED, shared))
        FUNCTIONS[name, code] = handle
    return FUNCTIONS[name, code]


def tensor_map(address, elements, sizes, strides, *rest):
    """As `Gpu::tensor_map` encodes it: boxes; or windows by their corners, steps, neighbours and places."""
    code = {"F16": 6, "F32": 7, "BF16": 9, "TF32": 11}[elements]
    memory = ctypes.create_string_buffer(192)
    at = (ctypes.addressof(memory) + 63) // 64 * 64
    rank = len(sizes)
    sizes, strides = (ctypes.c_uint64 * rank)(*sizes), (ctypes.c_uint64 * (rank - 1))(*strides)
    of = (ctypes.c_void_p(at), code, rank, ctypes.c_void_p(address), sizes, strides)
    if rank == 3:
        boxes, each = (ctypes.c_uint32 * 3)(*rest[0]), (ctypes.c_uint32 * 3)(1, 1, 1)
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
            args[at : at + 8] = (addresses[name] + offset).to_bytes(8, "little")
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
