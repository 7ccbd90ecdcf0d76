"""Archives of ``torch.export``, and what PyTorch computed: run where torch and onnxruntime are installed.

``PYTHON -m tests.pt2.recording`` writes ``saved/networks.npz``: each network's archive, what it is fed, what came out
and the gradients of the mean squared distance to a label; and ``saved/operators.npz``: modules that use many operators
each, as they are exported and decomposed to the operators of Core ATen, with all their outputs and gradients.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SAVED = Path(__file__).parent / "saved"

EXPORTED_ONLY = ("detached", "masks")
"""Modules that torch 2.13 does not decompose as they are: without what was detached, or not at all."""

Function = Callable[[Any], Any]


class Group(nn.Module):
    """Functions of one tensor, or of several that are made of it; the last output is the loss."""

    def __init__(self, functions: Sequence[Function], shape: Sequence[int]) -> None:
        super().__init__()
        self.functions = functions
        self.weight = nn.Parameter(torch.rand(*shape) * 0.5 + 0.75)

    def forward(self, x: Any) -> Any:
        x = x * self.weight
        outputs = []
        for function in self.functions:
            made = function(x)
            outputs += made if isinstance(made, (tuple, list)) else [made]
        loss = 0.0
        for y in outputs:
            if y.dtype.is_floating_point and y.requires_grad:
                loss = loss + (y * torch.arange(y.numel(), dtype=y.dtype).reshape(y.shape).cos()).sum()
        return [*outputs, loss]


def written(function: Callable[[Any], Any]) -> Function:
    """A function that writes into a copy of its operand; it gives the copy."""

    def apply(x: Any) -> Any:
        y = x.clone()
        function(y)
        return y

    return apply


def _write_through(y: Any) -> None:
    part = y.transpose(0, 1)[1]
    part.mul_(2)
    y[:, 0] = part.sum()
    part.add_(y[0, 0])


def groups() -> dict[str, tuple[Sequence[Function], Sequence[int]]]:
    """Name -> functions, and the shape of their operand; its elements lie between 0.3 and 2.5."""
    ids = torch.tensor([[1, 0, 2], [2, 0, 1]])
    one = torch.tensor([2, 0])
    table = torch.randn(5, 3)
    half = torch.tensor([[True, False, True, True], [False, False, True, False], [True, True, True, False]])
    return {
        "elementwise": (
            [
                torch.abs, torch.atan, torch.ceil, torch.cos, torch.cosh, torch.erf, torch.exp, torch.expm1,
                torch.floor, torch.frac, torch.lgamma, torch.log, torch.log10, torch.log1p, torch.log2,
                torch.neg, torch.reciprocal,
                torch.rsqrt, torch.sigmoid, torch.sign, torch.sin, torch.sinh, torch.sqrt, torch.square, torch.tan,
                torch.tanh, torch.trunc, torch.round, lambda x: torch.asin(x / 3), lambda x: torch.acos(x / 3),
                lambda x: torch.asinh(x), lambda x: torch.acosh(x + 1), lambda x: torch.atanh(x / 3), torch.digamma,
                lambda x: torch.erfinv(x / 3), torch.erfc, torch.exp2, lambda x: torch.logit(x / 3), torch.sgn,
                torch.nan_to_num, torch.deg2rad,
            ],
            (3, 4),
        ),
        "binary": (
            [
                lambda x: x + 1, lambda x: 2 - x, lambda x: x - x.mean(), lambda x: torch.add(x, x.exp(), alpha=0.5),
                lambda x: torch.sub(x, x.exp(), alpha=2), lambda x: x / 3, lambda x: 3 / x,
                lambda x: x.detach() // 0.4,
                lambda x: x % 0.4, lambda x: torch.fmod(-x, 0.4), lambda x: x**2, lambda x: x**1.5, lambda x: 2**x,
                lambda x: x**x, lambda x: torch.atan2(x, x.flip(0)), lambda x: torch.maximum(x, x.flip(1)),
                lambda x: torch.minimum(x, torch.tensor(1.0)), lambda x: x.clamp(0.5, 1.5), lambda x: x.clamp(min=1),
                lambda x: x.clamp_max(1), lambda x: torch.div(x, 0.3, rounding_mode="floor"),
                lambda x: torch.div(-x, 0.3, rounding_mode="trunc"), lambda x: torch.hypot(x, x + 1),
                lambda x: torch.logaddexp(x, x * 2), lambda x: x > 1, lambda x: x.eq(x.flip(0)), lambda x: x != 1,
                lambda x: (x > 1) & (x < 2), lambda x: (x > 1) | ~(x < 2), lambda x: (x > 1) ^ (x < 2),
                lambda x: torch.where(x > 1, x, 0), lambda x: x.masked_fill(x > 1, float("-inf")).exp(),
                lambda x: torch.lerp(x, x * 3, 0.3), lambda x: torch.addcmul(x, x, x + 1, value=0.5),
                lambda x: torch.addcdiv(x, x, x + 1, value=0.5), lambda x: torch.xlogy(x - x.min(), x),
                lambda x: x.to(torch.float64) * 2, lambda x: (x * 10).to(torch.int64), lambda x: (x * 10).long() // 3,
                lambda x: -(x * 10).long() % 3, lambda x: (x * 10).long() / 4, lambda x: (x * 10).int() + 1.5,
                lambda x: (x * 10).long() * x, lambda x: (x * 9).int() << 1, lambda x: (x > 1) + 1,
                lambda x: (x > 1).float().mean(), lambda x: x.bool().logical_not(), lambda x: torch.isnan(x),
                lambda x: x.bfloat16() + 1, lambda x: x.half() * 2, lambda x: (x * 9).to(torch.uint8) + 1,
                lambda x: torch.copysign(x, -x), lambda x: torch.heaviside(x.detach() - 1, x.detach()),
                lambda x: torch.fmax(x, 1 / x),
                lambda x: torch.div((x * 10).long(), -3, rounding_mode="trunc"), lambda x: torch.isclose(x, x),
            ],
            (3, 4),
        ),
        "activations": (
            [
                lambda x: F.relu(x - 1), lambda x: F.relu6(x * 4), lambda x: F.leaky_relu(x - 1, 0.2),
                lambda x: F.elu(x - 1, 0.7), F.celu, F.selu, F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.silu,
                F.mish, F.softplus, lambda x: F.softplus(x, 2, 1), lambda x: F.hardtanh(x, -1, 1), F.hardswish,
                F.hardsigmoid, F.logsigmoid, F.softsign, F.tanhshrink, lambda x: F.softshrink(x, 0.9),
                lambda x: F.hardshrink(x, 0.9), lambda x: F.threshold(x, 1, 0.3), lambda x: F.glu(x, 1),
                lambda x: F.prelu(x - 1, torch.tensor([0.3])), lambda x: x.softmax(1), lambda x: x.log_softmax(0),
                lambda x: F.dropout(x, 0.5, False), lambda x: F.normalize(x), lambda x: F.softmin(x, 0),
            ],
            (3, 4),
        ),
        "shapes": (
            [
                lambda x: x.reshape(4, 6), lambda x: x.view(-1), lambda x: x.flatten(1),
                lambda x: x.unflatten(2, (2, 2)),
                lambda x: x.permute(2, 0, 1), lambda x: x.transpose(-1, 0), lambda x: x[0].t(), lambda x: x.mT,
                lambda x: x.movedim(0, 2), lambda x: x.unsqueeze(1).squeeze(), lambda x: x.unsqueeze(-1).squeeze(-1),
                lambda x: x[:, :1].expand(2, 3, 4), lambda x: x[0].expand(5, -1, -1), lambda x: x[:, 1:, ::2],
                lambda x: x[..., -1], lambda x: x[:, -2:], lambda x: x.narrow(2, 1, 2), lambda x: x.diagonal(0, 1, 2),
                lambda x: torch.diag_embed(x[0, 0]), lambda x: torch.diag_embed(x[0], -1, 0, 2),
                lambda x: torch.cat([x, x * 2], 1), lambda x: torch.stack([x, x], -1),
                lambda x: x.split(2, 2), lambda x: x.split([1, 2], 1), lambda x: x.chunk(2, 2), lambda x: x.unbind(1),
                lambda x: torch.tensor_split(x, 3, 2), lambda x: torch.tensor_split(x, (1, 3), 2),
                lambda x: x.narrow(0, -1, 1), lambda x: x.repeat(1, 2, 1),
                lambda x: x.repeat_interleave(2, 1),
                lambda x: x.flip(0, 2), lambda x: x.roll(1, 2), lambda x: x.roll((1, 2), (0, 1)), torch.tril,
                lambda x: torch.triu(x, 1), lambda x: F.pad(x, (1, 2)), lambda x: F.pad(x, (1, -1, 0, 2), value=3.0),
                lambda x: F.pad(x, (1, 2), "reflect"), lambda x: F.pad(x, (1, 1), "replicate"),
                lambda x: F.pad(x, (1, 2), "circular"), lambda x: x.unfold(2, 2, 1),
                lambda x: torch.rot90(x, 1, (1, 2)),
                lambda x: torch.meshgrid(x[0, 0], x[0, :, 0], indexing="ij"), lambda x: x.contiguous() + x.numel(),
                lambda x: torch.meshgrid(x[0, 0], x[0, :, 0], indexing="xy"), lambda x: x.new_zeros(2) + x.size(1),
                lambda x: F.pixel_shuffle(x.reshape(1, 4, 2, 3), 2), lambda x: x.swapaxes(0, 1),
                lambda x: F.pixel_unshuffle(x.reshape(1, 1, 4, 6), 2), lambda x: torch.block_diag(x[0], x[1]),
            ],
            (2, 3, 4),
        ),
        "reductions": (
            [
                torch.sum, lambda x: x.sum(1), lambda x: x.sum((0, 2), keepdim=True), lambda x: x.mean(-1), torch.mean,
                lambda x: x.prod(1), torch.prod, lambda x: x.amax((1, 2)), lambda x: x.amin(0), torch.max,
                lambda x: x.max(1), lambda x: x.min(2, keepdim=True), lambda x: x.argmax(1), torch.argmin,
                lambda x: x.var(1), lambda x: x.std(), lambda x: x.var((0, 1), correction=0),
                lambda x: torch.var_mean(x, 2),
                lambda x: torch.std_mean(x, 1, unbiased=False), lambda x: x.norm(), lambda x: x.norm(dim=1),
                lambda x: torch.linalg.vector_norm(x, 1, 2), lambda x: torch.linalg.vector_norm(x, 2, (0, 2)),
                lambda x: torch.linalg.vector_norm(x, 3),
                lambda x: torch.linalg.vector_norm(x, float("inf"), 1), lambda x: x.logsumexp(1),
                lambda x: x.cumsum(1),
                lambda x: x.cumprod(2), lambda x: x.logcumsumexp(1), lambda x: x.cummax(2), lambda x: (x > 1).all(),
                lambda x: (x > 1).any(1), lambda x: (x > 1).sum(), lambda x: x.median(1), lambda x: x.kthvalue(2, 2),
                lambda x: x.topk(2), lambda x: x.topk(2, 1, largest=False), lambda x: x.sort(2, descending=True),
                lambda x: x.argsort(1), lambda x: x.sort(stable=True), torch.aminmax, lambda x: x[0].trace(),
                lambda x: (x > 1).count_nonzero(), lambda x: x.nansum(1), lambda x: torch.dist(x, x.flip(0)),
                lambda x: x.median(), lambda x: x.diff(dim=1), lambda x: x.sum(dtype=torch.float64),
            ],
            (2, 3, 4),
        ),
        "products": (
            [
                lambda x: x[0] @ x[1].t(), lambda x: torch.bmm(x, x.mT), lambda x: torch.matmul(x, x[0].t()),
                lambda x: x[0] @ x[0, 0], lambda x: x[0, 0] @ x[0, 1],
                lambda x: torch.addmm(x[0, :3, :3], x[0], x[1].t()),
                lambda x: torch.addmm(x[0, 0, :3], x[0], x[1].t(), beta=0.5, alpha=2),
                lambda x: torch.outer(x[0, 0], x[0, 1]),
                lambda x: torch.baddbmm(x[:, :, :3], x, x.mT), lambda x: torch.einsum("bij,bkj->bik", x, x),
                lambda x: F.linear(x, x[0]), lambda x: F.linear(x, x[0], x[0, :, 0]),
                lambda x: torch.inner(x[0], x[1]),
                lambda x: torch.tensordot(x, x[0], ([2], [1])), lambda x: F.cosine_similarity(x, x.flip(1), 2),
                lambda x: F.bilinear(x, x, x[:, :, :4].repeat(1, 2, 1)[:, :4], None),
                lambda x: F.scaled_dot_product_attention(x, x * 2, x), lambda x: torch.linalg.det(x[:, :3, :3]),
                lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), lambda x: torch.cdist(x, x * 2),
                lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=half[:, :3]),
                lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=x[0, :, :3], scale=0.3),
                lambda x: F.scaled_dot_product_attention(
                    x.repeat(1, 2, 1)[:, :, None].mT, x[:, :, None].mT, x[:, :, None].mT, enable_gqa=True
                ),
            ],
            (2, 3, 4),
        ),
        "picking": (
            [
                lambda x: x[one], lambda x: x[:, ids], lambda x: x[one, one],
                lambda x: x[None, None][:, one * 0, :, ids[0, :2]],
                lambda x: x[None][:, one, one], lambda x: x[-one], lambda x: x[ids, ids], lambda x: x[one][:, one],
                lambda x: x.index_select(1, one), lambda x: x.gather(1, ids),
                lambda x: F.embedding(ids, x), lambda x: F.embedding(ids, x, padding_idx=2),
                lambda x: x.scatter(1, ids, x[1:, :3]), lambda x: x.scatter(1, ids, 3.0),
                lambda x: x.scatter_add(1, ids, x[1:, :3]),
                lambda x: x.scatter_reduce(1, ids, x[1:, :3], "amax"), lambda x: x.index_add(0, one, x[:2]),
                lambda x: x.index_fill(1, one, 0.5), lambda x: x.index_copy(1, one, x[:, 2:]),
                lambda x: F.one_hot(ids, 4),
                lambda x: torch.index_put(x, (one,), x[0]), lambda x: torch.index_put(x, (one, one + 1), x[0, 0]),
                lambda x: torch.index_put(x, (one,), x[1], accumulate=True),
                lambda x: x.masked_scatter(half, x.flip(0)),
                lambda x: x.select_scatter(x[:, 0], 1, 2), lambda x: x.slice_scatter(x[:, 2:], 1, 0, 2),
                lambda x: x.take(ids),
                lambda x: torch.searchsorted(torch.arange(5.0) / 2, x), lambda x: torch.take_along_dim(x[:2], ids, 1),
                lambda x: torch.bucketize(x, torch.arange(5.0) / 2), lambda x: table[ids] * x[0, 0],
                lambda x: torch.index_put(x, (half,), torch.tensor(2.0)), lambda x: x[None, one, None],
            ],
            (3, 4),
        ),
        "masks": ([lambda x: x[half], lambda x: x.masked_select(x > 1), lambda x: (x > 1).nonzero()], (3, 4)),
        "making": (
            [
                lambda x: x + torch.zeros(3, 4), lambda x: torch.ones_like(x) * x,
                lambda x: torch.full((2, 2), 3.5) * x.sum(),
                lambda x: torch.arange(4) * x, lambda x: torch.arange(1, 9, 2) + x,
                lambda x: torch.linspace(0, 1, 4) + x,
                lambda x: torch.eye(4) @ x.t(), lambda x: x.new_full((4,), 2) * x, lambda x: torch.full_like(x, 7),
                lambda x: torch.tensor(2.0) * x, lambda x: torch.arange(0, 1, 0.25) * x,
                lambda x: torch.tril_indices(3, 3),
                lambda x: torch.empty(3, 4).fill_(2) * x, lambda x: torch.hann_window(4) * x,
                lambda x: torch.ones(4, 4).tril(),
                lambda x: torch.rand(3, 4) * 0 + x, lambda x: torch.randn_like(x) * 0 + x,
                lambda x: torch.randint(1, 2, (2,)),
                lambda x: torch.bernoulli(torch.ones(4)) * x, lambda x: torch.randperm(4).sort()[0] + x,
            ],
            (3, 4),
        ),
        "written": (
            [
                written(lambda y: y.mul_(2)), written(lambda y: y.relu_()), written(lambda y: y.fill_(3)),
                written(lambda y: y.index_add_(0, one, y[:2].clone())), written(lambda y: y.triu_(1)),
                written(lambda y: y.scatter_add_(1, ids, y[1:, :3].clone())),
                written(lambda y: y.sub_(y.clone(), alpha=2)),
                written(lambda y: y.clamp_max_(1)), written(lambda y: y.div_(0.3, rounding_mode="floor")),
                written(lambda y: y[0].fill_(3)), written(lambda y: y[:, 1:3].mul_(y[:, :2].clone())),
                written(_write_through),
                written(lambda y: y.t()[1].copy_(y[1, 0])), written(lambda y: y.view(-1)[3:5].zero_()),
                written(lambda y: y.masked_fill_(y > 1, 0)), written(lambda y: y.index_put_((one,), y[0].clone())),
                written(lambda y: y.unsqueeze(0)[0, 1].add_(1)), written(lambda y: y.clamp_(0.5, 1)),
                written(lambda y: y.permute(1, 0)[1:].div_(2)),
            ],
            (3, 4),
        ),
        "windows": (
            [
                lambda x: F.conv2d(x, x[:, :, :3, :3]),
                lambda x: F.conv2d(x, x[:, :1, :2, :2], padding=1, groups=2, stride=2),
                lambda x: F.conv2d(x, x[:, :, :3, :3], x[0, :, 0, 0], padding="same"),
                lambda x: F.conv1d(x[0], x[0, :, :, :3]),
                lambda x: F.conv2d(x, x[:, :, :2, :2], dilation=2),
                lambda x: F.conv2d(x, x[:, :, :2, :3], padding="same", dilation=2),
                lambda x: F.conv3d(x[None], x[None, :, :, :2, :2]),
                lambda x: F.conv_transpose2d(x, x[:, :, :2, :2], stride=2, output_padding=1),
                lambda x: F.conv_transpose1d(x[0], x[0, :, :, :2].transpose(0, 1), stride=2),
                lambda x: F.max_pool2d(x, 2),
                lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), lambda x: F.max_pool1d(x[0], 2),
                lambda x: F.max_pool2d(x, 2, return_indices=True), lambda x: F.avg_pool2d(x, 2, 1, 1),
                lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), lambda x: F.avg_pool1d(x[0], 2),
                lambda x: F.avg_pool2d(x, 2, divisor_override=3), lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
                lambda x: F.adaptive_avg_pool2d(x, 1), lambda x: F.adaptive_max_pool2d(x, 2), lambda x: F.unfold(x, 2),
                lambda x: F.fold(x.reshape(2, 8, 9), (4, 4), 2), lambda x: F.adaptive_avg_pool1d(x[0], 2),
                lambda x: F.interpolate(x, scale_factor=2), lambda x: F.interpolate(x, 5, mode="bilinear"),
                lambda x: F.interpolate(x, 7, mode="bilinear", align_corners=True),
                lambda x: F.interpolate(x[0], 6, mode="linear"),
                lambda x: F.interpolate(x, 7, mode="bicubic"), lambda x: F.interpolate(x[0], 9),
                lambda x: F.avg_pool3d(x, 2, 1),
                lambda x: F.grid_sample(x, (x[:, :2, :2].permute(0, 2, 3, 1)[..., :2] - 1), align_corners=False),
                lambda x: F.local_response_norm(x, 3), lambda x: F.lp_pool2d(x, 2, 2),
            ],
            (2, 2, 6, 6),
        ),
        "normalizations": (
            [
                lambda x: F.layer_norm(x, (4,)), lambda x: F.layer_norm(x, (2, 3, 4)),
                lambda x: F.layer_norm(x, (4,), eps=0.1), lambda x: torch._weight_norm(x, x[:, :1, :1], 0),
                lambda x: F.layer_norm(x, (3, 4), x[0], x[1]),
                lambda x: F.group_norm(x.reshape(1, 6, 2, 2), 3), lambda x: F.rms_norm(x, (4,)),
                lambda x: F.rms_norm(x, (4,), x[0, 0]),
                lambda x: F.group_norm(x.repeat(1, 2, 1), 2, x[0].reshape(-1)[:6], x[1].reshape(-1)[:6]),
                lambda x: F.instance_norm(x), lambda x: F.batch_norm(x, torch.zeros(3), torch.ones(3)),
                lambda x: F.batch_norm(x, torch.zeros(3), torch.ones(3), x[0, :, 0], x[1, :, 0]),
                lambda x: F.batch_norm(x, None, None, x[0, :, 0], x[1, :, 0], training=True),
                lambda x: F.batch_norm(x[0], torch.zeros(4), torch.ones(4), x[0, 0], x[0, 1]),
            ],
            (2, 3, 4),
        ),
        "losses": (
            [
                lambda x: F.mse_loss(x, x.flip(0)), lambda x: F.l1_loss(x, x.flip(0) * 2, reduction="sum"),
                lambda x: F.smooth_l1_loss(x * 3, x.flip(0)), lambda x: F.huber_loss(x * 3, x.flip(0), delta=0.7),
                lambda x: F.cross_entropy(x, torch.tensor([1, 3, 0])), lambda x: F.cross_entropy(x, x.softmax(1)),
                lambda x: F.cross_entropy(x, torch.tensor([1, 3, 0]), torch.arange(1.0, 5), reduction="none"),
                lambda x: F.cross_entropy(x, torch.tensor([1, -100, 0])),
                lambda x: F.cross_entropy(x[0], torch.tensor(2)),
                lambda x: F.cross_entropy(x, torch.tensor([1, 3, 0]), label_smoothing=0.1),
                lambda x: F.cross_entropy(x.reshape(1, 3, 4), torch.tensor([[1, 2, 0, 0]])),
                lambda x: F.nll_loss(x.log_softmax(1), torch.tensor([1, 3, 0]), reduction="sum"),
                lambda x: F.binary_cross_entropy(x.sigmoid(), x.flip(0).sigmoid()),
                lambda x: F.soft_margin_loss(x, x.sign().detach()),
                lambda x: F.binary_cross_entropy_with_logits(x, x.flip(0).sigmoid(), pos_weight=torch.arange(1.0, 5)),
                lambda x: F.kl_div(x.log_softmax(1), x.flip(0).softmax(1), reduction="batchmean"),
                lambda x: F.kl_div(x, x * 2, log_target=True),
                lambda x: F.cosine_embedding_loss(x, x.flip(0), torch.ones(3)),
                lambda x: F.triplet_margin_loss(x, x.flip(0), x * 2),
                lambda x: F.margin_ranking_loss(x, x.flip(0), x.sign()),
                lambda x: F.poisson_nll_loss(x, x.flip(0)),
                lambda x: F.hinge_embedding_loss(x, x.sign()),
            ],
            (3, 4),
        ),
    }  # fmt: skip


class Recurrent(nn.Module):
    """Layers, of which exporters know one operator each, and cells."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)
        self.gru, self.rnn = nn.GRU(8, 3), nn.RNN(3, 2, nonlinearity="relu", bias=False)
        self.cell, self.other = nn.LSTMCell(2, 3), nn.GRUCell(3, 2)

    def forward(self, x: Any) -> Any:
        y, (h, c) = self.lstm(x)
        z, _ = self.rnn(self.gru(y)[0])
        a, _ = self.cell(z[0])
        return self.other(a).sum() + h.sin().sum() + c.cos().sum()


class Sized(nn.Module):
    """A batch and a length that are told when it is fed, and a module that trains."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm, self.batch = nn.Embedding(9, 6), nn.LayerNorm(6), nn.BatchNorm1d(6)
        self.qkv, self.act = nn.Linear(6, 18), nn.ReLU(inplace=True)
        self.frozen = nn.Parameter(torch.rand(6), requires_grad=False)

    def forward(self, ids: Any) -> Any:
        n, t = ids.shape
        x = self.norm(self.words(ids)) + torch.arange(t)[None, :, None] * 0.1 * self.frozen
        q, k, v = (p.reshape(n, t, 2, 3).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        x = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, t, 6)
        x = self.act(self.batch(x.reshape(n * t, 6))).view(n, t, 6)
        x = torch.cat([x, torch.zeros(n, 1, 6)], 1)
        y = torch.cond(x.sum() > 0, lambda a: a * 2, lambda a: a - 1, (x,))
        return (y[:, :-1] * y[:, 1:]).mean() + x[:, t - 1].sum()


class Detached(Group):
    """What gradients do not pass; programs that are decomposed have lost it."""

    def forward(self, x: Any) -> Any:
        x = x * self.weight
        with torch.no_grad():
            scale = x.relu_().abs().mean()
        y = x.t().sin()
        y.detach()[0].mul_(2)
        return [y / scale, (y * x.t().detach() / scale).cos().sum()]


def saved(program: Any) -> bytes:
    """The bytes of an archive."""
    file = io.BytesIO()
    torch.export.save(program, file)
    return file.getvalue()


def modules() -> dict[str, tuple[Any, Any, Any]]:
    """Name -> module, what it is fed, and which sizes are not fixed."""
    torch.manual_seed(0)
    whole = {
        name: (Group(functions, shape), torch.rand(*shape) + 0.5, None) for name, (functions, shape) in groups().items()
    }
    n, t = torch.export.Dim("n"), torch.export.Dim("t", max=64)
    return {
        **whole,
        "detached": (Detached((), (3, 4)), torch.rand(3, 4) + 0.5, None),
        "recurrent": (Recurrent(), torch.randn(2, 3, 3), None),
        "sized": (Sized(), torch.randint(0, 9, (3, 5)), ({0: n, 1: t},)),
    }


def record_operators() -> None:
    """Write the modules of many operators."""
    arrays: dict[str, Any] = {}
    for name, (module, x, sizes) in modules().items():
        exported = torch.export.export(module, (x,), dynamic_shapes=sizes)
        archives = {"exported": saved(exported)}
        if name not in EXPORTED_ONLY:
            archives["core"] = saved(exported.run_decompositions())
        made = module(x)
        outputs = list(made) if isinstance(made, (tuple, list)) else [made]
        outputs[-1].backward()
        arrays |= {f"{name}/{form}": np.frombuffer(data, "uint8") for form, data in archives.items()}
        arrays[f"{name}/x"] = x.numpy()
        for i, y in enumerate(outputs):
            arrays[f"{name}/y/{i}"] = y.detach().float().numpy() if y.dtype == torch.bfloat16 else y.detach().numpy()
        arrays |= {f"{name}/gradient/{n}": p.grad.numpy() for n, p in module.named_parameters() if p.grad is not None}
        if name == "sized":
            arrays |= {f"{name}/after/{n}": b.numpy() for n, b in module.named_buffers()}
    np.savez_compressed(SAVED / "operators.npz", **arrays)


def record_networks() -> None:
    """Write the networks that ``tests/onnx`` has, too."""
    from tests.onnx.recording import networks

    arrays: dict[str, Any] = {}
    for name, (network, x) in networks().items():
        network.eval()
        exported = torch.export.export(network, (x,))
        arrays[f"{name}/model"] = np.frombuffer(saved(exported), "uint8")
        y = network(x)
        label = np.random.default_rng(0).standard_normal(y.shape).astype("float32")
        F.mse_loss(y, torch.from_numpy(label)).backward()
        arrays |= {f"{name}/x": x.numpy(), f"{name}/y": y.detach().numpy(), f"{name}/label": label}
        arrays |= {f"{name}/gradient/{n}": p.grad.numpy() for n, p in network.named_parameters() if p.grad is not None}
    np.savez_compressed(SAVED / "networks.npz", **arrays)


if __name__ == "__main__":
    record_operators()
    record_networks()
