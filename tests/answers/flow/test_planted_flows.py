"""Models with a planted mistake in the flow of information: rule, operator and line; and models without one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Finding
from gradtool.engine.request.request import Request

HEAD = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(3)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
"""


def model(init: str, forward: str, use: str) -> str:
    """A file with a layer, and a loss of it."""
    body = textwrap.indent(textwrap.dedent(init), " " * 8) + "\n    def forward(self, *inputs):\n"
    body += textwrap.indent(textwrap.dedent(forward), " " * 8)
    return HEAD + body + "\n\nnet = Net()\n" + textwrap.dedent(use)


def found(folder: Path, text: str, **options: float) -> list[Finding]:
    file = folder / "model.py"
    file.write_text(text, encoding="utf-8")
    codes = ("GT601", "GT602", "GT603", "GT604", "GT605")
    return findings(Request(str(file)), "model.py", Selection(select=codes, options=dict.fromkeys(codes, options)))


CLASSES = "loss = F.cross_entropy(net(paddle.rand([4, 6, 8])), paddle.to_tensor([0, 1, 2, 0]))\nloss.backward()\n"
TEXT = "ids = paddle.randint(1, 9, [3, 6])\nloss = F.cross_entropy(net(ids[:, :-1]), ids[:, 1:])\nloss.backward()\n"
ATTENTION = """
    self.embed, self.head = nn.Embedding(9, 8), nn.Linear(8, 9)
    self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
"""
ATTEND = """
    ids, *rest = inputs
    h = self.embed(ids)
    scores = paddle.matmul(self.q(h), self.k(h), transpose_y=True)
    MASKED
    return self.head(paddle.matmul(F.softmax(scores), self.v(h)))WHERE
"""
FORECAST = """
series = paddle.rand([4, 2, 9])
loss = F.mse_loss(net(series[:, :, :-1]), series[:, :, 1:])
loss.backward()
"""
CAUSAL = "F.pad(F.relu(self.body(F.pad(inputs[0], [2, 0], data_format='NCL'))), [2, 0], data_format='NCL')"
PADDED = """
ids = paddle.to_tensor([[3, 5, 1, 0, 0], [2, 4, 6, 7, 0], [1, 1, 2, 3, 8]])
mask = (ids != 0).astype("float32")
loss = F.cross_entropy(net(ids, mask), paddle.to_tensor([0, 1, 2]))
loss.backward()
"""


def attending(masked: str, where: str = "") -> str:
    return ATTEND.replace("MASKED", masked).replace("WHERE", where)


WRONG = {
    "a view where a transpose is meant": (
        "self.rnn, self.head = nn.GRU(8, 5, time_major=True), nn.Linear(5, 3)\n",
        "x = inputs[0].reshape([6, 4, 8])  # here\ny, _ = self.rnn(x)\nreturn self.head(y[-1])\n",
        CLASSES,
        "GT601",
        "reshape",
    ),
    "the batch taken for the steps": (
        "self.rnn, self.head = nn.GRU(8, 5, time_major=True), nn.Linear(5, 3)\n",
        "y, _ = self.rnn(inputs[0])  # here\nreturn self.head(y[:, -1])\n",
        CLASSES,
        "GT601",
        "rnn",
    ),
    "statistics of the batch in evaluation mode": (
        "self.body, self.head = nn.Linear(8, 5), nn.Linear(5, 3)\n",
        """
        h = self.body(inputs[0].mean(axis=1))
        h = (h - h.mean(axis=0)) / (h.std(axis=0) + 1e-5)  # here
        return self.head(h)
        """,
        CLASSES,
        "GT601",
        "reduce_mean",
    ),
    "a mask that is one step too wide": (
        ATTENTION,
        attending(
            "scores = paddle.where(paddle.tril(paddle.ones([5, 5]), 1) > 0, scores, paddle.full_like(scores, -1e9))"
            "  # here",
        ),
        TEXT,
        "GT602",
        "matmul",
    ),
    "a mask that hides each step from itself": (
        ATTENTION,
        attending("scores = scores + (1 - paddle.tril(paddle.ones([5, 5]), -1)) * -1e9  # here"),
        TEXT,
        "GT602",
        "matmul",
    ),
    "a mask in a buffer, one step too wide": (
        ATTENTION + "    self.register_buffer('shown', paddle.tril(paddle.ones([1, 5, 5]), 1))  # here\n",
        attending("scores = paddle.where(self.shown[:, :5, :5] == 0, paddle.to_tensor(float('-inf')), scores)"),
        TEXT,
        "GT602",
        "matmul",
    ),
    "a mask that is passed and not used": (
        ATTENTION,
        attending("pass", "  # here"),
        TEXT.replace("net(ids[:, :-1])", "net(ids[:, :-1], paddle.tril(paddle.ones([5, 5])))"),
        "GT602",
        "matmul",
    ),
    "a mask beside distances, one step too wide": (
        ATTENTION + "    self.bias = nn.Embedding(9, 1)\n",
        attending(
            "near = self.bias(paddle.arange(5).unsqueeze(0) - paddle.arange(5).unsqueeze(1) + 4).squeeze(-1)\n"
            "    scores = scores + (near + paddle.triu(paddle.full([5, 5], -1e9), 2))  # here",
        ),
        TEXT,
        "GT602",
        "matmul",
    ),
    "a forecast by convolutions that look ahead": (
        "self.body, self.head = nn.Conv1D(2, 5, 3, padding=1), nn.Conv1D(5, 2, 3, padding=1)\n",
        "return self.head(F.relu(self.body(inputs[0])))  # here\n",
        FORECAST,
        "GT605",
        "conv2d",
    ),
    "padding in an average": (
        "self.embed, self.head = nn.Embedding(9, 8), nn.Linear(8, 3)\n",
        """
        ids, mask = inputs
        h = self.embed(ids) * (1 + 0.1 * mask.unsqueeze(-1))
        return self.head(h.mean(axis=1))  # here
        """,
        PADDED,
        "GT603",
        "reduce_mean",
    ),
    "a mask for padding that is not used": (
        "self.embed, self.head = nn.Embedding(9, 8), nn.Linear(8, 3)\n",
        "ids, mask = inputs\nreturn self.head(self.embed(ids).mean(axis=1))\n",
        PADDED.replace("mask), ", "mask), ")
        .replace("loss = F", "loss = F")
        .replace("[0, 1, 2]))", "[0, 1, 2]))  # here"),
        "GT603",
        "no operator reads it",
    ),
    "a feature that is cut off": (
        "self.head = nn.Linear(4, 3)\n",
        "return self.head(inputs[0][:, 1:])\n",
        "loss = F.cross_entropy(net(paddle.rand([4, 5])), paddle.to_tensor([0, 1, 2, 0]))  # here\nloss.backward()\n",
        "GT603",
        "feature 0",
    ),
    "dropout in a plain list": (
        "self.layers = [nn.Linear(8, 8), nn.Dropout(0.5)]\nself.head = nn.Linear(8, 3)\n",
        """
        h = inputs[0].mean(axis=1)
        for layer in self.layers:
            h = layer(h)  # here
        return self.head(h)
        """,
        CLASSES,
        "GT604",
        "dropout",
    ),
    "the label as a column of the data": (
        "self.head = nn.Linear(3, 2)\n",
        "return self.head(inputs[0])  # here\n",
        """
        y = paddle.randint(0, 2, [64])
        columns = [y.numpy(), *paddle.rand([2, 64]).numpy()]
        x = paddle.to_tensor(__import__("numpy").column_stack(columns).astype("float32"))
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        """,
        "GT605",
        "column 0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_mistake_is_found_at_its_line(name: str, tmp_path: Path) -> None:
    init, forward, use, code, operator = WRONG[name]
    text = model(init, forward, use)
    results = [f for f in found(tmp_path, text) if f.code == code]
    assert len(results) == 1
    line = next(i for i, line in enumerate(text.splitlines(), 1) if line.endswith("# here"))
    assert operator in results[0].message + " ".join(results[0].explanation)
    assert results[0].spot is not None
    assert results[0].spot.line == line


RIGHT = {
    "a forecast by convolutions that look back": (
        "self.body, self.head = nn.Conv1D(2, 5, 3), nn.Conv1D(5, 2, 3)\n",
        f"return self.head({CAUSAL})\n",
        FORECAST,
    ),
    "an autoencoder that reads what it gives back": (
        "self.body, self.head = nn.Conv1D(2, 5, 3, padding=1), nn.Conv1D(5, 2, 3, padding=1)\n",
        "return self.head(F.relu(self.body(inputs[0])))\n",
        "series = paddle.rand([4, 2, 9])\nloss = F.mse_loss(net(series), series)\nloss.backward()\n",
    ),
    "a graph of as many nodes as each has neighbours and features": (
        "self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 4)\n",
        "x, near = inputs\nreturn self.head(F.relu(near @ self.body(x)))\n",
        """
        near = paddle.to_tensor([[0.5, 0.5, 0, 0], [0.3, 0.4, 0.3, 0], [0, 0.3, 0.4, 0.3], [0, 0, 0.5, 0.5]])
        x = paddle.rand([4, 4])
        loss = F.mse_loss(net(x, near), x)
        loss.backward()
        """,
    ),
    "batch norm in training": (
        "self.body, self.norm, self.head = nn.Linear(8, 5), nn.BatchNorm1D(5), nn.Linear(5, 3)\n",
        "return self.head(F.relu(self.norm(self.body(inputs[0].mean(axis=1)))))\n",
        CLASSES,
    ),
    "a graph of nodes": (
        "self.body = nn.Linear(4, 3)\n",
        "x, edges = inputs\nreturn paddle.matmul(edges, self.body(x))\n",
        """
        edges = F.softmax(paddle.rand([5, 5]))
        loss = net(paddle.rand([5, 4]), edges).square().mean()
        loss.backward()
        """,
    ),
    "steps before samples": (
        "self.rnn, self.head = nn.GRU(8, 5, time_major=True), nn.Linear(5, 3)\n",
        "y, _ = self.rnn(inputs[0].transpose([1, 0, 2]))\nreturn self.head(y[-1])\n",
        CLASSES,
    ),
    "a model of both directions": (
        ATTENTION,
        attending("pass"),
        """
        ids, masked = paddle.randint(1, 9, [3, 6]), paddle.randint(1, 9, [3, 6])
        loss = F.cross_entropy(net(ids), masked)
        loss.backward()
        """,
    ),
    "distances of both directions": (
        ATTENTION + "    self.bias = nn.Embedding(9, 1)\n",
        attending(
            "far = paddle.arange(5).unsqueeze(0) - paddle.arange(5).unsqueeze(1)\n"
            "    scores = scores + self.bias((far > 0).astype('int64') * 4 + far.abs()).squeeze(-1)"
        ),
        """
        ids, masked = paddle.randint(1, 9, [3, 5]), paddle.randint(1, 9, [3, 5])
        loss = F.cross_entropy(net(ids), masked)
        loss.backward()
        """,
    ),
    "a causal model": (
        ATTENTION,
        attending("scores = scores + paddle.triu(paddle.full([5, 5], -1e9), 1)"),
        TEXT,
    ),
    "padding that is masked": (
        "self.embed, self.head = nn.Embedding(9, 8), nn.Linear(8, 3)\n",
        """
        ids, mask = inputs
        h = self.embed(ids) * mask.unsqueeze(-1)
        return self.head(h.sum(axis=1) / mask.sum(axis=1, keepdim=True))
        """,
        PADDED,
    ),
    "a branch that begins at zero": (
        """
        self.body, self.other, self.head = nn.Linear(8, 5), nn.Linear(2, 5), nn.Linear(5, 3)
        self.gate = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.0))
        """,
        "x, more = inputs\nreturn self.head(self.body(x.mean(axis=1)) + self.gate * self.other(more))\n",
        CLASSES.replace("[4, 6, 8])", "[4, 6, 8]), paddle.rand([4, 2])"),
    ),
    "a layer that draws samples": (
        "self.mean, self.decode = nn.Linear(8, 3), nn.Linear(3, 8)\n",
        "z = self.mean(inputs[0])\nreturn F.sigmoid(self.decode(z + paddle.randn(z.shape)))\n",
        "x = paddle.rand([5, 8])\nloss = F.binary_cross_entropy(net(x), x)\nloss.backward()\n",
    ),
    "depth that is dropped in training": (
        "self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 3)\n",
        """
        h = inputs[0].mean(axis=1)
        if not self.training or float(paddle.rand([1])) > 0.2:
            h = h + self.body(h)
        return self.head(h)
        """,
        CLASSES,
    ),
    "a layer that gives its loss, too": (
        "self.head = nn.Linear(8, 3)\n",
        "x, y = inputs\nout = self.head(x.mean(axis=1))\nreturn out, F.cross_entropy(out, y)\n",
        "out, loss = net(paddle.rand([4, 6, 8]), paddle.to_tensor([0, 1, 2, 0]))\nloss.backward()\n",
    ),
    "images": (
        "self.conv, self.head = nn.Conv2D(1, 4, 3, stride=2), nn.Linear(4, 3)\n",
        "return self.head(F.relu(self.conv(inputs[0])).mean(axis=[2, 3]))\n",
        CLASSES.replace("[4, 6, 8]", "[4, 1, 8, 8]"),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_has_no_finding(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, model(*RIGHT[name])) == []


STATES = """
x, states = paddle.rand([BATCH, 3, 4]), [paddle.rand([2, BATCH, 5]) for _ in range(2)]
loss = F.mse_loss(net(x, *states), paddle.zeros([BATCH, 1]))
loss.backward()
"""


@pytest.mark.parametrize("batch", [2, 3])
@pytest.mark.parametrize("layers", ["num_layers=2", "direction='bidirect'"])
@pytest.mark.parametrize("mixes", [False, True])
def test_layers_of_initial_states_are_no_samples(tmp_path: Path, batch: int, layers: str, mixes: bool) -> None:
    width = 10 if "bidirect" in layers else 5
    weights = "F.softmax(y, axis=0)  # here" if mixes else "F.softmax(y, axis=-1)"
    text = model(
        f"self.rnn, self.head = nn.LSTM(4, 5, {layers}), nn.Linear({width}, 1)\n",
        f"""
        y, _ = self.rnn(inputs[0], tuple(inputs[1:]))
        y = y * {weights}
        return self.head(y[:, -1])
        """,
        STATES.replace("BATCH", str(batch)),
    )
    assert [f.code for f in found(tmp_path, text)] == ["GT601"] * mixes


def test_what_is_declared_is_asked(tmp_path: Path) -> None:
    nodes = found(tmp_path, model(*RIGHT["a graph of nodes"]), batch=1)
    assert [f.code for f in nodes] == ["GT601"]
    both = found(tmp_path, model(*RIGHT["a model of both directions"]), causal=1)
    assert [f.code for f in both] == ["GT602"]
    drawn = found(tmp_path, model(*RIGHT["a layer that draws samples"]), sampling=1)
    assert [f.code for f in drawn] == ["GT604"]


def test_what_cannot_be_asked_is_told(tmp_path: Path) -> None:
    text = model(
        "self.body, self.calls = nn.Linear(8, 3), []\n",
        "self.calls.append(1)\nreturn self.body(inputs[0].mean(axis=1)) * len(self.calls)\n",
        CLASSES,
    )
    file = tmp_path / "model.py"
    file.write_text(text, encoding="utf-8")
    results = findings(Request(str(file)), "model.py", Selection(select=("GT901",)))
    assert [f.code for f in results] == ["GT901"]
    assert "two calls with the same inputs and seed differ" in results[0].message


PLAIN = """\
import paddle
w = paddle.ones([3])
w.stop_gradient = False
(w * w).sum().backward()
"""


def test_where_nothing_is_predicted_the_silence_of_rules_is_told(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(PLAIN, encoding="utf-8")
    (note,) = findings(Request(str(file)), "model.py", Selection(select=("GT6", "GT901")))
    assert (note.code, note.severity.value) == ("GT901", "note")
    assert "(GT601, GT602, GT603, GT604)" in note.message
    assert "no prediction was found" in note.message
    assert findings(Request(str(file)), "model.py", Selection(select=("GT605", "GT901"))) == []


def test_positions_in_a_triangle_that_choose_rows_of_a_table_are_no_mask(tmp_path: Path) -> None:
    text = model(
        """
        self.embed, self.bias = nn.Embedding(9, 4), nn.Embedding(2, 1)
        """,
        """
        (ids,) = inputs
        h, steps = self.embed(ids), paddle.arange(ids.shape[1])
        later = (steps.unsqueeze(0) - steps.unsqueeze(1) > 0).astype("int64")
        scores = paddle.matmul(h, h, transpose_y=True) + self.bias(later).squeeze(-1)
        return paddle.matmul(F.softmax(scores), h)
        """,
        "ids = paddle.randint(0, 9, [2, 5])\nloss = net(ids).square().mean()\nloss.backward()\n",
    )
    assert [f for f in found(tmp_path, text) if f.code == "GT602"] == []


def test_what_a_mask_selects_may_have_another_shape(tmp_path: Path) -> None:
    text = model(
        "self.fc = nn.Linear(3, 2)",
        """
        x, mask = inputs
        some = paddle.masked_select(x, mask.unsqueeze(-1)).reshape([-1, 3])
        return self.fc(some) * paddle.ones([4, 1]) + paddle.masked_select(x, mask.unsqueeze(-1)).reshape([-1, 3]).sum()
        """,
        "mask = paddle.to_tensor([[True, False, True], [True, True, False]])\n"
        "loss = net(paddle.rand([2, 3, 3]), mask).square().mean()\nloss.backward()\n",
    )
    assert {f.code for f in found(tmp_path, text)} <= {"GT605"}
