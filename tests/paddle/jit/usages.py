"""Functions and layers as people decorate them with ``to_static``: each with what it is called with.

A usage is a function that gives what is traced, what describes its tensors, and the tensors of several calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtool import paddle
from gradtool.paddle import nn
from gradtool.paddle.nn import functional as F
from gradtool.paddle.static import InputSpec


class Usage(NamedTuple):
    """What is traced, what describes its tensors, and the arguments of calls."""

    subject: Any
    spec: list[Any]
    calls: list[list[Any]]


USAGES: dict[str, Callable[[], Usage]] = {}


def usage(make: Callable[[], Usage]) -> Callable[[], Usage]:
    USAGES[make.__name__] = make
    return make


def numbers(*shape: int, seed: int = 0, scale: float = 1.0) -> Any:
    return np.random.default_rng(seed).normal(0, scale, shape).astype("float32")


def spec(*shape: int | None, dtype: str = "float32", name: str | None = None) -> InputSpec:
    return InputSpec(list(shape), dtype, name)


def seeded(subject: Any) -> Any:
    """*subject* with the same parameters wherever it is made."""
    if isinstance(subject, nn.Layer):
        for i, p in enumerate(p for p in subject.parameters() if not p.stop_gradient):
            p.set_value(numbers(*p.shape, seed=i, scale=0.4))
    return subject


BOTH_SIGNS = [[numbers(2, 3) + 3.0], [numbers(2, 3) - 3.0]]


@usage
def classifier() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2D(1, 2, 3, padding=1)
            self.norm = nn.BatchNorm2D(2)
            self.older = nn.BatchNorm(2)
            self.head = nn.Linear(2 * 4 * 4, 3)
            self.drop = nn.Dropout(0.0)

        def forward(self, image: Any) -> Any:
            x = F.max_pool2d(F.relu(self.older(self.norm(self.conv(image)))), 2)
            x = paddle.reshape(x, [x.shape[0], -1])
            return F.softmax(self.head(self.drop(x)))

    return Usage(Net(), [spec(None, 1, 8, 8)], [[numbers(2, 1, 8, 8)], [numbers(5, 1, 8, 8)]])


@usage
def one_branch() -> Usage:
    def f(x: Any) -> Any:
        if x.mean() > 0:
            y = x * 2
            y = y + 0.5
        else:
            y = x - 1
        return y * y

    return Usage(f, [spec(None, 3)], BOTH_SIGNS)


@usage
def branch_without_else() -> Usage:
    def f(x: Any) -> Any:
        y = x + 1
        if y.sum() > 0:
            y = y * 3
        return y

    return Usage(f, [spec(2, 3)], BOTH_SIGNS)


@usage
def nested_branches_with_early_returns() -> Usage:
    def f(x: Any) -> Any:
        if x.mean() > 0:
            if x.max() > 4:
                return x * 10
            x = x + 1
        elif x.min() < -4:
            return x / 2
        y = x * x
        if y.sum() > 50:
            return y - 1
        return y

    calls = [[numbers(2, 3) + shift] for shift in (0.5, 2.0, 6.0, -1.0, -6.0)]
    return Usage(f, [spec(2, 3)], calls)


@usage
def elif_chain() -> Usage:
    def f(x: Any, mode: str = "a") -> Any:
        s = x.sum()
        if mode == "b":
            return x
        if s > 10:
            scale = 1.0
        elif s > 0:
            scale = 2.0
        else:
            scale = 3.0
        return x * scale

    return Usage(f, [spec(2, 3)], [[numbers(2, 3) + s] for s in (5.0, 0.8, -2.0)])


@usage
def rnn_over_unknown_length() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.SimpleRNNCell(3, 4)
            self.out = nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            h = paddle.zeros([x.shape[0], 4])
            for t in range(x.shape[1]):
                _, h = self.cell(x[:, t], h)
            return self.out(h)

    return Usage(Net(), [spec(None, None, 3)], [[numbers(2, 5, 3)], [numbers(3, 1, 3)]])


@usage
def lstm_layer() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(3, 4)

        def forward(self, x: Any) -> Any:
            y, (h, c) = self.lstm(x)
            return y.mean(), h + c

    return Usage(Net(), [spec(2, 5, 3)], [[numbers(2, 5, 3)]])


@usage
def while_on_a_tensor() -> Usage:
    def f(x: Any) -> Any:
        steps = 0
        while paddle.norm(x) < 50.0:
            x = x * 1.5
            steps += 1
        return x, steps + paddle.zeros([])

    return Usage(f, [spec(2, 3)], [[numbers(2, 3)], [numbers(2, 3) * 100]])


@usage
def beam_like_loop() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.emb = nn.Embedding(7, 4)
            self.out = nn.Linear(4, 7)

        def forward(self, state: Any) -> Any:
            token = paddle.zeros([state.shape[0]], dtype="int64")
            score = paddle.zeros([state.shape[0]])
            i = paddle.zeros([], dtype="int64")
            finished = paddle.zeros([state.shape[0]], dtype="bool")
            while i < 5 and not finished.all():
                logits = self.out(self.emb(token) + state)
                logp = F.log_softmax(logits)
                best, token = paddle.topk(logp, 1)
                token = token.squeeze(-1)
                score = score + best.squeeze(-1)
                finished = paddle.logical_or(finished, token == 6)
                i += 1
            return score, i

    return Usage(Net(), [spec(None, 4)], [[numbers(2, 4)], [numbers(3, 4, seed=3)]])


@usage
def break_and_continue() -> Usage:
    def f(x: Any) -> Any:
        total = paddle.zeros([3])
        for i in range(x.shape[0]):
            row = x[i]
            if row.sum() < 0:
                continue
            total = total + row
            if total.sum() > 6:
                break
        return total

    calls = [[numbers(6, 3)], [numbers(4, 3) + 5], [numbers(3, 3) - 5]]
    return Usage(f, [spec(None, 3)], calls)


@usage
def break_of_a_plain_loop() -> Usage:
    def f(x: Any) -> Any:
        for i in range(4):
            x = x * (1.5 + i)
            if x.sum() > 20:
                break
        else:
            x = x - 1
        return x

    return Usage(f, [spec(2, 3)], [[numbers(2, 3) + 3.0], [numbers(2, 3)]])


@usage
def return_from_a_loop() -> Usage:
    def f(x: Any, limit: Any) -> Any:
        for i in range(limit):
            x = x + i
            if x.mean() > 3:
                return x * 10
        return x - 1

    specs = [spec(2, 3), spec(dtype="int64")]
    calls = [[numbers(2, 3), np.array(n, "int64")] for n in (0, 2, 6)]
    return Usage(f, specs, calls)


@usage
def rows_of_a_tensor() -> Usage:
    def f(x: Any) -> Any:
        total = 0
        for i, row in enumerate(x):
            total = total + row * (i + 1)
        return total

    return Usage(f, [spec(4, 3)], [[numbers(4, 3)]])


@usage
def rows_of_unknown_number() -> Usage:
    def f(x: Any) -> Any:
        total = paddle.zeros([3])
        for row in x:
            total = total * 0.5 + row
        return total

    return Usage(f, [spec(None, 3)], [[numbers(4, 3)], [numbers(1, 3)]])


@usage
def layer_list() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.LayerList([nn.Linear(3, 3) for _ in range(3)])

        def forward(self, x: Any) -> Any:
            kept = []
            for i, block in enumerate(self.blocks):
                x = F.tanh(block(x)) + x
                if i % 2 == 0:
                    kept.append(x)
            return paddle.concat(kept, axis=1)

    return Usage(Net(), [spec(None, 3)], [[numbers(2, 3)]])


@usage
def dict_and_tuple_outputs() -> Usage:
    def f(x: Any, y: Any) -> Any:
        return {"sum": x + y, "parts": (x * 2, [y * 3, None]), "n": 3}

    return Usage(f, [spec(None, 3), spec(None, 3)], [[numbers(2, 3), numbers(2, 3, seed=1)]])


@usage
def nested_inputs() -> Usage:
    def f(batch: Any, scale: float = 2.0) -> Any:
        return batch["a"] * scale + batch["b"][0] - batch["b"][1]

    specs = [{"a": spec(None, 3), "b": [spec(None, 3), spec(1, 3)]}]
    call = [{"a": numbers(2, 3), "b": [numbers(2, 3, seed=1), numbers(1, 3, seed=2)]}]
    return Usage(f, specs, [call])


@usage
def args_and_kwargs() -> Usage:
    def inner(*xs: Any, scale: float = 1.0, **named: Any) -> Any:
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        return total * scale + named.get("bias", 0.0)

    def f(*xs: Any) -> Any:
        options = {"scale": 2.0, "bias": 1.5}
        return inner(*xs, **options)

    return Usage(f, [spec(2, 3), spec(2, 3)], [[numbers(2, 3), numbers(2, 3, seed=1)]])


@usage
def closure() -> Usage:
    layer, factor = seeded(nn.Linear(3, 2)), paddle.to_tensor(2.0)

    def f(x: Any) -> Any:
        def twice(h: Any) -> Any:
            if h.sum() > 0:
                return h * factor
            return h

        return twice(layer(x))

    return Usage(f, [spec(None, 3)], BOTH_SIGNS)


@usage
def attributes_changed_in_forward() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.w = self.create_parameter([3], default_initializer=nn.initializer.Constant(2.0))
            self.scale = 1.0
            self.seen: list[Any] = []

        def forward(self, x: Any) -> Any:
            self.last = x * self.w
            self.seen.append(self.last)
            if x.sum() > 0:
                self.scale = 2.0
            else:
                self.scale = 0.5
            return self.last * self.scale

    return Usage(Net(), [spec(None, 3)], BOTH_SIGNS)


@usage
def a_lambda() -> Usage:
    return Usage(lambda x: x * 2 if x.sum() > 0 else x - 1, [spec(2, 3)], BOTH_SIGNS)


@usage
def generator_expression() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.LayerList([nn.Linear(3, 2) for _ in range(2)])

        def forward(self, x: Any) -> Any:
            return sum(part(x) for part in self.parts)

    return Usage(Net(), [spec(None, 3)], [[numbers(2, 3)]])


@usage
def a_generator() -> Usage:
    def halves(x: Any) -> Any:
        for part in paddle.split(x, 2, axis=1):
            yield part * part

    def f(x: Any) -> Any:
        return paddle.concat([half + 1 for half in halves(x)], axis=1)

    return Usage(f, [spec(None, 4)], [[numbers(2, 4)]])


@usage
def an_assertion() -> Usage:
    def f(x: Any) -> Any:
        assert len(x.shape) == 2, "two dimensions"
        assert x.abs().max() < 100, "not too large"
        return x + 1

    return Usage(f, [spec(None, 3)], BOTH_SIGNS)


@usage
def inherited_forward() -> Usage:
    class Base(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            h = self.body(x)
            if h.sum() > 0:
                h = h * 2
            return h

    class Net(Base):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            if x.mean() < 0:
                return self.head(super().forward(-x))
            h = super().forward(x)
            return self.head(h)

    return Usage(Net(), [spec(None, 3)], BOTH_SIGNS)


@usage
def list_comprehension() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.heads = nn.LayerList([nn.Linear(3, 1) for _ in range(3)])

        def forward(self, x: Any) -> Any:
            scores = [head(x) for head in self.heads]
            best = {i: s.mean() for i, s in enumerate(scores) if i > 0}
            return paddle.stack(scores), best[1] + best[2]

    return Usage(Net(), [spec(None, 3)], [[numbers(2, 3)]])


def doubled(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result * 2 if result.mean() > 0 else result

    return wrapper


@usage
def stacked_decorators() -> Usage:
    @doubled
    @doubled
    def f(x: Any) -> Any:
        if x.sum() > 0:
            x = x + 1
        return x

    return Usage(f, [spec(2, 3)], BOTH_SIGNS)


@usage
def without_gradients() -> Usage:
    def f(x: Any) -> Any:
        with paddle.no_grad():
            weights = F.softmax(x)
        return weights * x + x.detach()

    return Usage(f, [spec(None, 3)], [[numbers(2, 3)]])


@usage
def boolean_words() -> Usage:
    def f(x: Any) -> Any:
        s = x.sum()
        if (s > 0 and s < 20) or not x.max() > -4:
            x = x * 2
        if 0 < s <= 100:
            x = x + 3
        if s > 0 and x[0, 0] > 0:
            x = x * x
        return x

    return Usage(f, [spec(2, 3)], [*BOTH_SIGNS, [numbers(2, 3) + 9.0], [numbers(2, 3) - 9.0]])


@usage
def parts_set() -> Usage:
    def f(x: Any) -> Any:
        y = paddle.zeros_like(x)
        y[:, 0] = x[:, 1] * 2
        if x.sum() > 0:
            y[:, 2] = 1.0
        y[0] += 5.0
        y.add_(x)
        return y

    return Usage(f, [spec(2, 3)], BOTH_SIGNS)


@usage
def attention_of_unknown_sizes() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(4, 12)

        def forward(self, x: Any) -> Any:
            b, n, c = x.shape
            qkv = self.qkv(x).reshape([b, n, 3, 2, c // 2]).transpose([2, 0, 3, 1, 4])
            q, k, v = qkv[0], qkv[1], qkv[2]
            scores = F.softmax(q @ k.transpose([0, 1, 3, 2]) * (c // 2) ** -0.5)
            return (scores @ v).transpose([0, 2, 1, 3]).reshape([b, n, c]) / n

    return Usage(Net(), [spec(None, None, 4)], [[numbers(2, 3, 4)], [numbers(1, 5, 4)]])


@usage
def lists_under_a_condition() -> Usage:
    def f(x: Any) -> Any:
        out, table = [x], {"k": x}
        if x.mean() > 0:
            out.append(x * 2)
            table["k"] = x * 5
        else:
            out.append(x * 3)
        return paddle.concat(out) + paddle.concat([table["k"], table["k"]])

    return Usage(f, [spec(2, 3)], BOTH_SIGNS)


@usage
def nested_loops() -> Usage:
    def f(x: Any, n: Any) -> Any:
        total = paddle.zeros([3])
        for i in range(n):
            j = 0
            while j < i:
                total = total + x[j] * (i + 1)
                j += 1
        return total

    specs = [spec(5, 3), spec(dtype="int64")]
    return Usage(f, specs, [[numbers(5, 3), np.array(n, "int64")] for n in (1, 4)])


@usage
def state_in_a_tuple() -> Usage:
    def f(x: Any) -> Any:
        state = (paddle.zeros([3]), paddle.ones([3]))
        i = 0
        while i < x.shape[0]:
            a, b = state
            state = (a + x[i], b * 0.5)
            i += 1
        return state[0] * state[1]

    return Usage(f, [spec(None, 3)], [[numbers(4, 3)], [numbers(1, 3)]])


@usage
def lists_that_grow_in_a_loop() -> Usage:
    class Net(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.cells = nn.LayerList([nn.SimpleRNNCell(3, 3) for _ in range(2)])

        def forward(self, x: Any) -> Any:
            outputs = []
            states = [paddle.zeros([x.shape[0], 3]) for _ in self.cells]
            for t in range(x.shape[1]):
                h = x[:, t]
                for i, cell in enumerate(self.cells):
                    h, states[i] = cell(h, states[i])
                outputs.append(h)
                outputs.append(h * 2)
            total = outputs[-1]
            for entry in outputs:
                total = total + entry
            return paddle.stack(outputs, axis=1), total / len(outputs)

    return Usage(Net(), [spec(None, None, 3)], [[numbers(2, 4, 3)], [numbers(1, 2, 3, seed=4)]])
