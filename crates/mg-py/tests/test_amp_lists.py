"""Mixed precision, operation by operation: the lists are PyTorch's, and so are the dtypes of the answers."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from micrograd_rs._micrograd_rs import _autocast_lists, _operations, _rows
from surface import samples
from surface.run import dtypes, within_autocast

# PyTorch's kernels beside those of ours that stand for them.
OURS = {
    "_convolution": "conv2d", "convolution": "conv2d", "cudnn_convolution": "conv2d", "cudnn_convolution_transpose": "conv_transpose2d",
    "cross_entropy_loss": "cross_entropy", "_lu_with_info": "lu_factor", "grid_sampler": "grid_sample",
    "grid_sampler_2d": "grid_sample", "grid_sampler_3d": "grid_sample", "_grid_sampler_2d_cpu_fallback": "grid_sample",
    "mkldnn_rnn_layer": "lstm", "_cudnn_rnn": "lstm", "multilabel_margin_loss_forward": "multilabel_margin_loss",
    "nll_loss2d": "nll_loss", "_native_multi_head_attention": "multi_head_attention_forward",
    "_scaled_dot_product_flash_attention": "scaled_dot_product_attention", "_thnn_fused_gru_cell": "gru_cell",
    "_thnn_fused_lstm_cell": "lstm_cell", "frobenius_norm": "norm", "nuclear_norm": "norm", "native_layer_norm": "layer_norm",
    "svd": "svd", "vdot": "dot", "_addmm_activation": "addmm",
}  # fmt: skip
# There is nothing of the kind here: complex numbers, Fourier transforms, quantisation, sparse and internal kernels.
ABSENT = {
    "cdist", "conv_tbc", "fake_quantize_per_tensor_affine", "geqrf", "linalg_eig", "linalg_eigvals", "linalg_matrix_sqrth", "ormqr",
    "polar", "stft", "view_as_complex",
}  # fmt: skip
# PyTorch pads by reflection and replication on the CPU in float32 by these names; `pad` here moves numbers, in any dtype.
MOVES = {"reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d", "replication_pad3d"}


def names():
    declared = {o["name"]: o for o in _operations()}
    aliases = {alias: o["name"] for o in _operations() for alias in o["aliases"]}
    return declared, aliases


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_what_is_listed_is_declared(device):
    declared, _ = names()
    rows = {name for name, _, _ in _rows()}
    listed = [name for name, _ in _autocast_lists(device)]
    assert len(listed) == len(set(listed)), "twice on the lists"
    assert not set(listed) - set(declared) - rows


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_what_pytorch_lists_is_listed(device):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    key = {"cpu": "AutocastCPU", "cuda": "AutocastCUDA"}[device]
    theirs = {
        name.removeprefix("aten::").split(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::") and torch._C._dispatch_has_kernel_for_dispatch_key(name, key)
    }
    listed = {name for name, _ in _autocast_lists(device)}
    declared, aliases = names()
    missing = set()
    for name in theirs:
        if name in ABSENT or name in MOVES or name.startswith(("fft_", "upsample_", "_upsample_")):
            continue
        short = name.removeprefix("linalg_")
        own = [n for n in (OURS.get(name, name), short, aliases.get(name, ""), aliases.get(short, "")) if n in declared]
        assert own, f"{name} is on PyTorch's list, and nothing here stands for it"
        if not any(n in listed for n in own):
            missing.add(name)
    assert not missing


# Samples whose dtypes differ in a region, with the reason.
INTENDED = {
    "pinv": "the product at its end stays in float32, as all of `pinverse` does",
    "pad": "reflection and replication move numbers, which they do in any dtype",
    "local_response_norm": "one operation here; of four axes PyTorch's is a pool of three axes, in float32",
    "L.linalg.lu(e)": "without a matrix PyTorch answers before it asks",
    "F.max_pool3d(r4.unsqueeze(0).round(), 2, 1, return_indices=True)": "in float32 with indices or without",
    "L.tensordot(h, h, 3)": "a full contraction is a product like any other, not a sum of products",
    "L.tensordot(m, m)": "a full contraction is a product like any other, not a sum of products",
    **dict.fromkeys(
        (
            "v.inner(w)", "L.inner(z, x)", 'L.einsum("i,j->ij", v, w)', 'L.einsum("...,...", x, c)', 'L.einsum("ij,->ij", x, z)',
            'L.einsum("ij,ij->ij", x, c)', 'L.einsum("ij,kj->ik", x, c)', 'L.einsum("a,b,c,d,e,f,g,h,i->", *[v] * 9)',
        ),
        "on the CPU PyTorch's is lower only where it comes down to a product of matrices; on CUDA devices it always is",
    ),
    "packed_rnn": "a layer is one operation here; PyTorch's is of many, and its dtype is that of the last one",
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("family", samples.families())
def test_answers_have_pytorchs_dtypes(family, dtype):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    wrong = []
    for name, expressions in samples.of(family).items():
        for sample in expressions:
            call = sample["call"]
            # What is written otherwise for PyTorch is composed of other operations there.
            if sample["error"] or name in INTENDED or call in INTENDED or call != sample["torch"]:
                continue
            if "weight=" in call and name in ("mse_loss", "l1_loss", "huber_loss"):
                continue  # Weighed ones are products of tensors there, and losses here.
            try:
                theirs = within_autocast(torch, torch.nn.functional, call, dtype)
            except Exception:  # noqa: BLE001
                continue  # PyTorch has no such kernel for bfloat16.
            try:
                ours = within_autocast(mg, mg.nn.functional, call, dtype)
            except TypeError:
                # Here there is none, with a region or without.
                assert dtypes(mg, mg.nn.functional, call)["bfloat16"] == "error", call
                continue
            if ours != theirs:
                wrong.append(f"{call}: {ours}, PyTorch {theirs}")
    assert not wrong, "\n".join(wrong)
