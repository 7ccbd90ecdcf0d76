"""Operators of PyTorch that write a list of tensors are computed again, as those are that give one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gradtool.engine.questions.gradcheck import Gradcheck
from gradtool.engine.request.request import Request

UNARY = ("abs", "ceil", "cos", "erf", "exp", "expm1", "log1p", "neg", "reciprocal", "sigmoid", "sin", "sqrt", "tanh")
CALLS = [f"torch._foreach_{name}_(o)" for name in UNARY if hasattr(torch, f"_foreach_{name}_")]
CALLS += [
    "torch._foreach_add_(o, 2.0)",
    "torch._foreach_mul_(o, [a, b])",
    "torch._foreach_addcmul_(o, [a, b], [b, a], 0.5)",
    "torch._foreach_clamp_min_(o, 0.1)",
]

TEXT = """\
import torch

torch.manual_seed(0)
a = torch.rand(3, requires_grad=True)
b = torch.rand(3, requires_grad=True)
o = [a * 1.5 + 0.2, b * 0.5 + 0.2]
{call}
loss = (o[0] * o[1]).sum() + a.sum()
loss.backward()
"""


@pytest.mark.parametrize("call", CALLS)
def test_gradients_through_them_are_compared(tmp_path: Path, call: str) -> None:
    file = tmp_path / "model.py"
    file.write_text(TEXT.format(call=call), encoding="utf-8")
    story = Gradcheck().ask(Request(str(file))).story
    assert str(story) == "a order 1: ok\nb order 1: ok"
