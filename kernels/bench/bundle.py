"""Packs what run.py needs on a machine with a GPU and no cargo: plans of all cases, and the PTX.

    python3 kernels/bench/bundle.py FOLDER [PTX]

PTX is another folder of kernels than kernels/ptx: that of `cargo xtask ptx --bound`, whose waits have an end. Cases are lines of `crates/mg-kernels/examples/launches.rs`, so that what is checked is what the engine launches.
"""

import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TILES = ["32x32", "32x64", "64x64", "128x64", "128x128", "128x256", "256x128"]
# Of capability 9.0 alone.
HOPPER = ["w128x64", "w128x128", "w128x192", "w128x256", "w64x128", "w192x128", "w256x128"]
SIZE = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "u8": 1, "bool": 1}


def dense(shape, pad=0):
    """Row-major strides, rows `pad` elements longer than they need to be."""
    strides, step = [], 1
    for i, n in reversed(list(enumerate(shape))):
        strides.insert(0, step)
        step *= n + (pad if i == len(shape) - 1 else 0)
    return strides


def text(shape, strides):
    return "x".join(map(str, shape)) + ":" + ",".join(map(str, strides))


def matmul(dtype, precision, m, n, k, form="kn", pad=0, align=16, batch=(), capability=90, options="", a=None, b=None):
    """A product; `form` says which neighbours lie side by side: of a along k or m, of b along k or n."""

    def operand(rows, columns, across):
        shape = [*batch, columns, rows] if across else [*batch, rows, columns]
        strides = dense(shape, pad)
        if across:
            strides[-2], strides[-1] = strides[-1], strides[-2]
        return text([*batch, rows, columns], strides)

    a = a or operand(m, k, form[0] == "m")
    b = b or operand(k, n, form[1] == "k")
    return f"matmul {dtype} {precision} {capability} {align} a={a} b={b} {options}".strip()


KINDS = ["random", "constant", "onehot", "nan", "infinity"]


def attentions():
    """Forward and backward; lengths that fill tiles and that do not, few queries, heads that share keys, heads side by side."""
    lengths = [(70, 90), (300, 333), (256, 256), (1, 1000)]
    for dtype in ("f16", "bf16", "f32", "f64"):
        for precision in ("high", "highest") if dtype == "f32" else ("highest",) if dtype == "f64" else ("high",):
            for capability in (90, 80) if dtype != "f64" and precision == "high" else (90,):
                for width in (24, 64, 80, 128, 160, 256, 300):
                    if dtype == "f64" and width > 80:
                        continue
                    for q, k in lengths:
                        for form in ("", "causal", f"bool=2x1x{q}x{k}", f"number=1x4x{q}x{k}"):
                            if form.startswith("number") and (q, k) != (300, 333):
                                continue
                            yield from attention(dtype, precision, capability, (2, 4, 2), q, k, width, form)
                    # Bounds of keys: on the lower right corner, without a query's own position, with queries that take no key, beside a mask.
                    for q, k, form in bounded():
                        yield from attention(dtype, precision, capability, (2, 4, 2), q, k, width, form)
                    # Numbers that are not there, or not numbers, and places.
                    for data in KINDS[1:]:
                        for q, k in [(70, 90), (300, 333)]:
                            yield from attention(dtype, precision, capability, (1, 2, 2), q, k, width, f"data={data}")
                yield from attention(dtype, precision, capability, (2, 4, 4), 150, 150, 64, "beside")
                yield from attention(dtype, precision, capability, (2, 4, 4), 150, 150, 64, "beside causal")


def bounded():
    """Lengths, and bounds of keys."""
    for q, k in [(70, 90), (300, 333), (333, 70), (1, 1000), (3, 700)]:
        for left, right in [(600, 0), (64, 0), (9, 20)]:
            yield q, k, f"near={left + q - k},{right + k - q}"
    yield 300, 333, "near=-40,90"
    yield 300, 333, "near=90,-40"
    yield 300, 333, "near=70,20 bool=2x1x300x333"
    yield 300, 333, "near=0,64 number=1x4x300x333"


def attention(dtype, precision, capability, heads, queries, keys, width, form=""):
    batch, many, shared = heads

    def operand(heads, rows):
        shape = [batch, heads, rows, width]
        strides = dense(shape)
        if "beside" in form:
            strides = [rows * heads * width, width, heads * width, 1]
        return text(shape, strides)

    q, k = operand(many, queries), operand(shared, keys)
    for kind in ("forward", "backward"):
        # Not a number times nothing is not a number, and tiles that take no part are not looked at.
        if "infinity" in form and kind == "backward":
            continue
        yield f"attention {kind} {dtype} {precision} {capability} 16 q={q} k={k} v={k} scale=0.125 {form.replace('beside', '')}".strip()


def convolutions():
    for dtype, precision in [("f16", "high"), ("bf16", "high"), ("f32", "high"), ("f32", "highest"), ("f64", "highest")]:
        tiles = ["128x256", "128x192", "128x128", "64x256", *(["256x128", "64x128"] if dtype == "f32" else [])] if dtype != "f32" or precision == "high" else ["128x128", "64x256", "64x128", "64x288", "32x256", "32x288", "32x96"]
        # Images, channels, filters, side, window, step, padding, dilation, groups.
        shapes = [
            (2, 3, 8, 9, 3, 1, 1, 1, 1), (3, 64, 64, 15, 3, 1, 1, 1, 1), (2, 64, 130, 17, 3, 2, 1, 1, 1), (2, 72, 96, 14, 1, 1, 0, 1, 1),
            (2, 64, 256, 16, 1, 1, 0, 1, 1), (2, 3, 64, 33, 7, 2, 3, 1, 1), (1, 32, 24, 20, 3, 1, 2, 2, 1), (2, 8, 16, 12, 5, 3, 0, 1, 1), (2, 12, 12, 11, 3, 1, 1, 1, 3),
            (2, 16, 16, 10, 3, 1, 1, 1, 16), (2, 6, 6, 33, 5, 2, 2, 1, 6), (1, 5, 10, 56, 7, 1, 3, 1, 5), (2, 40, 40, 14, 3, 2, 1, 1, 40), (1, 3, 3, 160, 5, 1, 2, 1, 3),
            (2, 32, 32, 13, 3, 1, 1, 1, 8),
        ]
        for shape in shapes if dtype != "f64" else shapes[:1] + shapes[-2:]:
            for kind in ("forward", "input", "weight"):
                for capability in (90, 80, 75):
                    yield conv(kind, dtype, precision, *shape, capability=capability)
        if dtype == "f64":
            continue
        for shape in [(3, 64, 64, 15, 3, 1, 1, 1, 1), (2, 72, 96, 16, 1, 1, 0, 1, 1), (2, 16, 24, 13, 3, 2, 1, 1, 1)]:
            for kind in ("forward", "input", "weight"):
                for tile in tiles:
                    yield conv(kind, dtype, precision, *shape, options=f"tile={tile}")
                for data in KINDS[1:]:
                    yield conv(kind, dtype, precision, *shape, options=f"data={data}")


def conv(kind, dtype, precision, images, channels, filters, side, window, step, padding, dilation, groups, capability=90, options=""):
    out = (side + 2 * padding - dilation * (window - 1) - 1) // step + 1
    x, w, y = f"{images}x{channels}x{side}x{side}", f"{filters}x{channels // groups}x{window}x{window}", f"{images}x{filters}x{out}x{out}"
    a, b, sizes = {"forward": (x, w, 0), "input": (y, w, side), "weight": (x, y, window)}[kind]
    pairs = f"stride={step},{step} padding={padding},{padding} dilation={dilation},{dilation} groups={groups} sizes={sizes},{sizes}"
    return f"conv {kind} {dtype} {precision} {capability} 16 {pairs} a={a} b={b} {options}".strip()


def products_together():
    for dtype in ("bf16", "f16"):
        for depth in (1024, 1536, 1544, 4096):
            for sizes in ("384x1536,1536x384,384x384,1152x384", "72x264,72x264", "200x136,200x136,200x136,200x136,200x136,200x136,200x136,200x136",
                          "1000x512,8x8,136x1800", "1024x1024,1024x1024,1024x1024", "1536x768,768x1536,1152x768", "1280x2560,2560x1280"):
                for data in KINDS if depth == 1536 else KINDS[:1]:
                    yield f"many {dtype} {depth} sizes={sizes} data={data}"


def up(n, to):
    return -n % to


def checks():
    forms = ["kn", "kk", "mn", "mk"]
    kinds = [("f32", "highest"), ("f32", "high"), ("f16", "high"), ("bf16", "high")]
    for dtype, precision in kinds:
        each = 16 // SIZE[dtype]
        for form in forms:
            for m, n, k in [(1, 1, 1), (8, 16, 8), (33, 65, 17), (128, 512, 784), (784, 512, 128), (304, 264, 1096), (640, 768, 96)]:
                # Rows padded so that they are aligned, whatever their length (one pad serves where both do).
                lengths = {k if form[0] == "k" else m, k if form[1] == "k" else n}
                if len({up(x, each) for x in lengths}) == 1:
                    yield matmul(dtype, precision, m, n, k, form, pad=up(lengths.pop(), each) + each)
                yield matmul(dtype, precision, m, n, k, form, align=SIZE[dtype])
            yield matmul(dtype, precision, 5, 7, 0, form)
            yield matmul(dtype, precision, 128, 10, 256, form)
            # Every tile, with and without parts of k that are joined, and with an epilogue.
            for tile in TILES:
                for m, n, k in [(33, 65, 17), (304, 264, 1096), (512, 512, 256), (10, 256, 128), (128, 256, 10)]:
                    for splits in (1, 3):
                        yield matmul(dtype, precision, m, n, k, form, options=f"tile={tile} splits={splits}")
                        yield matmul(dtype, precision, m, n, k, form, options=f"tile={tile} splits={splits} epilogue")
            yield matmul(dtype, precision, 72, 80, 48, form, batch=(2, 3))
            yield matmul(dtype, precision, 72, 80, 48, form, batch=(2, 3), options="epilogue")
            yield matmul(dtype, precision, 17, 19, 23, form, batch=(5,), align=SIZE[dtype])
        # Enough tiles for the large ones.
        for form in forms:
            yield matmul(dtype, precision, 2560, 2048, 200, form)
            yield matmul(dtype, precision, 2040, 2040, 520, form)
            yield matmul(dtype, precision, 2040, 2040, 520, form, options="epilogue")
        for form in forms:
            for tile in HOPPER:
                for m, n, k in [(8, 16, 8), (304, 264, 1096), (640, 768, 96), (136, 1800, 2056)]:
                    for options in ("splits=1", "splits=1 epilogue", "splits=3", "splits=5 epilogue"):
                        yield matmul(dtype, precision, m, n, k, form, options=f"tile={tile} {options}")
                yield matmul(dtype, precision, 200, 264, 192, form, batch=(3,), options=f"tile={tile} splits=2")
                yield matmul(dtype, precision, 200, 264, 192, form, batch=(3,), options=f"tile={tile} splits=1 epilogue")
                yield matmul(dtype, precision, 2040, 2040, 520, form, options=f"tile={tile} splits=1")
        for tile in HOPPER:
            # Columns of any number, of operands that repeat along the batch, of padded rows.
            for form in forms:
                for m, n, k in [(3, 5, 8), (77, 93, 136), (301, 519, 200), (140, 262, 64)]:
                    line = lambda size: size + up(size, each)  # noqa: B023, E731
                    a = f"{m}x{k}:{line(k)},1" if form[0] == "k" else f"{m}x{k}:1,{line(m)}"
                    b = f"{k}x{n}:1,{line(k)}" if form[1] == "k" else f"{k}x{n}:{line(n)},1"
                    for options in ("splits=1", "splits=2", "splits=1 epilogue"):
                        yield matmul(dtype, precision, m, n, k, a=a, b=b, options=f"tile={tile} {options}")
            for strides in ("0,96,1", "17280,96,1"):
                other = "16896,1,96" if strides[0] == "0" else "0,1,96"
                yield matmul(dtype, precision, 180, 176, 96, a=f"3x180x96:{strides}", b=f"3x96x176:{other}", options=f"tile={tile} splits=1")
            yield matmul(dtype, precision, 180, 176, 96, a="180x96:160,1", b="96x176:1,104", options=f"tile={tile} splits=1")
        # Operands that are copied before.
        for form in forms:
            for options in ("", "epilogue"):
                yield matmul(dtype, precision, 2048, 2048, 1024, form, options=options)
                yield matmul(dtype, precision, 1027, 1031, 1033, form, align=SIZE[dtype], options=options)
                yield matmul(dtype, precision, 515, 513, 521, form, batch=(3,), align=SIZE[dtype], options=options)
        yield matmul(dtype, precision, 2563, 2049, 203, align=SIZE[dtype])
        yield matmul(dtype, precision, 40, 56, 64, a="40x64:256,2", b="64x56:112,2")
        yield matmul(dtype, precision, 40, 56, 64, a="40x64:-64,-1", b="64x56:-1,64")
        yield matmul(dtype, precision, 40, 56, 64, a="40x64:0,1", b="64x56:56,0")
        yield matmul(dtype, precision, 40, 56, 64, a="3x2x40x64:0,2560,64,1", b="3x2x64x56:3584,0,56,1")
        yield matmul(dtype, precision, 40, 56, 64, a="6x4x8x16:512,128,16,1", b="6x4x16x24:0,0,24,1")
        yield matmul(dtype, precision, 40, 56, 64, a="4x1x32x64:2048,2048,64,1", b="4x1x64x48:3072,3072,48,1")
        # One operand whose rows are aligned, one whose are not.
        for a, b in [("70x96:96,1", "96x33:33,1"), ("70x96:96,1", "96x33:1,97"), ("70x97:1,80", "97x33:33,1"),
                     ("70x96:97,1", "96x40:40,1"), ("70x96:1,71", "96x40:40,1"), ("70x96:97,1", "96x33:1,96")]:
            for options in ("", "epilogue", "tile=32x32 splits=2"):
                yield matmul(dtype, precision, 70, 33, 96, a=a, b=b, options=options)
        for m, n, k in [(128, 512, 784), (130, 64, 40), (64, 67, 100)]:
            yield matmul(dtype, precision, m, n, k, options="epilogue")
        # Numbers that are alike, that say where they were, and that are none.
        for form in forms:
            for tile in ["64x64", "128x128", *HOPPER]:
                for data in KINDS[1:]:
                    yield matmul(dtype, precision, 304, 264, 1096, form, options=f"tile={tile} data={data} splits=1")
    for dtype in SIZE:
        for m, n, k in [(65, 66, 67), (128, 10, 300)]:
            for form in forms:
                yield matmul(dtype, "highest", m, n, k, form, capability=75, align=1)
        yield matmul(dtype, "highest", 9, 11, 13, batch=(3, 2), capability=75, align=1)
        yield matmul(dtype, "highest", 5, 7, 0, capability=75, align=1)
    yield matmul("f32", "highest", 128, 64, 512, capability=75, options="epilogue")

    yield from products_together()
    yield from attentions()
    yield from convolutions()
    for size in (1, 2, 4, 8):
        yield f"gather {size} 0 256 x={text([50, 48], [48, 1])} index={text([70, 48], [1, 0])}"
        yield f"gather {size} 0 {size} x={text([50, 47], [47, 1])} index={text([70, 47], [1, 0])}"
        yield f"gather {size} 1 256 x={text([64, 10], [10, 1])} index={text([64, 1], [1, 1])}"
        yield f"gather {size} 1 {size} x={text([6, 10, 7], [70, -7, 1])} index={text([6, 33, 7], [231, 7, 1])}"
    for dtype in SIZE:
        yield f"scatter {dtype} 1 10 x={text([128, 1], [1, 1])} index={text([128, 1], [1, 1])}"
        yield f"scatter {dtype} 0 65 x={text([1000, 96], [96, 1])} index={text([1000, 96], [1, 0])}"
        yield f"scatter {dtype} 1 11 x={text([6, 33, 7], [231, -7, 1])} index={text([6, 33, 7], [231, 7, 1])}"
        yield f"scatter {dtype} 0 3000 x={text([200000], [1])} index={text([200000], [1])}"
        yield f"scatter {dtype} 0 70000 x={text([9000, 40], [40, 1])} index={text([9000, 40], [1, 0])}"
        # Many meet at few; several chunks to a bucket; several tiles; rows of a few elements, of two axes, and of each other distance.
        yield f"scatter {dtype} 0 3000 skewed x={text([200000], [1])} index={text([200000], [1])}"
        yield f"scatter {dtype} 0 3000 skewed x={text([30000, 5], [5, 1])} index={text([30000, 5], [1, 0])}"
        yield f"scatter {dtype} 0 70000 skewed x={text([9000, 40], [40, 1])} index={text([9000, 40], [1, 0])}"
        yield f"scatter {dtype} 0 900 skewed x={text([5000, 200], [1, 5000])} index={text([5000, 200], [1, 0])}"
        yield f"scatter {dtype} 0 5000000 x={text([300000], [1])} index={text([300000], [1])}"
        yield f"scatter {dtype} 1 700 x={text([64, 1500], [1, 64])} index={text([64, 1500], [1500, 1])}"
        yield f"scatter {dtype} 1 1100 x={text([6, 333, 7], [2331, 7, 1])} index={text([6, 333, 7], [2331, 7, 1])}"
        yield f"scatter {dtype} 0 100000 x={text([140000, 31], [31, 1])} index={text([140000, 31], [1, 0])}"
    yield f"scatter f32 0 5000000 x={text([4300000], [1])} index={text([4300000], [1])}"
    for dtype in ("u8", "f16", "f32", "f64"):
        for options in ("", " one"):
            yield f"put {dtype} 3000 200000 skewed{options}"
            yield f"put {dtype} 70000 2000{options}"
            yield f"put {dtype} 5000000 300000{options}"
        yield f"put {dtype} 3000 1000"
    for dtype in SIZE:
        for kind in ("indices", "values", "mode", "median"):
            for rows in ("1x20000", "3x5000 few", "40x100"):
                yield f"sort {kind} {dtype} {rows}"
        yield f"sort indices {dtype} 1x20000 descending"
    for size in (1, 2, 4, 8):
        yield f"copy {size} 256 from={text([128, 192], [1, 128])} to={text([128, 192], [192, 1])}"
        yield f"copy {size} {size} from={text([129, 67], [1, 131])} to={text([129, 67], [67, 1])}"
        yield f"copy {size} 256 from={text([5, 64, 72, 3], [13824, 1, 64, 4608])} to={text([5, 64, 72, 3], [13824, 216, 3, 1])}"
        yield f"copy {size} 256 from={text([4, 96, 80], [7680, 1, 96])} to={text([4, 96, 80], [7680, 80, 1])}"
        yield f"copy {size} 256 from={text([33, 20], [-20, -1])} to={text([33, 20], [40, 2])}"
        yield f"copy {size} 256 from={text([33, 32], [64, 1])} to={text([33, 32], [32, 1])}"
        yield f"copy {size} 256 from={text([7, 9, 100], [0, 1, 0])} to={text([7, 9, 100], [900, 100, 1])}"
        yield f"copy {size} 256 from={text([100000], [1])} to={text([100000], [1])}"
        yield f"fill {size} 12345 {0x0102030405060708}"


def step(batch):
    """The products of a step of the perceptron 784-512-256-10, whose weights are [outputs, inputs]: forward, gradients of
    what is hidden, gradients of weights."""
    layers = [(784, 512), (512, 256), (256, 10)]
    for i, o in layers:
        yield batch, o, i, "kk"
        if i != 784:
            yield batch, i, o, "kn"
        yield o, i, batch, "mn"


def benches():
    for dtype, precision in [("f32", "highest"), ("f32", "high"), ("bf16", "high"), ("f16", "high")]:
        for n in (512, 1024, 2048, 4096, 8192):
            for form in ["kn", "kk", "mn", "mk"] if n in (1024, 4096) else ["kn"]:
                yield matmul(dtype, precision, n, n, n, form)
        for batch in (128, 1024, 8192):
            for sizes in step(batch):
                yield matmul(dtype, precision, *sizes)
        yield matmul(dtype, precision, 256, 64, 256, "kk", batch=(384,))
        # A small language model: six layers of 384, 64 sequences of 256.
        for n, k in [(1152, 384), (1536, 384), (384, 384), (384, 1536)]:
            yield matmul(dtype, precision, 16384, n, k, "kk")
            yield matmul(dtype, precision, n, k, 16384, "mn")
        yield matmul(dtype, precision, 4097, 4097, 4097, "kn", align=SIZE[dtype])
    for dtype in ("bf16", "f16"):
        for batch, heads, rows, width in [(64, 6, 256, 64), (4, 16, 2048, 64), (4, 16, 2048, 128)]:
            for form in ("", "causal"):
                # Forward alone: PyTorch's gradient cannot be captured in a graph without its forward pass.
                yield from list(attention(dtype, "high", 90, (batch, heads, heads), rows, rows, width, form))[:1]
        yield f"many {dtype} 16384 sizes=384x1536,1536x384,384x384,1152x384 data=random"
        for shape in [(64, 64, 64, 56, 3, 1, 1, 1, 1), (64, 256, 64, 56, 1, 1, 0, 1, 1), (64, 128, 128, 28, 3, 1, 1, 1, 1), (64, 512, 512, 7, 3, 1, 1, 1, 1)]:
            for kind in ("forward", "input", "weight"):
                yield conv(kind, dtype, "high", *shape)
    yield f"copy 4 256 from={text([4096, 16384], [1, 4096])} to={text([4096, 16384], [16384, 1])}"
    yield f"copy 2 256 from={text([8192, 16384], [1, 8192])} to={text([8192, 16384], [16384, 1])}"
    yield f"copy 4 256 from={text([16384, 4096], [4096, 1])} to={text([16384, 4096], [4096, 1])}"
    yield f"copy 4 256 from={text([64, 512, 12, 64], [393216, 64, 32768, 1])} to={text([64, 512, 12, 64], [393216, 768, 64, 1])}"
    yield f"fill 4 {1 << 26} 0"
    yield f"gather 4 0 256 x={text([50257, 768], [768, 1])} index={text([16384, 768], [1, 0])}"
    yield f"scatter f32 0 256 x={text([16384, 384], [384, 1])} index={text([16384, 384], [1, 0])}"
    yield f"scatter f32 0 50257 x={text([16384, 768], [768, 1])} index={text([16384, 768], [1, 0])}"
    yield f"scatter f32 1 10 x={text([8192, 1], [1, 1])} index={text([8192, 1], [1, 1])}"
    for n, size in [(22, 22), (20, 22), (22, 26), (24, 24), (22, 10), (20, 16)]:
        yield f"scatter f32 0 {1 << size} x={text([1 << n], [1])} index={text([1 << n], [1])}"
    yield f"scatter f32 0 {1 << 22} skewed x={text([1 << 22], [1])} index={text([1 << 22], [1])}"
    yield f"scatter f32 0 {1 << 18} x={text([1 << 20, 8], [8, 1])} index={text([1 << 20, 8], [1, 0])}"
    for options in ("", "skewed "):
        yield f"scatter f32 0 8192 {options}x={text([16384, 256], [256, 1])} index={text([16384, 256], [1, 0])}"
    for n, size in [(22, 22), (22, 26)]:
        yield f"put f32 {1 << size} {1 << n}"
    for dtype in ("f32", "i64"):
        yield f"sort indices {dtype} 1x{1 << 22}"
    yield f"sort indices i64 1x{1 << 22} few"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    lines = {"check": list(dict.fromkeys(checks())), "bench": list(benches())}
    command = ["cargo", "run", "--quiet", "-p", "mg-kernels", "--example", "launches"]
    for name, cases in lines.items():
        answer = subprocess.run(command, cwd=ROOT, input="\n".join(cases), text=True, capture_output=True)
        if answer.returncode:
            sys.exit(answer.stderr)
        plans = [json.loads(line) for line in answer.stdout.splitlines()]
        assert len(plans) == len(cases), answer.stderr
        # A tile that does not take the operands launches nothing.
        packed = [{"case": c, "plan": p} for c, p in zip(cases, plans) if p["launches"] or "tile=" not in c]
        (folder / f"{name}.json").write_text(json.dumps(packed))
        print(f"{len(packed)} cases to {name}")
    texts = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "kernels" / "ptx"
    shutil.copytree(texts, folder / "ptx", dirs_exist_ok=True)
    for script in ("run.py", "driver.py", "races.py"):
        shutil.copy(ROOT / "kernels" / "bench" / script, folder)


main()
