"""The expressions of `operations.py`, and what they are computed of. `x` `y` are in (-1, 1), `p` is positive, `m_*` matrices, `t_*` matrices
whose columns lie densely, `g_*` what gradients are asked for."""

import numpy as np

UNARY = """
    abs ceil cos erf exp exp2 expm1 floor isfinite isinf isnan log1p nan_to_num neg round sigmoid sign sin square tan tanh trunc asin acos atan
    sinh cosh erfinv asinh atanh deg2rad rad2deg erfc frac signbit sinc sgn isposinf isneginf i0 relu logical_not
    special.ndtr special.entr special.log_ndtr special.i1 special.erfcx
"""
POSITIVE = "log log2 log10 reciprocal rsqrt sqrt acosh digamma lgamma logit"
BINARY = """
    add sub mul div floor_divide remainder fmod maximum minimum atan2 eq lt fmax fmin hypot copysign nextafter logaddexp logaddexp2 xlogy
    heaviside pow logical_and float_power
"""
INTEGER = "add mul div floor_divide remainder bitwise_and bitwise_xor bitwise_left_shift gcd maximum eq"
ACTIVATION = """
    leaky_relu elu selu gelu silu softplus hardtanh logsigmoid relu6 celu mish softsign hardswish hardsigmoid hardshrink softshrink tanhshrink
"""
REDUCTION = "sum mean prod amax amin argmax argmin std var logsumexp norm all any count_nonzero median nansum"
SCAN = "cumsum cumprod cummax cummin logcumsumexp"


def inputs(large):
    """Arrays by name."""
    rng = np.random.default_rng(1)
    n, side = (1 << 26, 8192) if large else (1 << 22, 2048)
    less, few = (1 << 22, 2048) if large else (1 << 19, 512)

    def uniform(*shape, low=-1.0, high=1.0):
        return rng.random(shape, dtype=np.float32) * np.float32(high - low) + np.float32(low)

    vector = uniform(n)
    made = {
        "x": vector,
        "y": uniform(n),
        "p": uniform(n, low=1.0, high=2.0) if large else uniform(n, low=0.05, high=2.0),
        "i": rng.integers(1, 1000, n // 2).astype(np.int64),
        "j": rng.integers(1, 20, n // 2).astype(np.int64),
        "b": rng.random(n) < 0.5,
        "m_a": vector.reshape(side, side) if side * side == n else uniform(side, side),
        "m_b": uniform(side, side),
        "t_a": uniform(side, side),
        "s": uniform(less),
        "s_rows": uniform(less // 1024, 1024),
        "k": rng.integers(0, less, less).astype(np.int64),
        "rows": rng.integers(0, few * 4, few * 8).astype(np.int64),
        "table": uniform(few * 4, 256),
        "g_table": uniform(few * 4, 256),
        "g_x": uniform(n),
        "g_m": uniform(side, side),
        "g_rows": uniform(few * 4, 1024),
        "g_bias": uniform(1024),
        "g_scale": uniform(1024),
        "g_more": uniform(few * 8, 256),
        "labels": rng.integers(0, 1024, few * 4).astype(np.int64),
        "sq": uniform(few, few) + np.float32(4 * few**0.5) * np.eye(few, dtype=np.float32),
        "right": uniform(few, few),
        "small": uniform(64, 32, 32) + 8 * np.eye(32, dtype=np.float32),
        "batch": uniform(64, 128, 128),
        "images": uniform(8, 16, 128, 128),
        "g_images": uniform(8, 16, 128, 128),
        "g_layers": uniform(*((256, 64, 56, 56) if large else (16, 64, 28, 28))),
        "fifty": uniform(50),
        "sorted": np.sort(uniform(4096)),
    }
    made["sym"] = (made["sq"] + made["sq"].T) / 2 + np.float32(4 * few**0.5) * np.eye(few, dtype=np.float32)
    return made


def _cases():
    yield "clone", "x.clone()"
    for name in UNARY.split():
        yield name, f"L.{name}(x)"
    for name in POSITIVE.split():
        yield name, f"L.{name}(p)" if name not in ("logit", "acosh") else f"L.{name}({'b.float()*0.2+0.4' if name == 'logit' else 'p+1'})"
    for name in BINARY.split():
        yield name, f"L.{name}({'p' if name in ('pow', 'float_power') else 'x'}, y)"
    for name in INTEGER.split():
        yield f"{name} of integers", f"L.{name}(i, j)"
    for name in ACTIVATION.split():
        yield name, f"F.{name}(x)"
    yield "clamp", "L.clamp(x, -0.5, 0.5)"
    yield "clamp by tensors", "L.clamp(x, y, p)"
    yield "lerp", "L.lerp(x, y, 0.3)"
    yield "addcmul", "L.addcmul(x, y, p, value=0.5)"
    yield "addcdiv", "L.addcdiv(x, y, p, value=0.5)"
    yield "where", "L.where(b, x, y)"
    yield "pow 2.5", "p ** 2.5"
    yield "pow 2", "x ** 2"
    yield "add a number", "x + 1.5"
    yield "add, transposed", "m_a + t_a"
    yield "copy, transposed", "t_a.contiguous()"
    yield "exp, transposed", "t_a.exp() + m_a"
    yield "to float64", "x.double()"
    yield "to int64", "x.long()"
    yield "to bfloat16", "x.bfloat16()"
    yield "to bool", "x.bool()"
    yield "isclose", "L.isclose(x, y)"
    yield "allclose", "L.isclose(x, x).all()"
    yield "isin", "L.isin(k, rows[:50])"
    for name in REDUCTION.split():
        operand = "b" if name in ("all", "any") else "m_a"
        whole = "L.reshape(b, (-1, 1024))" if operand == "b" else operand
        dim = "-1" if name in ("logsumexp",) else ""
        if name != "logsumexp":
            yield name, f"L.{name}({'b' if operand == 'b' else 'x'})"
        yield f"{name} of rows", f"L.{name}({whole}, dim={dim or '1'})"
        yield f"{name} of columns", f"L.{name}({whole}, dim=0)"
    yield "sum of int64", "i.sum()"
    yield "sum of rows, transposed", "t_a.sum(1)"
    yield "max of rows with indices", "L.max(m_a, 1)"
    yield "aminmax", "L.aminmax(x)"
    yield "var_mean of rows", "L.var_mean(m_a, 1)"
    yield "quantile", "L.quantile(s, 0.3)"
    yield "mode of rows", "L.mode(s_rows.round(decimals=1), 1)", True
    for name in SCAN.split():
        yield f"{name} of rows", f"L.{name}(m_a, 1)"
        yield f"{name} of columns", f"L.{name}(m_a, 0)"
    yield "cumsum of one axis", "L.cumsum(x, 0)"
    yield "cumsum of int64", "L.cumsum(i, 0)"
    yield "diff", "L.diff(m_a)"
    yield "trapezoid", "L.trapezoid(m_a)"
    yield "bincount", "L.bincount(k)"
    yield "histc", "L.histc(x, 100, -1, 1)"
    yield "cdist", "L.cdist(sq, right)"
    yield "cov", "L.cov(sq)"
    yield "corrcoef", "L.corrcoef(sq)"
    yield "renorm", "L.renorm(m_a, 2, 0, 5.0)"
    # movement
    yield "cat", "L.cat([m_a, m_b])"
    yield "cat along rows", "L.cat([m_a, m_b], 1)"
    yield "stack", "L.stack([x, y])"
    yield "stack, last", "L.stack([x, y], -1)"
    yield "flip", "L.flip(m_a, [1])"
    yield "flip rows", "L.flip(m_a, [0])"
    yield "roll", "L.roll(m_a, 5, 1)"
    yield "repeat", "s_rows.repeat(2, 2)"
    yield "tile", "L.tile(s, (4,))"
    yield "repeat_interleave", "L.repeat_interleave(s, 4)"
    yield "tril", "L.tril(m_a)"
    yield "triu", "L.triu(m_a)"
    yield "rot90", "L.rot90(m_a)"
    yield "permute, contiguous", "images.permute(0, 2, 3, 1).contiguous()"
    yield "pad", "F.pad(m_a, (1, 1, 1, 1))"
    yield "pad, reflect", "F.pad(images, (2, 2, 2, 2), mode='reflect')"
    yield "meshgrid, contiguous", "L.meshgrid(fifty, s, indexing='ij')[1].contiguous()"
    yield "kron", "L.kron(sq[:32, :32], right[:32, :32])"
    yield "diag_embed", "L.diag_embed(s_rows[:32])"
    yield "unfold", "F.unfold(images, 3)"
    yield "fold", "F.fold(F.unfold(images[:2], 3), (128, 128), 3)"
    # indexing and order
    yield "gather", "L.gather(s, 0, k)"
    yield "index_select", "L.index_select(table, 0, rows)"
    yield "index by integers", "s[k]"
    yield "index rows", "table[rows]"
    yield "take", "L.take(s, k)"
    yield "index_add", "L.index_add(table, 0, rows, g_more.detach())"
    yield "scatter_add", "L.scatter_add(s, 0, k, s)"
    yield "scatter", "L.scatter(s, 0, k, s)"
    yield "scatter_reduce, amax", "L.scatter_reduce(s, 0, k, s, 'amax')"
    yield "index_put", "L.index_put(s, (k,), s)"
    yield "masked_fill", "x.masked_fill(b, 0.0)"
    yield "masked_select", "x[b]"
    yield "nonzero", "L.nonzero(b)"
    yield "where of one", "L.where(b)"
    yield "sort", "L.sort(s)"
    yield "sort of rows", "L.sort(s_rows, 1)"
    yield "argsort of int64", "L.argsort(k)"
    yield "topk of rows", "L.topk(s_rows, 10, 1)"
    yield "topk", "L.topk(s, 100)"
    yield "kthvalue of rows", "L.kthvalue(s_rows, 100, 1)"
    yield "unique", "L.unique(k)"
    yield "unique with counts", "L.unique(k % 1000, return_counts=True)"
    yield "unique_consecutive", "L.unique_consecutive(k)"
    yield "searchsorted", "L.searchsorted(sorted, s)"
    yield "bucketize", "L.bucketize(s, sorted)"
    # creation and random
    yield "arange", "L.arange(1 << 22, device=x.device)"
    yield "zeros", "L.zeros(1 << 24, device=x.device)"
    yield "linspace", "L.linspace(0, 1, 1 << 22, device=x.device)"
    yield "rand", "L.rand_like(x)", True
    yield "randn", "L.randn_like(x)", True
    yield "randint", "L.randint_like(x, 0, 100)", True
    yield "randperm", "L.randperm(1 << 18, device=x.device)", True
    yield "bernoulli", "L.bernoulli(b.float())", True
    yield "multinomial", "L.multinomial(s_rows[:64].abs(), 10)", True
    yield "exponential_", "s.clone().exponential_()", True
    yield "dropout", "F.dropout(x, 0.3)", True
    # linear algebra
    yield "matmul", "sq @ right"
    yield "matmul, transposed", "sq.t() @ right"
    yield "bmm", "L.bmm(batch, batch)"
    yield "mv", "m_a.mv(m_a[0])"
    yield "dot", "L.dot(x, y)"
    yield "outer", "L.outer(m_a[0], m_a[1])"
    yield "einsum", "L.einsum('bij,bjk->bik', batch, batch)"
    yield "addmm", "L.addmm(right, sq, right)"
    yield "trace", "m_a.trace()"
    yield "inv", "L.linalg.inv(sq)"
    yield "solve", "L.linalg.solve(sq, right)"
    yield "solve_triangular", "L.linalg.solve_triangular(sq, right, upper=False)"
    yield "det of small ones", "L.linalg.det(small)"
    yield "cholesky", "L.linalg.cholesky(sym)"
    yield "qr", "L.linalg.qr(sq[:256, :256])[1].abs()"
    yield "svdvals", "L.linalg.svdvals(sq[:128, :128])"
    yield "eigvalsh", "L.linalg.eigvalsh(sym[:128, :128])"
    yield "lstsq", "L.linalg.lstsq(sq[:, :64], right[:, :4])[0]"
    yield "matrix_exp", "L.matrix_exp(small * 0.01)"
    # layers
    yield "softmax of rows", "F.softmax(m_a, 1)"
    yield "softmax of columns", "F.softmax(m_a, 0)"
    yield "log_softmax of rows", "F.log_softmax(m_a, 1)"
    yield "layer_norm", "F.layer_norm(s_rows, (1024,))"
    yield "rms_norm", "F.rms_norm(s_rows, (1024,))"
    yield "group_norm", "F.group_norm(images, 4)"
    yield "batch_norm", "F.batch_norm(images, None, None, training=True)"
    yield "instance_norm", "F.instance_norm(images)"
    yield "normalize", "F.normalize(s_rows)"
    yield "local_response_norm", "F.local_response_norm(images, 5)"
    yield "linear", "F.linear(s_rows[:256], s_rows[:256])"
    yield "embedding", "F.embedding(rows, table)"
    yield "embedding_bag", "F.embedding_bag(rows.reshape(-1, 8), table)"
    yield "one_hot", "F.one_hot(labels, 1024)"
    yield "max_pool2d", "F.max_pool2d(images, 2)"
    yield "max_pool2d 3x3", "F.max_pool2d(images, 3, 2, 1)"
    yield "avg_pool2d", "F.avg_pool2d(images, 2)"
    yield "avg_pool2d 3x3", "F.avg_pool2d(images, 3, 2, 1)"
    yield "adaptive_avg_pool2d", "F.adaptive_avg_pool2d(images, 7)"
    yield "adaptive_avg_pool2d to 1", "F.adaptive_avg_pool2d(images, 1)"
    yield "interpolate, nearest", "F.interpolate(images, scale_factor=2)"
    yield "interpolate, bilinear", "F.interpolate(images, scale_factor=2, mode='bilinear')"
    yield "pixel_shuffle", "F.pixel_shuffle(images, 4)"
    yield "grid_sample", "F.grid_sample(images, images[:, :2].permute(0, 2, 3, 1))"
    yield "conv2d", "F.conv2d(images, images[:, :, :3, :3])"
    yield "glu", "F.glu(s_rows)"
    yield "prelu", "F.prelu(m_a, x[:1])"
    yield "cosine_similarity", "F.cosine_similarity(m_a, m_b)"
    yield "pairwise_distance", "F.pairwise_distance(m_a, m_b)"
    yield "mse_loss", "F.mse_loss(x, y)"
    yield "l1_loss", "F.l1_loss(x, y)"
    yield "smooth_l1_loss", "F.smooth_l1_loss(x, y)"
    yield "cross_entropy", "F.cross_entropy(g_rows, labels)"
    yield "binary_cross_entropy_with_logits", "F.binary_cross_entropy_with_logits(x, p)"
    yield "kl_div", "F.kl_div(x, p)"
    # gradients
    for name in "relu gelu silu tanh sigmoid softplus".split():
        yield f"{name}, gradient", f"G(F.{name}(g_x), g_x)"
    yield "exp, gradient", "G(g_x.exp(), g_x)"
    yield "mul, gradient", "G(g_x * y, g_x)"
    yield "sum of rows, gradient", "G(g_m.sum(1), g_m)"
    yield "amax of rows, gradient", "G(g_m.amax(1), g_m)"
    yield "cumsum of rows, gradient", "G(g_m.cumsum(1), g_m)"
    yield "softmax, gradient", "G(F.softmax(g_m, 1), g_m)"
    yield "layer_norm, gradient", "G(F.layer_norm(g_rows, (1024,), g_scale, g_bias), g_rows, g_scale, g_bias)"
    yield "cross_entropy, gradient", "G(F.cross_entropy(g_rows, labels), g_rows)"
    yield "embedding, gradient", "G(F.embedding(rows, g_table), g_table)"
    yield "index rows, gradient", "G(g_table[rows], g_table)"
    yield "gather, gradient", "G(g_x.gather(0, k), g_x)"
    yield "max_pool2d, gradient", "G(F.max_pool2d(g_images, 2), g_images)"
    yield "avg_pool2d, gradient", "G(F.avg_pool2d(g_images, 2), g_images)"
    yield "batch_norm, gradient", "G(F.batch_norm(g_images, None, None, training=True), g_images)"
    # so much that memory decides
    yield "sort of x", "L.sort(x)"
    yield "argsort of x", "L.argsort(x)"
    yield "sort of long rows", "L.sort(m_a.reshape(-1, 4096), 1)"
    yield "topk of x", "L.topk(x, 100)"
    yield "topk of long rows", "L.topk(m_a.reshape(-1, 4096), 10, 1)"
    yield "median of long rows", "L.median(m_a.reshape(-1, 4096), 1)"
    layers = {
        "batch_norm": "batch_norm(g_layers, None, None, training=True)",
        "group_norm": "group_norm(g_layers, 8)",
        "max_pool2d": "max_pool2d(g_layers, 2)",
        "max_pool2d 3x3": "max_pool2d(g_layers, 3, 2, 1)",
        "avg_pool2d": "avg_pool2d(g_layers, 2)",
        "interpolate, bilinear": "interpolate(g_layers, scale_factor=2, mode='bilinear')",
        "interpolate, nearest": "interpolate(g_layers, scale_factor=2)",
    }
    for name, expression in layers.items():
        yield f"{name} of layers", f"F.{expression}"
        yield f"{name} of layers, gradient", f"G(F.{expression}, g_layers)"
    yield "sort of rows, gradient", "G(L.sort(g_rows, 1)[0], g_rows)"


CASES = [(*case, False) if len(case) == 2 else case for case in _cases()]
