"""Checks and times the library kernels on this machine's GPU, from a folder that bundle.py made. Needs PyTorch.

    python3 run.py check             every case against float64, twice, with poisoned results and guarded ends
    python3 run.py check --small     the cases that finish fast under compute-sanitizer
    python3 run.py check --part 2/8  the third of eight parts of the cases, for as many processes side by side
    python3 run.py stuck             a product that waits for ever says what for (of kernels by `cargo xtask ptx --bound`)
    python3 run.py bench OUT         beside PyTorch in one run; writes OUT.json and OUT.md
"""

import datetime
import json
import platform
import sys
import zlib

import torch

import driver

DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "u8": torch.uint8, "bool": torch.bool,
}
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
# The norm of the error over the norm of the result.
TOLERANCE = {"f64": 1e-14, "f32": 1e-6, "tf32": 9e-4, "f16": 6e-4, "bf16": 5e-3}
# The same of attention, whose weights are rounded between two products, and of its gradients. The logarithms are not rounded to halves.
ATTENTION = {"f64": (1e-14, 1e-13), "f32": (3e-6, 5e-6), "tf32": (1.5e-3, 3e-3), "f16": (1e-3, 2e-3), "bf16": (8e-3, 1.2e-2)}
# The largest error found, by operation and dtype.
ERRORS = {}
GUARD = 4096


def options(words):
    return dict(word.split("=", 1) for word in words if "=" in word)


def layout(text):
    shape, strides = text.split(":")
    return [int(n) for n in shape.split("x")], [int(s) for s in strides.split(",")]


def offsets(shape, strides):
    """Where each element lies, from the lowest, and where index zero does."""
    at = torch.zeros(shape, dtype=torch.int64, device="cuda")
    for axis, (n, s) in enumerate(zip(shape, strides)):
        view = [1] * len(shape)
        view[axis] = n
        at += (torch.arange(n, device="cuda") * s).view(view)
    low = int(at.min()) if at.numel() else 0
    return at - low, -low


def random(count, dtype):
    if dtype.is_floating_point:
        return torch.randn(count, device="cuda", dtype=torch.float64).to(dtype)
    if dtype == torch.bool:
        return torch.randint(0, 8, (count,), device="cuda") == 0
    low, high = (0, 256) if dtype == torch.uint8 else (-100, 100)
    return torch.randint(low, high, (count,), device="cuda").to(dtype)


class Operand:
    """Random elements behind a layout; begins `align` bytes after an aligned address, so that no more is aligned."""

    def __init__(self, text, dtype, align):
        self.shape, strides = layout(text)
        self.at, zero = offsets(self.shape, strides)
        size = torch.empty(0, dtype=dtype).element_size()
        shift = 0 if align >= 16 else max(1, align // size)
        count = int(self.at.max()) + 1 if self.at.numel() else 1
        self.memory, self.shift = random(count + shift + 64, dtype), shift
        self.value = self.memory[shift + self.at]
        self.address = self.memory.data_ptr() + (shift + zero) * size

    def put(self, value):
        """Other elements than random ones."""
        self.memory[self.shift + self.at] = value.to(self.memory.dtype)
        self.value = self.memory[self.shift + self.at]

    def fill(self, data, where=True):
        """What a case's `data=` says; `where` is whether this operand has what is no number, too."""
        last = self.shape[-1]
        if data == "constant":
            self.put(torch.full(self.shape, 0.75, device="cuda"))
        elif data == "onehot":
            # A row says where it is: so many rows on, another column.
            row = torch.arange(self.value.numel() // last, device="cuda") * 7 % last
            self.put(torch.nn.functional.one_hot(row, last).view(self.shape) * 2)
        elif data in ("nan", "infinity") and where:
            value = self.value.clone()
            flat = value.view(-1)
            flat[len(flat) // 2] = float("nan") if data == "nan" else float("inf")
            if data == "infinity":
                flat[len(flat) // 3] = -float("inf")
            self.put(value)

    def view(self, strides):
        return self.memory.as_strided(self.shape, strides)


class Result:
    """Poisoned memory with guards on both sides."""

    def __init__(self, count, dtype, poison=0xA7):
        size = torch.empty(0, dtype=dtype).element_size()
        self.bytes = torch.full((2 * GUARD + count * size,), poison, dtype=torch.uint8, device="cuda")
        self.inner = self.bytes[GUARD : GUARD + count * size]
        self.value = self.inner.view(dtype)
        self.address = self.inner.data_ptr()
        self.poison = poison

    def guarded(self):
        outer = torch.cat([self.bytes[:GUARD], self.bytes[GUARD + self.inner.numel() :]])
        return bool((outer == self.poison).all())


def error(got, want, least=0.0):
    """Of the numbers, beside their norm or `least`; infinite where others are infinite, or none."""
    if want.numel() == 0:
        return 0.0
    got, numbers = got.double(), want.isfinite()
    if not torch.equal(got.isnan(), want.isnan()) or not torch.equal(got[want.isinf()], want[want.isinf()]):
        return float("inf")
    got, want = got[numbers], want[numbers]
    norm = max(want.norm().item(), least)
    return ((got - want).norm() / (norm if norm > 0 else 1.0)).item()


def judged(key, got, want, most, least=0.0):
    """What is wrong with a result, if anything."""
    found = error(got, want, least)
    ERRORS[key] = max(ERRORS.get(key, 0.0), found)
    return None if found <= most else f"{' '.join(key)}: error {found:.2e}"


def twice(go, out):
    """Runs a plan two times; whether it did the same, and within its result."""
    go()
    torch.cuda.synchronize()
    first = out.inner.clone()
    out.inner.fill_(out.poison)
    go()
    torch.cuda.synchronize()
    if not torch.equal(first, out.inner):
        return "not the same twice"
    return None if out.guarded() else "written outside"


def check_matmul(words, plan):
    name, precision, align = words[1], words[2], int(words[4])
    opts, dtype = options(words), DTYPES[words[1]]
    a, b = Operand(opts["a"], dtype, align), Operand(opts["b"], dtype, align)
    for i, operand in enumerate((a, b)):
        operand.fill(opts.get("data"), i == 0)
    shape = [*a.shape[:-1], b.shape[-1]]
    count = 1
    for n in shape:
        count *= n
    out = Result(count, dtype)
    addresses = {"in0": a.address, "in1": b.address, "out0": out.address}
    if dtype.is_floating_point:
        want = a.value.double() @ b.value.double()
    elif dtype == torch.bool:
        want = (a.value.double() @ b.value.double()) > 0
    else:
        # Exact: entries are small enough for float64, and wrap at the end.
        want = (a.value.double() @ b.value.double()).to(torch.int64).to(dtype)
    if "epilogue" in words:
        matrices, rows, columns = count // max(1, shape[-2] * shape[-1]), shape[-2], shape[-1]
        # What `epilogue` below does.
        batch, row, column = torch.meshgrid(
            *(torch.arange(n, device="cuda", dtype=torch.float64) for n in (matrices, rows, columns)), indexing="ij")
        want = -want + (batch + row / 64 - column / 32).view(shape)
    go = driver.bind(plan, addresses, epilogue if "epilogue" in words else None)
    wrong = twice(go, out)
    if wrong:
        return wrong
    got = out.value.view(shape)
    if not dtype.is_floating_point:
        return None if torch.equal(got, want) else "wrong"
    kind = "tf32" if (name, precision) == ("f32", "high") and "matmul_tf32" in plan_kernel(plan) else name
    return judged(("matmul", kind), got, want, TOLERANCE[kind])


def check_many(words, plan):
    opts, dtype, depth = options(words), DTYPES[words[1]], int(words[2])
    operands, outs, addresses = [], [], {}
    for i, size in enumerate(opts["sizes"].split(",")):
        m, n = map(int, size.split("x"))
        pair = Operand(f"{m}x{depth}:1,{m}", dtype, 16), Operand(f"{depth}x{n}:{n},1", dtype, 16)
        for j, operand in enumerate(pair):
            operand.fill(opts["data"], j == 0)
            addresses[f"in{2 * i + j}"] = operand.address
        operands.append(pair)
        outs.append(Result(m * n, dtype))
        addresses[f"out{i}"] = outs[i].address
    go, found = driver.bind(plan, addresses), []
    for _ in range(2):
        go()
        torch.cuda.synchronize()
        found.append([out.inner.clone() for out in outs])
    for i, ((a, b), out) in enumerate(zip(operands, outs)):
        if not torch.equal(found[0][i], found[1][i]) or not out.guarded():
            return "not the same twice, or written outside"
        want = a.value.double() @ b.value.double()
        wrong = judged(("many", words[1]), out.value.view(want.shape), want, TOLERANCE[words[1]])
        if wrong:
            return wrong
    return None


def attended(words, q, k, v, mask):
    """In float64: weights, means, logarithms of sums."""
    opts = options(words)
    scores = q @ k.mT * float(opts["scale"])
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf) if mask.dtype == torch.bool else scores + mask
    if "causal" in words:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    if "near" in opts:
        behind, ahead = numbers(opts["near"])
        apart = torch.arange(k.shape[2], device="cuda") - torch.arange(q.shape[2], device="cuda")[:, None]
        scores = scores.masked_fill((apart < -behind) | (apart > ahead), -torch.inf)
    weights = scores.softmax(-1)
    # Where nothing takes part there is no weight.
    none = (scores == -torch.inf).all(-1, keepdim=True)
    weights = torch.where(none, 0, weights)
    return weights, weights @ v, torch.where(none[..., 0], torch.inf, scores.logsumexp(-1))


def check_attention(words, plan):
    kind, name, precision, align = *words[1:4], int(words[5])
    opts, dtype, data = options(words), DTYPES[name], options(words).get("data")
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    q, k, v = (Operand(opts[at], dtype, align) for at in "qkv")
    # What is no number is in a query: it is in that row, and nowhere else. An infinity is in a value.
    q.fill(data, data == "nan")
    k.fill(data, False)
    v.fill(data if data != "onehot" else None, data == "infinity")
    mask = None
    if "bool" in opts:
        mask = torch.rand([int(n) for n in opts["bool"].split("x")], device="cuda") < 0.7
        mask[..., :3, :] = False
    elif "number" in opts:
        mask = torch.randn([int(n) for n in opts["number"].split("x")], device="cuda", dtype=wide)
    (batch, heads, queries, width), (shared, keys), depth = q.shape, k.shape[1:3], v.shape[3]
    each = heads // shared
    in64 = [x.value.double().repeat_interleave(each if x is not q else 1, 1) for x in (q, k, v)]
    weights, means, logarithms = attended(words, *in64, mask)
    # Means, heads of a row side by side, and behind them the logarithms.
    times = 4 // min(4, dtype.itemsize)
    begin = -(-means.numel() // times) * times
    addresses = {f"in{i}": x.address for i, x in enumerate((q, k, v))}
    if mask is not None:
        addresses["in3"] = mask.data_ptr()
    label = "tf32" if (name, precision) == ("f32", "high") and "tf32" in plan_kernel(plan) else name
    most = ATTENTION[label]
    if kind == "forward":
        out = Result(begin + logarithms.numel() * times, dtype)
        wrong = twice(driver.bind(plan, addresses | {"out0": out.address}), out)
        got = out.value[: means.numel()].view(batch, queries, heads, depth).transpose(1, 2)
        sums = out.value[begin:].view(wide).view(logarithms.shape)
        wrong = wrong or judged(("attention", label), got, means, most[0])
        # They are of scores, which tf32 rounds and halves do not.
        return wrong or judged(("logarithms", label), sums, logarithms, 1e-6 if dtype.itemsize < 4 else most[0])
    g = Operand(opts["q"].split(":")[0].rsplit("x", 1)[0] + f"x{depth}:" + ",".join(map(str, torch.empty(batch, heads, queries, depth).stride())), dtype, 16)
    line = torch.zeros(begin + logarithms.numel() * times, dtype=dtype, device="cuda")
    line[: means.numel()] = means.transpose(1, 2).reshape(-1).to(dtype)
    line[begin:] = logarithms.to(wide).reshape(-1).view(dtype)
    at = 3 + (mask is not None)
    addresses |= {f"in{at}": line.data_ptr(), f"in{at + 1}": g.address}
    g64 = g.value.double()
    back = g64 @ in64[2].mT
    flow = weights * (back - (g64 * means).sum(-1, keepdim=True))
    scale = float(opts["scale"])

    def summed(x):
        return x.view(batch, shared, each, *x.shape[2:]).sum(2)

    want = [flow @ in64[1] * scale, summed(flow.mT @ in64[0]) * scale, summed(weights.mT @ g64)]
    least = [0.0, 0.0, 0.0]
    if data == "constant" or "causal" in words and queries == 1:
        # Of numbers that are all alike, or one that is alone, nothing is left but rounding.
        flow = weights * back.abs()
        least = [(flow @ in64[1]).norm().item() * scale, summed(flow.mT @ in64[0]).norm().item() * scale, 0.0]
    out = Result(sum(x.numel() for x in want), dtype)
    wrong = twice(driver.bind(plan, addresses | {"out0": out.address}), out)
    # Heads of a position side by side: those of all three where there are as many keys as queries.
    if queries == keys:
        rows = out.value.view(batch, queries, -1).split([heads * width, shared * width, shared * depth], -1)
    else:
        of_q, rest = out.value.split([batch * queries * heads * width, batch * keys * shared * (width + depth)])
        rows = [of_q.view(batch, queries, -1), *rest.view(batch, keys, -1).split([shared * width, shared * depth], -1)]
    for of, got, to, norm in zip(("dq", "dk", "dv"), rows, want, least):
        got = got.reshape(batch, to.shape[2], to.shape[1], to.shape[3]).transpose(1, 2)
        wrong = wrong or judged((of, label), got, to, most[1], norm)
    return wrong


def numbers(text):
    return [int(n) for n in text.replace("x", ",").split(",")]


def check_conv(words, plan):
    kind, name, precision = words[1:4]
    opts, dtype = options(words), DTYPES[name]
    operands = [Operand(opts[at] + ":" + ",".join(map(str, torch.empty(numbers(opts[at])).stride())), dtype, 16) for at in "ab"]
    for i, operand in enumerate(operands):
        operand.fill(opts.get("data"), i == 0)
    a, b = (operand.value.double() for operand in operands)
    form = {at: numbers(opts[at]) for at in ("stride", "padding", "dilation")} | {"groups": int(opts["groups"])}
    images = [a.shape[0], b.shape[1] * form["groups"], *numbers(opts["sizes"])]
    if kind == "forward":
        want = torch.nn.functional.conv2d(a, b, **form)
    elif kind == "input":
        want = torch.nn.grad.conv2d_input(images, b, a, **form)
    else:
        shape = [b.shape[1], a.shape[1] // form["groups"], *numbers(opts["sizes"])]
        want = torch.nn.grad.conv2d_weight(a, shape, b, **form)
    out = Result(want.numel(), dtype)
    wrong = twice(driver.bind(plan, {"in0": operands[0].address, "in1": operands[1].address, "out0": out.address}), out)
    is_tf32 = any("tf32" in launch["kernel"] for launch in plan["launches"])
    label = "tf32" if is_tf32 else name
    return wrong or judged((f"conv {kind}", label), out.value.view(want.shape), want, TOLERANCE[label])


def epilogue(names):
    """Code at a product's mark: minus the product, plus numbers that tell of the matrix, row and column."""
    *values, batch, row, column = names
    lines = ["{", ".reg .f32 %line,%across;", f"cvt.rn.f32.u32 %line,{row};", f"cvt.rn.f32.u32 %across,{batch};"]
    lines += ["fma.rn.f32 %line,%line,0f3C800000,%across;", f"cvt.rn.f32.u32 %across,{column};"]
    lines += ["fma.rn.f32 %line,%across,0fBD000000,%line;"]
    for value in values:
        lines += [f"sub.f32 {value},%line,{value};", "add.f32 %line,%line,0fBD000000;"]
    return "\n".join([*lines, "}"])


def plan_kernel(plan):
    return plan["launches"][-1]["kernel"] if plan["launches"] else "none"


def drawn(shape, size, skewed):
    """Indices; where they are skewed, a third of them are one, and as many are few."""
    index = torch.randint(0, size, shape, device="cuda")
    if skewed:
        which = torch.randint(0, 3, shape, device="cuda")
        index = torch.where(which == 0, size // 2, torch.where(which == 1, index % 50, index))
    return index


def indices(text, size, bad, skewed=False):
    index = Operand(text, torch.int64, 16)
    index.memory.copy_(drawn(index.memory.shape, size, skewed))
    where = index.at.flatten()
    if bad:
        index.memory[where[where.numel() // 2]] = size + 3
    index.value = index.memory[index.at]
    return index


def faulted(fault, want, size):
    torch.cuda.synchronize()
    index, found = fault.tolist()
    if (found != 0) != want:
        return "the fault was not told" if want else "told of a fault"
    return f"told of index {index}" if want and index != size + 3 else None


def check_gather(words, plan):
    size, axis, align = (int(word) for word in words[1:4])
    opts, dtype = options(words), BITS[int(words[1])]
    for bad in (False, True):
        x = Operand(opts["x"], dtype, align)
        index = indices(opts["index"], x.shape[axis], bad)
        out = Result(index.value.numel(), dtype)
        fault = torch.zeros(2, dtype=torch.int64, device="cuda")
        driver.bind(plan, {"in0": x.address, "in1": index.address, "out0": out.address, "fault": fault.data_ptr()})()
        wrong = faulted(fault, bad, x.shape[axis])
        valid = index.value < x.shape[axis]
        want = torch.where(valid, x.value.gather(axis, index.value.clamp(max=x.shape[axis] - 1)), 0)
        if wrong or not out.guarded() or not torch.equal(out.value.view(index.shape), want.to(dtype)):
            return wrong or "wrong"
    return None


def check_scatter(words, plan):
    name, axis, size = words[1], int(words[2]), int(words[3])
    opts, dtype = options(words), DTYPES[words[1]]
    for bad in (False, True):
        x = Operand(opts["x"], dtype, 16)
        if dtype == torch.bool:
            x.value = x.value.to(torch.uint8)
        index = indices(opts["index"], size, bad, "skewed" in words)
        shape = [size if d == axis else n for d, n in enumerate(x.shape)]
        count = 1
        for n in shape:
            count *= n
        out = Result(count, dtype)
        fault = torch.zeros(2, dtype=torch.int64, device="cuda")
        go = driver.bind(plan, {"in0": x.address, "in1": index.address, "out0": out.address, "fault": fault.data_ptr()})
        go()
        wrong = faulted(fault, bad, size)
        first = out.inner.clone()
        go()
        torch.cuda.synchronize()
        if wrong or not torch.equal(first, out.inner) or not out.guarded():
            return wrong or "not the same twice, or written outside"
        floating = dtype.is_floating_point
        wide = torch.float64 if floating else torch.int64
        valid = index.value < size
        want = torch.zeros(shape, dtype=wide, device="cuda")
        want.scatter_add_(axis, index.value.clamp(max=size - 1), torch.where(valid, x.value.to(wide), 0))
        got = (out.inner.view(torch.uint8) if dtype == torch.bool else out.value).view(shape)
        if floating:
            found = error(got, want)
            # One after the other, tens of thousands of them where they are skewed.
            if not found <= TOLERANCE[name] * (10 if "skewed" in words else 1):
                return f"error {found:.2e}"
        elif not torch.equal(got, want.to(got.dtype)):
            return "wrong"
    return None


def check_put(words, plan):
    dtype, n, count = DTYPES[words[1]], int(words[2]), int(words[3])
    for bad in (False, True):
        base, index = random(n, dtype), drawn((count,), n, "skewed" in words)
        value = random(1 if "one" in words else count, dtype)
        if bad:
            index[count // 2] = n + 3
        out = Result(n, dtype)
        go = driver.bind(plan, {"in0": 0, "in1": value.data_ptr(), "in2": index.data_ptr(), "out0": out.address})
        found = []
        for _ in range(2):
            out.value.copy_(base)
            go()
            torch.cuda.synchronize()
            found.append(out.inner.clone())
        want = base.clone()
        if not bad:
            # The last of each place.
            last = torch.zeros(n, dtype=torch.int64, device="cuda")
            last.scatter_reduce_(0, index, torch.arange(1, count + 1, device="cuda"), "amax")
            there = last > 0
            want[there] = value.expand(count)[last[there] - 1]
        if not all(torch.equal(one, want.view(torch.uint8)) for one in found) or not out.guarded():
            return "wrong"
    return None


def check_sort(words, plan):
    kind, dtype = words[1], DTYPES[words[2]]
    rows, length = (int(n) for n in words[3].split("x"))
    x = random(rows * length, dtype)
    if "few" in words:
        x = (x.double() * 2).round().to(dtype) if dtype.is_floating_point else (x % 7).to(dtype)
    if dtype.is_floating_point:
        x[torch.randint(0, len(x), (5,), device="cuda")] = float("nan")
    x = x.view(rows, length)
    keys = x.to(torch.uint8) if dtype == torch.bool else x
    order = torch.sort(keys, dim=1, stable=True, descending="descending" in words).indices
    picks = kind in ("mode", "median")
    out = Result(rows * (1 if picks else length), dtype if kind == "values" else torch.int64)
    go = driver.bind(plan, {"in0": x.data_ptr(), "out0": out.address})
    go()
    torch.cuda.synchronize()
    first = out.inner.clone()
    go()
    torch.cuda.synchronize()
    if not torch.equal(first, out.inner) or not out.guarded():
        return "not the same twice, or written outside"
    if kind == "values":
        got, want = out.value.view(rows, length), x.gather(1, order)
        return None if torch.equal(torch.nan_to_num(got.double()), torch.nan_to_num(want.double())) else "wrong"
    if kind == "indices":
        return None if torch.equal(out.value.view(rows, length), order) else "wrong"
    ordered = keys.gather(1, order)
    if kind == "median":
        # A NaN is the median, the first one.
        nan = ordered.isnan() if dtype.is_floating_point else torch.zeros_like(ordered, dtype=torch.bool)
        at = torch.where(nan.any(1), nan.long().argmax(1), (length - 1) // 2)
        return None if torch.equal(out.value, order.gather(1, at[:, None])[:, 0]) else "wrong"
    # As often as any other, and the last of its kind.
    for row, at in zip(keys, out.value.tolist()):
        numbers, counts = torch.unique(row[~row.isnan()] if dtype.is_floating_point else row, return_counts=True)
        if row[at] != numbers[counts.argmax()] or int((row == row[at]).nonzero().max()) != at:
            return "wrong"
    return None


def check_copy(words, plan):
    size, align = int(words[1]), int(words[2])
    opts, dtype = options(words), BITS[int(words[1])]
    source = Operand(opts["from"], dtype, align)
    shape, strides = layout(opts["to"])
    at, zero = offsets(shape, strides)
    shift = 0 if align >= 16 else 1
    out = Result(int(at.max()) + 1 + shift, dtype)
    driver.bind(plan, {"in0": source.address, "out0": out.address + (zero + shift) * size})()
    torch.cuda.synchronize()
    want = Result(int(at.max()) + 1 + shift, dtype)
    want.value[(at + shift).flatten()] = source.value.flatten()
    return None if torch.equal(out.bytes, want.bytes) else "wrong"


def check_fill(words, plan):
    size, count, bits = (int(word) for word in words[1:4])
    out = Result(count, BITS[size])
    driver.bind(plan, {"out0": out.address})()
    torch.cuda.synchronize()
    want = torch.tensor(list(bits.to_bytes(8, "little")[:size]), dtype=torch.uint8, device="cuda").repeat(count)
    return None if torch.equal(out.inner, want) and out.guarded() else "wrong"


CHECKS = {
    "matmul": check_matmul, "gather": check_gather, "scatter": check_scatter, "put": check_put, "sort": check_sort,
    "copy": check_copy, "fill": check_fill, "many": check_many, "attention": check_attention, "conv": check_conv,
}


def check(small, part):
    # What is compared with has to see no more of what is no number than its windows do.
    torch.backends.cudnn.enabled = False
    cases = json.loads((driver.HERE / "check.json").read_text())
    failed, done, kernels = 0, 0, set()
    if small:
        cases.sort(key=lambda case: sum(launch["grid"][0] for launch in case["plan"]["launches"]))
    mine, of = part
    # Cases of a kernel follow each other, and are assembled by one process.
    cases = [case for case in cases if zlib.crc32(plan_kernel(case["plan"]).encode()) % of == mine]
    driver.prepare(launch["kernel"] for case in cases for launch in case["plan"]["launches"] if "epilogue" not in case["case"])
    for case in cases:
        words = case["case"].split()
        kernel = plan_kernel(case["plan"])
        if small and kernel in kernels:
            continue
        kernels.update(launch["kernel"] for launch in case["plan"]["launches"])
        try:
            wrong = CHECKS[words[0]](words, case["plan"])
        except RuntimeError as error:
            # After a fault nothing runs any more.
            sys.exit(f"FAILED: {driver.stuck() or error}: {case['case']} ({kernel})")
        done += 1
        if wrong:
            failed += 1
            print(f"FAILED: {wrong}: {case['case']} ({kernel})", flush=True)
    if bool((driver.TICKETS != 0).any()):
        failed += 1
        print("FAILED: tickets are not zero")
    for key, found in sorted(ERRORS.items()):
        print(f"largest error of {' '.join(key)}: {found:.2e}")
    all_kernels = {path.stem for path in (driver.HERE / "ptx").glob("*.ptx")}
    print(f"{done} cases, {failed} failed, {len(kernels)} of {len(all_kernels)} kernels ran")
    (driver.HERE / f"ran-{mine}.txt").write_text("\n".join(sorted(kernels)))
    return failed


def stuck():
    """A product whose copy engine brings half of each box of its first operand: the stage never comes."""
    cases = json.loads((driver.HERE / "check.json").read_text())
    case = next(case for case in cases if "tile=w128x128 splits=1" in case["case"] and case["case"].startswith("matmul bf16"))
    plan, words = case["plan"], case["case"].split()
    plan["launches"][0]["maps"][0][-1][1] //= 2
    try:
        wrong = check_matmul(words, plan)
    except RuntimeError as error:
        print(driver.stuck() or f"FAILED: nothing was said: {error}")
        return 0 if driver.stuck() and "full" in driver.stuck() else 1
    print(f"FAILED: it was not stuck: {wrong}")
    return 1


def bench_matmul(words, plan):
    opts, dtype = options(words), DTYPES[words[1]]
    torch.backends.cuda.matmul.allow_tf32 = words[2] == "high"
    (ashape, astrides), (bshape, bstrides) = layout(opts["a"]), layout(opts["b"])
    a, b = Operand(opts["a"], dtype, 16), Operand(opts["b"], dtype, 16)
    out = torch.empty([*ashape[:-1], bshape[-1]], dtype=dtype, device="cuda")
    ours = driver.bind(plan, {"in0": a.address, "in1": b.address, "out0": out.data_ptr()})
    ours.keeps = (a, b, out)
    ta, tb = a.view(astrides), b.view(bstrides)
    other = torch.empty_like(out)
    work = 2 * ashape[-1] * out.numel()
    return [ours, lambda: torch.matmul(ta, tb, out=other)], work, "TFLOP/s"


def bench_many(words, plan):
    opts, dtype, depth = options(words), DTYPES[words[1]], int(words[2])
    pairs, outs, work = [], [], 0
    for size in opts["sizes"].split(","):
        m, n = map(int, size.split("x"))
        pairs.append([torch.randn(depth, size, device="cuda").to(dtype) for size in (m, n)])
        outs.append([torch.empty(m, n, dtype=dtype, device="cuda") for _ in range(2)])
        work += 2 * m * n * depth
    addresses = {f"in{2 * i + j}": x.data_ptr() for i, pair in enumerate(pairs) for j, x in enumerate(pair)}
    ours = driver.bind(plan, addresses | {f"out{i}": out.data_ptr() for i, (out, _) in enumerate(outs)})

    def other():
        for (a, b), (_, out) in zip(pairs, outs):
            torch.matmul(a.T, b, out=out)

    return [ours, other], work, "TFLOP/s"


def bench_attention(words, plan):
    opts, dtype = options(words), DTYPES[words[2]]
    shape, _ = layout(opts["q"])
    batch, heads, rows, width = shape
    q, k, v = (torch.randn(shape, device="cuda").to(dtype) for _ in range(3))
    causal, scale = "causal" in words, float(opts["scale"])
    out = torch.empty(q.numel() + batch * heads * rows * 4 // dtype.itemsize, dtype=dtype, device="cuda")
    ours = driver.bind(plan, {f"in{i}": x.data_ptr() for i, x in enumerate((q, k, v))} | {"out0": out.data_ptr()})
    ours.keeps = (q, k, v, out)
    # Half of the products where a query takes half of the keys.
    work = 4 * batch * heads * rows * rows * width / (2 if causal else 1)
    return [ours, lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)], work, "TFLOP/s"


def bench_conv(words, plan):
    kind, opts, dtype = words[1], options(words), DTYPES[words[2]]
    a, b = (torch.randn(numbers(opts[at]), device="cuda").to(dtype) for at in "ab")
    form = {at: numbers(opts[at]) for at in ("stride", "padding", "dilation")} | {"groups": int(opts["groups"])}
    sizes = numbers(opts["sizes"])
    # Of the image, the weight and what is made of them: as PyTorch's gradient takes them.
    x = a if kind != "input" else torch.empty(a.shape[0], b.shape[1], *sizes, dtype=dtype, device="cuda")
    w = b if kind != "weight" else torch.empty(b.shape[1], a.shape[1], *sizes, dtype=dtype, device="cuda")
    y = b if kind == "weight" else a if kind == "input" else torch.nn.functional.conv2d(a, b, **form)
    out = torch.empty_like({"forward": y, "input": x, "weight": w}[kind])
    ours = driver.bind(plan, {"in0": a.data_ptr(), "in1": b.data_ptr(), "out0": out.data_ptr()})
    ours.keeps = (a, b, out)
    mask = [kind == "input", kind == "weight", False]
    rest = (None, form["stride"], form["padding"], form["dilation"], False, [0, 0], 1, mask)
    other = {"forward": lambda: torch.nn.functional.conv2d(a, b, **form)}.get(kind, lambda: torch.ops.aten.convolution_backward(y, x, w, *rest))
    return [ours, other], 2 * y.numel() * w[0].numel(), "TFLOP/s"


def bench_copy(words, plan):
    opts, dtype = options(words), BITS[int(words[1])]
    source = Operand(opts["from"], dtype, 16)
    _, strides = layout(opts["from"])
    out = torch.empty(source.shape, dtype=dtype, device="cuda")
    view = source.view(strides)
    ours = driver.bind(plan, {"in0": source.address, "out0": out.data_ptr()})
    ours.keeps = (source, out)
    return [ours, lambda: out.copy_(view)], 2 * out.numel() * int(words[1]), "TB/s"


def bench_fill(words, plan):
    out = torch.empty(int(words[2]), dtype=BITS[int(words[1])], device="cuda")
    return [driver.bind(plan, {"out0": out.data_ptr()}), lambda: out.fill_(0)], out.numel() * int(words[1]), "TB/s"


def bench_gather(words, plan):
    opts, axis = options(words), int(words[2])
    x = Operand(opts["x"], torch.float32, 16)
    index = indices(opts["index"], x.shape[axis], False)
    out = torch.empty(index.shape, device="cuda")
    ours = driver.bind(plan, {"in0": x.address, "in1": index.address, "out0": out.data_ptr()})
    ours.keeps = (x, index, out)
    rows, table = index.value[:, 0].contiguous(), x.value
    return [ours, lambda: torch.index_select(table, 0, rows, out=out)], 8 * out.numel(), "TB/s"


def bench_scatter(words, plan):
    opts, axis, size = options(words), int(words[2]), int(words[3])
    x = Operand(opts["x"], torch.float32, 16)
    index = indices(opts["index"], size, False, "skewed" in words)
    shape = [size if d == axis else n for d, n in enumerate(x.shape)]
    out = torch.empty(shape, device="cuda")
    ours = driver.bind(plan, {"in0": x.address, "in1": index.address, "out0": out.data_ptr()})
    ours.keeps = (x, index, out)
    value, expanded = x.value, index.value

    def other():
        out.zero_()
        out.scatter_add_(axis, expanded, value)

    return [ours, other], 4 * (out.numel() + value.numel()), "TB/s"


def bench_put(words, plan):
    n, count = int(words[2]), int(words[3])
    out, value = torch.zeros(n, device="cuda"), random(count, torch.float32)
    index = drawn((count,), n, "skewed" in words)
    ours = driver.bind(plan, {"in0": 0, "in1": value.data_ptr(), "in2": index.data_ptr(), "out0": out.data_ptr()})
    ours.keeps = (value, index, out)
    return [ours, lambda: out.index_put_((index,), value)], 12 * count, "TB/s"


def bench_sort(words, plan):
    rows, length = (int(n) for n in words[3].split("x"))
    if words[2] == "f32":
        x = random(rows * length, torch.float32)
    else:
        x = drawn((rows * length,), 1 << (16 if "few" in words else 62), False)
    x, out = x.view(rows, length), torch.empty(rows, length, dtype=torch.int64, device="cuda")
    values = torch.empty_like(x)
    ours = driver.bind(plan, {"in0": x.data_ptr(), "out0": out.data_ptr()})
    ours.keeps = (x, out)
    other = torch.empty_like(out)
    return [ours, lambda: torch.sort(x, dim=1, stable=True, out=(values, other))], 12 * rows * length, "TB/s"


BENCHES = {
    "matmul": bench_matmul, "copy": bench_copy, "fill": bench_fill, "gather": bench_gather, "scatter": bench_scatter, "put": bench_put,
    "sort": bench_sort, "many": bench_many, "attention": bench_attention, "conv": bench_conv,
}


def bench(path):
    device = torch.cuda.get_device_properties(0)
    record = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": device.name, "python": platform.python_version(), "torch": torch.__version__,
        "cuda": torch.version.cuda, "cases": [],
    }
    lines = [
        "# Library kernels beside PyTorch",
        "",
        f"{record['date']}, {device.name}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}. Written by",
        "`kernels/bench/run.py bench`. Microseconds a call, the median of 7 rounds in which both take turns; calls are nodes of",
        "a CUDA graph on both sides, so that neither pays for its launches. tf32 is f32 at precision \"high\" on both sides.",
        "",
        "| case | kernel | ours, µs | PyTorch, µs | ours | PyTorch | ours / PyTorch |",
        "|---|---|---|---|---|---|---|",
    ]
    for case in json.loads((driver.HERE / "bench.json").read_text()):
        words = case["case"].split()
        works, amount, unit = BENCHES[words[0]](words, case["plan"])
        results = driver.rounds(works)
        ours, other = (driver.median(times) for times in results)
        launches = case["plan"]["launches"]
        kernel = launches[-1]["kernel"] + (f" and {len(launches) - 1} more" if len(launches) > 1 else "")
        kernel += f", {launches[-1]['grid'][0]} blocks"
        record["cases"].append({"case": case["case"], "kernel": kernel, "ours": results[0], "torch": results[1]})
        rate = [amount / time / 1e6 for time in (ours, other)]
        shown = f"{rate[0]:.2f} {unit} | {rate[1]:.2f} {unit} | {other / ours:.0%}"
        label = case["case"].replace(" 90 16 ", " ")
        lines.append(f"| {label} | {kernel} | {ours:.1f} | {other:.1f} | {shown} |")
        print(lines[-1], flush=True)
        del works
    with open(f"{path}.json", "w") as file:
        json.dump(record, file)
    with open(f"{path}.md", "w") as file:
        file.write("\n".join(lines) + "\n")


def main():
    torch.manual_seed(7)
    match sys.argv[1:]:
        case ["check", *rest]:
            part = rest[rest.index("--part") + 1] if "--part" in rest else "0/1"
            sys.exit(1 if check("--small" in rest, [int(n) for n in part.split("/")]) else 0)
        case ["stuck"]:
            sys.exit(stuck())
        case ["bench", path]:
            bench(path)
        case _:
            sys.exit(__doc__)


main()
