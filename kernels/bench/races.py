"""Every kernel once, on the smallest case that launches it, without PyTorch: for compute-sanitizer's slower tools.

    compute-sanitizer --tool racecheck python3 races.py

Results are not looked at; run.py does that.
"""

import ctypes
import json
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
DRIVER = ctypes.CDLL("libcuda.so.1")


def check(code):
    if code:
        raise RuntimeError(f"CUDA error {code}")


def reach(text):
    """Elements below and from index zero that a layout reaches."""
    shape, strides = text.split(":")
    steps = [(int(n) - 1) * int(s) for n, s in zip(shape.split("x"), strides.split(","))]
    return -sum(s for s in steps if s < 0), sum(s for s in steps if s > 0) + 1


def allocate(size):
    address = ctypes.c_uint64()
    check(DRIVER.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)))
    check(DRIVER.cuMemsetD8_v2(address, 0, ctypes.c_size_t(size)))
    return address.value


def indices(address, count, size):
    """Indices in memory: a third of them one, and as many few."""
    draw = random.Random(7)
    kinds = (lambda: size // 2, lambda: draw.randrange(min(50, size)), lambda: draw.randrange(size))
    numbers = (ctypes.c_int64 * count)(*(draw.choice(kinds)() for _ in range(count)))
    check(DRIVER.cuMemcpyHtoD_v2(ctypes.c_uint64(address), numbers, ctypes.c_size_t(8 * count)))


def main():
    check(DRIVER.cuInit(0))
    context, device = ctypes.c_void_p(), ctypes.c_int()
    check(DRIVER.cuDeviceGet(ctypes.byref(device), 0))
    check(DRIVER.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(DRIVER.cuCtxSetCurrent(context))
    cases = json.loads((HERE / "check.json").read_text())
    cases.sort(key=lambda case: sum(launch["grid"][0] for launch in case["plan"]["launches"]))
    tickets, done, kernels = allocate(4 * 4096), 0, set()
    # Both with and without joined sums.
    for case in cases:
        plan = case["plan"]
        names = {(launch["kernel"], plan["workspace"] > 0) for launch in plan["launches"]}
        if names <= kernels:
            continue
        kernels |= names
        words = case["case"].split()
        layouts = dict(word.split("=", 1) for word in words if ":" in word)
        operands = [layouts[name] for name in ("a", "b", "x", "index", "from") if name in layouts]
        memory, addresses = [], {"workspace": allocate(max(plan["workspace"], 1)), "tickets": tickets, "fault": 0}
        memory.append(addresses["workspace"])
        for i, text in enumerate(operands):
            below, above = reach(text)
            base = allocate(8 * (below + above) + 4096)
            memory.append(base)
            addresses[f"in{i}"] = base + 8 * below
            if words[0] == "scatter" and i == 1:
                indices(base, below + above, int(words[3]))
        # The result's elements.
        m_n = [int(layouts[name].split(":")[0].split("x")[at]) for name, at in (("a", -2), ("b", -1)) if name in layouts]
        batch = layouts.get("a", "1x1:1").split(":")[0].split("x")[:-2]
        count = 1
        for n in [*m_n, *map(int, batch)]:
            count *= n
        if "to" in layouts:
            below, count = reach(layouts["to"])
            count += below
        elif words[0] == "put":
            n, places = int(words[3]), int(words[2])
            count = max(n, places)
            addresses |= {f"in{i}": allocate(8 * count) for i in range(3)}
            memory += [addresses[f"in{i}"] for i in range(3)]
            indices(addresses["in2"], n, places)
        elif words[0] == "sort":
            rows, length = (int(n) for n in words[3].split("x"))
            count = rows * length
            addresses["in0"] = allocate(8 * count)
            memory.append(addresses["in0"])
        elif words[0] in ("gather", "scatter"):
            shape = [int(n) for n in layouts["index"].split(":")[0].split("x")]
            if words[0] == "scatter":
                shape[int(words[2])] = int(words[3])
            count = 1
            for n in shape:
                count *= n
        elif words[0] == "fill":
            count = int(words[2])
        for name in ("out0", "out1", "in2", "in3"):
            addresses.setdefault(name, allocate(8 * count + 65536))
            memory.append(addresses[name])
        for launch in plan["launches"]:
            module, handle = ctypes.c_void_p(), ctypes.c_void_p()
            name = launch["kernel"]
            check(DRIVER.cuModuleLoadData(ctypes.byref(module), (HERE / "ptx" / f"{name}.ptx").read_bytes() + b"\0"))
            check(DRIVER.cuModuleGetFunction(ctypes.byref(handle), module, name.encode()))
            if launch["shared"] > 48 * 1024:
                check(DRIVER.cuFuncSetAttribute(handle, 8, launch["shared"]))
            args = bytearray.fromhex(launch["args"])
            for at, pointer, offset in launch["pointers"]:
                args[at : at + 8] = (addresses[pointer] + offset).to_bytes(8, "little")
            argument = ctypes.create_string_buffer(bytes(args), len(args))
            pointers = (ctypes.c_void_p * 1)(ctypes.cast(argument, ctypes.c_void_p))
            check(DRIVER.cuLaunchKernel(handle, *launch["grid"], *launch["block"], launch["shared"], None, pointers, None))
            check(DRIVER.cuCtxSynchronize())
            check(DRIVER.cuModuleUnload(module))
            done += 1
        for address in set(memory):
            check(DRIVER.cuMemFree_v2(ctypes.c_uint64(address)))
    print(f"{done} launches of {len({name for name, _ in kernels})} kernels")


main()
