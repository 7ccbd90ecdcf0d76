"""Programs of which a part cannot be repeated, or repeats by luck, and the questions that compute a pass again.

Each program is a training of a few steps around one statement. What draws, counts, writes or reads what is written
later gives something else when it is computed again; an operator without a kernel gives nothing. No question answers
wrongly about that: it says what cannot be repeated, or what it gives is right.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradtool.engine.answers.flow.dependence import UNKNOWN, YES
from gradtool.engine.answers.gradcheck import OK
from gradtool.engine.loading.loader import Request
from gradtool.engine.questions.first_steps import one_batch
from gradtool.engine.questions.flow import Flow
from gradtool.engine.questions.gradcheck import Gradcheck
from gradtool.engine.questions.profile import Profile
from gradtool.engine.questions.saved import Saved
from gradtool.engine.questions.why import Why
from gradtool.engine.runs.repeating import CANNOT

RUNS = Path(__file__).parent / "runs"

_PADDLE = """\
import random

import numpy as np
import paddle
import paddle.nn.functional as F

paddle.seed(1)
x, y = paddle.randn([6, 4]), paddle.randn([6, 4])
lin, head = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 4)
{before}
opt = paddle.optimizer.SGD(0.01, parameters=[*lin.parameters(), *head.parameters(), *{own}])
for step in range(3):
    h = lin(x)
    {inside}
    loss = ((head(h) - y) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    {after}
"""

_TORCH = """\
import random

import torch
import torch.nn.functional as F

torch.manual_seed(1)
x, y = torch.randn(6, 4), torch.randn(6, 4)
lin, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
{before}
opt = torch.optim.SGD([*lin.parameters(), *head.parameters(), *{own}], 0.01)
for step in range(3):
    h = lin(x)
    {inside}
    loss = ((head(h) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    {after}
"""

_PYLAYER = """\
class Counting(paddle.autograd.PyLayer):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        Counting.calls += 1
        ctx.factor = Counting.calls
        return {forward}

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor
"""

_FUNCTION = """\
class Counting(torch.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx, x, scale):
        Counting.calls += 1
        ctx.factor = Counting.calls
        return {forward}

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None
"""

_OP = """\
@torch.library.custom_op("repeats::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


twice.register_autograd(lambda ctx, g: g * 2)
"""

CASES: dict[str, tuple[str, str, str, str]] = {
    "paddle_drawn_outside": (
        _PADDLE,
        "",
        "h = h * paddle.to_tensor([[float(random.random() < 0.5) for _ in range(4)]])",
        "",
    ),
    "paddle_dropout": (_PADDLE, "paddle.seed(5)", "h = F.dropout(h, 0.5)", ""),
    "paddle_gumbel": (_PADDLE, "", "h = F.gumbel_softmax(h)", ""),
    "paddle_rrelu": (_PADDLE, "", "h = F.rrelu(h)", ""),
    "paddle_rnn_dropout": (
        _PADDLE,
        "rnn = paddle.nn.LSTM(4, 4, num_layers=2, dropout=0.5)",
        "h = rnn(h.unsqueeze(0))[0][0]",
        "",
    ),
    "paddle_fft": (_PADDLE, "", "h = paddle.fft.irfft(paddle.fft.rfft(h), n=4)", ""),
    "paddle_written": (_PADDLE, "", "h[:, 1:3] = lin(y)[:, 1:3]", ""),
    "paddle_pylayer": (_PADDLE, _PYLAYER.format(forward="x * ctx.factor"), "h = Counting.apply(h)", ""),
    "paddle_pylayer_in_numpy": (
        _PADDLE,
        _PYLAYER.format(forward="paddle.to_tensor(x.numpy() * ctx.factor)"),
        "h = Counting.apply(h)",
        "",
    ),
    "paddle_table": (
        _PADDLE,
        "table, rows = paddle.randn([9, 4]), paddle.arange(6)",
        "h = h + paddle.gather(table, rows)",
        "table.set_value(table + 1)",
    ),
    "paddle_table_in_numpy": (
        _PADDLE,
        "array = np.ones([6, 4], 'float32'); table = paddle.to_tensor(array)",
        "h = h * table",
        "table.add_(paddle.ones_like(table))",
    ),
    "torch_drawn_outside": (
        _TORCH,
        "",
        "h = h * torch.tensor([[float(random.random() < 0.5) for _ in range(4)]])",
        "",
    ),
    "torch_dropout": (_TORCH, "torch.seed()", "h = F.dropout(h, 0.5)", ""),
    "torch_rrelu": (_TORCH, "", "h = F.rrelu(h, training=True)", ""),
    "torch_gamma": (_TORCH, "", "h = h * torch.distributions.Gamma(F.softplus(h) + 1, 1.0).rsample()", ""),
    "torch_rnn_dropout": (
        _TORCH,
        "rnn = torch.nn.LSTM(4, 4, num_layers=2, dropout=0.5)",
        "h = rnn(h.unsqueeze(1))[0][:, 0]",
        "",
    ),
    "torch_gru": (_TORCH, "rnn = torch.nn.GRU(4, 4)", "h = rnn(h.unsqueeze(1))[0][:, 0]", ""),
    "torch_fft": (_TORCH, "", "h = torch.fft.irfft(torch.fft.rfft(h), n=4)", ""),
    "torch_written": (_TORCH, "", "h[:, 1:3] = lin(y)[:, 1:3]", ""),
    "torch_function": (
        _TORCH,
        _FUNCTION.format(forward="x * ctx.factor * scale"),
        "h = Counting.apply(h, torch.ones(4))",
        "",
    ),
    "torch_function_in_numpy": (
        _TORCH,
        _FUNCTION.format(forward="torch.from_numpy(x.detach().numpy() * ctx.factor)"),
        "h = Counting.apply(h, torch.ones(4))",
        "",
    ),
    "torch_own_operator": (_TORCH, _OP, "h = twice(h)", ""),
    "torch_without_kernel": (_TORCH, "", "h = torch.special.i1e(h) + torch.special.ndtri(torch.sigmoid(h))", ""),
    "torch_table": (
        _TORCH,
        "table, rows = torch.randn(9, 4), torch.arange(6)",
        "h = h + table[rows]",
        "table += 1",
    ),
    "torch_table_in_numpy": (
        _TORCH,
        "table, rows = torch.randn(9, 4), torch.arange(6)",
        "h = h + table[rows]",
        "table.numpy()[:] += 1",
    ),
}
"""By name of a program: the training, and what stands before it, in each step, and after each."""


def text(name: str) -> str:
    """Return the text of a program."""
    training, before, inside, after = CASES[name]
    own = "rnn.parameters()" if before.startswith("rnn = ") else "()"
    lines = training.format(before=before, inside=inside, after=after, own=own).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _check(request: Request) -> list[str]:
    entries = Gradcheck().ask(request).story.entries
    assert entries
    bad = [e for e in entries if e.status != OK and not e.is_unrepeated]
    assert not bad, [(e.name, e.status, e.cause) for e in bad]
    return [e.cause for e in entries if e.is_unrepeated]


def _follow(request: Request) -> list[str]:
    pairs = Flow().ask(request).pairs
    unknown = [found.why for _, _, found in pairs if found.answer == UNKNOWN]
    assert all(why.startswith(CANNOT) for why in unknown), unknown
    assert {"x", "y"} <= {a.text for a, _, _ in pairs}
    assert all(found.answer == YES for a, _, found in pairs if a.text == "y")
    return unknown


def _keep(request: Request) -> list[str]:
    story: Any = Saved().ask(request).story
    assert story.kept
    return []


def _measure(request: Request) -> list[str]:
    story = Profile(repeats=2).ask(request).story
    assert story.costs
    return list(story.unrepeated)


def _prove(request: Request) -> list[str]:
    verdicts = Why(prove=True).ask(request)
    assert not verdicts.findings, [str(a) for a in verdicts]
    return []


def _learn(request: Request) -> list[str]:
    batch = one_batch(request, 20, 0.01, None)
    if isinstance(batch, str):
        assert batch.startswith(CANNOT), batch
        return [batch]
    assert batch is not None
    assert batch.learned, batch
    return []


QUESTIONS: dict[str, Callable[[Request], list[str]]] = {
    "gradcheck": _check,
    "flow": _follow,
    "saved": _keep,
    "profile": _measure,
    "why": _prove,
    "one batch": _learn,
}
"""By question, what asks it, expects that nothing right is called wrong, and returns what cannot be repeated."""
