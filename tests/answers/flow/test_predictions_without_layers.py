"""Predictions that no layer gives: of static programs, and of functions of plain tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradtool
from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Finding
from gradtool.engine.request.request import Request


def found(folder: Path, text: str) -> list[Finding]:
    file = folder / "model.py"
    file.write_text(text, encoding="utf-8")
    return findings(Request(str(file)), "model.py", Selection(select=("GT6", "GT901")))


SIZED = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 2, 3, padding=1)

    def forward(self, xARGUMENTS):
        y = F.interpolate(F.max_pool2d(self.conv(x), 2), SIZE, mode="bilinear")
        return paddle.concat([y, self.conv(x)], 1).mean([2, 3])


x = paddle.rand([2, 1, 4, 6])
loss = F.cross_entropy(Net()(xOTHERS), paddle.to_tensor([0, 1]))
loss.backward()
"""


def test_sizes_of_tensors_are_no_data(tmp_path: Path) -> None:
    text = SIZED.replace("ARGUMENTS", "").replace("OTHERS", "").replace("SIZE", "paddle.shape(x)[2:]")
    assert found(tmp_path, text) == []
    answers = gradtool.load(tmp_path / "model.py").flow()
    assert [part.text for part, _, _ in answers.pairs] == ["x", "constant.0"]  # the labels


def test_a_size_that_is_given_can_not_be_any(tmp_path: Path) -> None:
    text = SIZED.replace("ARGUMENTS", ", size").replace("OTHERS", ", paddle.to_tensor([4, 6])").replace("SIZE", "size")
    assert [f.code for f in found(tmp_path, text)] == ["GT901"]
    answers = {part.text: influence for part, _, influence in gradtool.load(tmp_path / "model.py").flow().pairs}
    assert answers["size"].answer == "unknown"
    assert "does not take other values" in answers["size"].why


PAIRS = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(5, 4), nn.Linear(6, 4)

    def forward(self, image, text):
        one, two = F.normalize(self.one(image)), F.normalize(self.two(text))
        BODY
        return 40 * paddle.matmul(one, two, transpose_y=True)


scores = Net()(paddle.randn([4, 5]), paddle.randn([4, 6]))
loss = F.cross_entropy(scores, paddle.arange(4)) + F.cross_entropy(scores.t(), paddle.arange(4))
loss.backward()
"""


@pytest.mark.parametrize(("body", "codes"), [("", ["GT901"]), ("one = one * F.softmax(one, axis=0)", ["GT601"])])
def test_whether_pairs_of_samples_are_meant_is_not_known_and_others_are_told(
    tmp_path: Path, body: str, codes: list[str]
) -> None:
    assert [
        f.code for f in found(tmp_path, PAIRS.replace("        BODY\n", f"        {body}\n" if body else ""))
    ] == codes


FUNCTION = """\
import paddle
import paddle.nn.functional as F

paddle.seed(3)
first, second = (paddle.randn(shape) * 0.3 for shape in ([5, 8], [8, 3]))
first.stop_gradient = second.stop_gradient = False


def forward(x):
    h = paddle.tanh(x @ first)
    BODY
    return h @ second


x, y = paddle.rand([6, 5]), paddle.to_tensor([0, 1, 2, 0, 1, 2])
LOSS
loss.backward()
"""
ENTROPY = "loss = F.cross_entropy(forward(x), y)"
ATTENTION = """\
import paddle
import paddle.nn.functional as F

paddle.seed(3)
table, q, k, v, out = (paddle.create_parameter(s, "float32") for s in ([9, 8], [8, 8], [8, 8], [8, 8], [8, 9]))


def forward(ids):
    h = F.embedding(ids, table)
    scores = paddle.matmul(h @ q, h @ k, transpose_y=True)
    scores = scores + MASK  # here
    return paddle.matmul(F.softmax(scores), h @ v) @ out


ids = paddle.randint(0, 9, [3, 6])
loss = F.cross_entropy(forward(ids[:, :-1]), ids[:, 1:])
loss.backward()
"""
BESIDE = """\
import paddle
import paddle.nn.functional as F

paddle.seed(3)
encoder, head = paddle.nn.Linear(5, 8), paddle.nn.Linear(8, 3)
h = paddle.tanh(encoder(paddle.rand([6, 5])))
h = h * F.softmax(h, axis=AXIS)  # here
loss = F.cross_entropy(head(h), paddle.to_tensor([0, 1, 2, 0, 1, 2]))
loss.backward()
"""
STATIC = """\
import numpy as np
import paddle
import paddle.nn.functional as F

paddle.enable_static()
paddle.seed(3)
main, startup = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(main, startup):
    x = paddle.static.data("x", [None, 6])
    mask = paddle.static.data("mask", [None, 6])
    y = paddle.static.data("y", [None, 1], "int64")
    h = x * mask
    BODY
    loss = F.cross_entropy(paddle.static.nn.fc(h, 3), y)
    paddle.optimizer.SGD(0.1).minimize(loss)
exe = paddle.static.Executor()
exe.run(startup)
mask = (np.arange(6) < np.array([[3], [6], [2], [4]])).astype("float32")
exe.run(main, {"x": np.random.rand(4, 6).astype("float32"), "mask": mask, "y": [[0], [1], [2], [0]]}, [loss])
"""


def function(body: str, loss: str = ENTROPY) -> str:
    return FUNCTION.replace("BODY", body).replace("LOSS", loss)


def static(body: str) -> str:
    return STATIC.replace("BODY", body)


HERE = "h = h * F.softmax(h, axis=0)  # here"
KEEPING = """m = h.mean(0)
    forward.mean = 0.9 * getattr(forward, "mean", paddle.zeros([8])) + 0.1 * m.detach()
    h = (h - m) / (h.std(0) + 1e-5)"""
WRONG = {
    "statistics of the batch": (
        function("h = (h - h.mean(0)) / (h.std(0) + 1e-5)  # here"),
        "GT601",
        "through reduce_mean",
    ),
    "a function, over the batch": (function(HERE), "GT601", "softmax"),
    "its squared errors, over the batch": (
        function(HERE, "loss = ((forward(x)[:, :1] - y.astype('float32').unsqueeze(1)) ** 2).mean()"),
        "GT601",
        "softmax",
    ),
    "pairs of what met before": (
        function(HERE, "loss = F.cross_entropy(forward(x) @ forward(x + 0.1).T, paddle.arange(6))"),
        "GT601",
        "softmax",
    ),
    "between two layers, over the batch": (BESIDE.replace("AXIS", "0"), "GT601", "softmax"),
    "a function whose mask is one step too wide": (
        ATTENTION.replace("MASK", "paddle.triu(paddle.full([5, 5], -1e9), 2)"),
        "GT602",
        "matmul",
    ),
    "a program, over the batch": (static(HERE), "GT601", "softmax"),
    "a program that cuts a feature off": (
        static("h = h[:, 1:]").replace("fc(h, 3), y)", "fc(h, 3), y)  # here").replace("= x * mask", "= x + 0 * mask"),
        "GT603",
        "mask has no influence",
    ),
    "a program that draws while it predicts": (
        static('h = h * (paddle.rand([6]) > 0.5).astype("float32")  # here'),
        "GT604",
        "uniform_random",
    ),
    "data that a program does not read": (static('paddle.static.data("z", [4])  # here'), "GT603", "no operator reads"),
}


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_a_planted_mistake_is_found_at_its_line(case: str, tmp_path: Path) -> None:
    text, code, words = WRONG[case]
    first = found(tmp_path, text)[0]
    assert (first.code, words in first.message) == (code, True), first.message
    line = next((i for i, t in enumerate(text.splitlines(), 1) if "# here" in t), 0)
    if code == "GT601":
        assert first.evidence["input_change"] > 0 < first.evidence["output_change"]
        assert any(text.startswith("a change of sample ") for text in first.explanation)
    assert words.startswith("mask") or (first.spot is not None and first.spot.line == line)


RIGHT = {
    "a function": function("h = h * F.softmax(h)"),
    "inputs that are mixed before the model": function(
        "pass", "loss = F.cross_entropy(forward(0.7 * x + 0.3 * x[paddle.randperm(6)]), y)"
    ),
    "which of two steps comes first": ATTENTION.replace(
        "MASK", "F.embedding((at.unsqueeze(0) > at.unsqueeze(1)).astype('int64'), near)[:, :, 0]"
    )
    .replace("def forward", "at, near = paddle.arange(5), paddle.create_parameter([2, 1], 'float32')\n\n\ndef forward")
    .replace("ids[:, 1:])", "paddle.randint(0, 9, [3, 5]))"),
    "a causal function": ATTENTION.replace("MASK", "paddle.triu(paddle.full([5, 5], -1e9), 1)"),
    "layers one after the other": BESIDE.replace("AXIS", "-1"),
    "a program with dropout and batch norm": static("h = F.dropout(paddle.static.nn.batch_norm(h), 0.4)"),
}


@pytest.mark.parametrize("case", RIGHT, ids=str)
def test_nothing_is_said_of_what_is_right(case: str, tmp_path: Path) -> None:
    assert found(tmp_path, RIGHT[case]) == []


DOUBTFUL = {
    "statistics of the batch that are kept": (function(KEEPING), "through reduce_mean"),
    "dropout": (function("h = F.dropout(h, 0.5)"), "dropout draws random numbers"),
    "pairs that are compared": (
        function("pass", "loss = F.cross_entropy(forward(x) @ forward(x + 0.1).T, paddle.arange(6))"),
        "whether its rows are samples",
    ),
    "nodes of a graph that are normalised": (
        """\
import paddle
import paddle.nn.functional as F

paddle.seed(3)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.BatchNorm1D(8), paddle.nn.Linear(8, 3))


class Graph(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = net

    def forward(self, nodes, edges):
        return self.net(paddle.matmul(edges, nodes))


loss = F.cross_entropy(Graph()(paddle.rand([6, 4]), paddle.rand([6, 6])), paddle.to_tensor([0, 1, 2, 0, 1, 2]))
loss.backward()
""",
        "whether its rows are samples",
    ),
}


@pytest.mark.parametrize("case", DOUBTFUL, ids=str)
def test_what_intent_decides_is_a_note(case: str, tmp_path: Path) -> None:
    text, words = DOUBTFUL[case]
    (note,) = found(tmp_path, text)
    assert (note.code, words in note.message) == ("GT901", True), note.message


VIEW = """\
import paddle
import paddle.nn.functional as F

paddle.seed(3)
first, second, last = (paddle.create_parameter(s, "float32") for s in ([4, 8], [8, 8], [8, 3]))


def forward(x):
    x = LAID_OUT  # here
    h = paddle.zeros([x.shape[1], 8])
    for step in x:
        h = paddle.tanh(step @ first + h @ second)
    return h @ last


loss = F.cross_entropy(forward(paddle.rand([6, 5, 4])), paddle.randint(0, 3, [6]))
loss.backward()
"""


def test_how_data_is_laid_out_is_part_of_the_function(tmp_path: Path) -> None:
    (mixed,) = found(tmp_path, VIEW.replace("LAID_OUT", "x.reshape([5, 6, 4])"))
    assert (mixed.code, "reshape" in mixed.message) == ("GT601", True)
    assert found(tmp_path, VIEW.replace("LAID_OUT", "x.transpose([1, 0, 2])")) == []


def test_a_next_step_that_a_window_shows_reaches_the_prediction(tmp_path: Path) -> None:
    text = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(3)
embed, window, head = nn.Embedding(9, 8), nn.Conv1D(8, 8, 3, padding=PADDING), nn.Linear(8, 9)
text = paddle.randint(0, 9, [4, 8])
h = window(embed(text[:, :-1]).transpose([0, 2, 1]))[:, :, :7].transpose([0, 2, 1])
loss = F.cross_entropy(head(h), text[:, 1:])
loss.backward()
"""
    (seen,) = found(tmp_path, text.replace("PADDING", "1"))
    assert (seen.code, seen.spot.line) == ("GT602", 8)
    assert found(tmp_path, text.replace("PADDING", "2")) == []


DISTILLED = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
x, y = paddle.rand([6, 4]), paddle.randint(0, 3, [6])


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.drop, self.head = nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(DROP(F.relu(self.body(x))))


student, teacher = Net(), nn.Linear(4, 3)
teacher.weight.stop_gradient = teacher.bias.stop_gradient = True
s = student(x)
loss = F.kl_div(F.log_softmax(s / 4), F.softmax(teacher(x) / 4)) + F.cross_entropy(s, y)
loss.backward()
"""


def test_dropout_of_a_layer_has_its_mode_beside_other_operators(tmp_path: Path) -> None:
    assert found(tmp_path, DISTILLED.replace("DROP", "self.drop")) == []
    assert [f.code for f in found(tmp_path, DISTILLED.replace("DROP", "F.dropout"))] == ["GT604"]
