"""A loss whose two distributions sum to 1 along different axes; and reshapes of data that an operator laid out."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

MODEL = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
teacher, student = nn.Linear(4, 3), nn.Linear(4, 3)
opt = paddle.optimizer.SGD(0.1, parameters=student.parameters())
x, y = paddle.randn([8, 4]), paddle.randint(0, 3, [8])
for _ in range(2):
    with paddle.no_grad():
        t = {target}
    s = student(x)
    loss = {loss}
    loss.backward()
    opt.step()
    opt.clear_grad()
"""

LOSSES = {
    "divergence": "F.kl_div(F.log_softmax(s), t, reduction='batchmean')",
    "divergence of warm scores": "F.kl_div(F.log_softmax(s / 4, axis=1), t * 1.0, reduction='sum')",
    "written out": "-(t * F.log_softmax(s, axis=-1)).sum(-1).mean()",
    "soft labels": "F.cross_entropy(s, t, soft_label=True)",
}
WRONG = "F.softmax(teacher(x), axis=0)"
RIGHT = {
    "classes": ("F.softmax(teacher(x), axis=-1)", LOSSES["written out"]),
    "pairs both ways": (
        "teacher(x)",
        "-(F.softmax(t @ t.T).T * F.log_softmax((s @ t.T).T)).sum()",
    ),
    "both axes of scores": ("teacher(x)", "-(F.softmax(s @ t.T, axis=0) * F.softmax(s @ t.T, axis=1)).sum()"),
    "weights of samples": ("F.softmax(teacher(x).sum(1, keepdim=True), axis=0)", LOSSES["written out"]),
    "drawn": ("teacher(x)", "-(s * F.log_softmax(s, axis=-1)).sum()"),
}


def found(text: str, tmp_path: Path) -> list[tuple[str, str]]:
    path = tmp_path / "model.py"
    path.write_text(text)
    said = findings(Request.create(str(path)), path.name, Selection(select=("GT601", "GT606")))
    return [(f.code, f.spot.text.strip()) for f in said if f.spot is not None]


@pytest.mark.parametrize("name", LOSSES)
def test_a_target_that_sums_to_1_over_the_samples_is_found(name: str, tmp_path: Path) -> None:
    text = MODEL.format(target=WRONG, loss=LOSSES[name])
    assert found(text, tmp_path) == [("GT601", f"t = {WRONG}")]


@pytest.mark.parametrize("name", RIGHT)
def test_others_are_silent(name: str, tmp_path: Path) -> None:
    target, loss = RIGHT[name]
    assert found(MODEL.format(target=target, loss=loss), tmp_path) == []


LABELS = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
net = nn.Conv2D(3, 5, 3, padding=1)
images, labels = paddle.randn([2, 3, 6, 4]), paddle.randint(0, 5, [2, 6, 4])
target = F.one_hot(labels, 5).{layout}
loss = ((F.softmax(net(images), axis=1) - target) ** 2).mean()
loss.backward()
"""


@pytest.mark.parametrize(("layout", "is_wrong"), [("reshape([2, 5, 6, 4])", True), ("transpose([0, 3, 1, 2])", False)])
def test_labels_whose_axes_only_seem_to_change_places(layout: str, is_wrong: bool, tmp_path: Path) -> None:
    wrong = [("GT606", f"target = F.one_hot(labels, 5).{layout}")]
    assert found(LABELS.format(layout=layout), tmp_path) == (wrong if is_wrong else [])
