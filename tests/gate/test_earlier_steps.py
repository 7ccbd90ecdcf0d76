"""What fails in one step only is found, with its step; equal steps are looked at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.questions import influence
from gradtool.engine.request.request import Request
from gradtool.engine.runs.timeline import Timeline

pytestmark = pytest.mark.usefixtures("no_rule_raises")

LOOP = """\
import paddle
import paddle.nn.functional as F
paddle.seed(0)
net = paddle.nn.Linear(4, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range({steps}):
    x = paddle.rand([64, 4])
    y = paddle.randint(0, 2, [64])
    if step {when}:
        {slip}
    else:
        {right}
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
RIGHT = "loss = F.cross_entropy(net(x), y)"
SLIPS = {
    "GT209": "p = F.softmax(net(x)); loss = -paddle.log(p).mean()",
    "GT706": "loss = ((net(x)[:, :1] - x.sum(1)) ** 2).mean()",
    "GT605": "x = paddle.concat([x[:, :3], y.astype('float32').unsqueeze(1)], 1); loss = F.cross_entropy(net(x), y)",
    "GT708": "loss = F.cross_entropy(F.softmax(net(x)), y)",
}


def found(folder: Path, text: str, code: str) -> list[tuple[str, float]]:
    """Return the line and the step of what a rule finds."""
    file = folder / "model.py"
    file.write_text(text, encoding="utf-8")
    told = findings(Request(str(file)), file.name, Selection(select=(code,)))
    return [(f.spot.text if f.spot is not None else "", f.evidence.get("step", 0)) for f in told]


@pytest.mark.parametrize("code", SLIPS)
@pytest.mark.parametrize(("when", "step"), [("== 0", 1), ("== 2", 3), ("in (1, 3)", 2), ("== 5", 0), ("> 1", 0)])
def test_a_slip_in_one_step_is_found_with_its_step(tmp_path: Path, code: str, when: str, step: int) -> None:
    text = LOOP.format(steps=6, when=when, slip=SLIPS[code], right=RIGHT)
    assert [s for _, s in found(tmp_path, text, code)] == [step]


def test_the_message_begins_with_the_step(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(LOOP.format(steps=6, when="== 2", slip=SLIPS["GT209"], right=RIGHT), encoding="utf-8")
    (finding,) = findings(Request(str(file)), file.name, Selection(select=("GT209",)))
    assert finding.message.startswith("step 3: log of softmax")


def test_the_same_line_with_other_shapes_is_looked_at_again(tmp_path: Path) -> None:
    right = "t = x.sum(1) if step == 3 else x.sum(1, keepdim=True); loss = ((net(x)[:, :1] - t) ** 2).mean()"
    text = LOOP.format(steps=6, when="< 0", slip="pass", right=right)
    assert [s for _, s in found(tmp_path, text, "GT706")] == [4]


@pytest.mark.parametrize(("steps", "looks"), [(1, 0), (2, 1), (40, 1)])
def test_equal_steps_are_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int, looks: int
) -> None:
    runs: list[Timeline] = []
    look = influence._look_at_earlier
    monkeypatch.setattr(
        influence, "_look_at_earlier", lambda run, unchecked: (runs.append(run), look(run, unchecked))[1]
    )
    text = LOOP.format(steps=steps, when="< 0", slip="pass", right=RIGHT)
    assert found(tmp_path, text, "GT209") == []
    assert len(runs) == looks


def test_units_that_were_flat_at_first_and_learn_later_are_no_finding(tmp_path: Path) -> None:
    right = "h = paddle.tanh(net(x * (100.0 if step == 0 else 1.0))); loss = (h @ net.weight.t()).square().mean()"
    assert found(tmp_path, LOOP.format(steps=4, when="< 0", slip="pass", right=right), "GT208") == []


def test_a_look_that_raises_leaves_the_script_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_error(run: Timeline, unchecked: list[str]) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(influence, "_look_at_earlier", raise_error)
    (tmp_path / "model.py").write_text(LOOP.format(steps=3, when="== 2", slip=SLIPS["GT209"], right=RIGHT))
    told = findings(Request(str(tmp_path / "model.py")), "model.py", Selection())
    assert "GT209" in {f.code for f in told}
    assert any("backward pass 1: ValueError: a fault" in f.message + " ".join(f.explanation) for f in told)


BATCHES = """\
import paddle
import paddle.nn.functional as F
paddle.seed(0)
net = paddle.nn.Linear(5, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
data, labels = paddle.rand([6, 64, 5]), paddle.randint(0, 2, [6, 64])
{slip}
for step in range(6):
    x, y = {x}, labels[step]
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
CHOICES = {
    "slice": "data[step]",
    "copy": "paddle.to_tensor(data[step].numpy())",
    "gather": "paddle.gather(data, paddle.to_tensor([step]))[0]",
    "stack": "paddle.stack([data[step, i] for i in range(64)])",
    "concat": "paddle.concat([data[step, :32], data[step, 32:]])",
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(("batch", "step"), [(0, 1), (2, 3), (5, 0)])
def test_a_label_in_the_data_of_one_batch_alone_is_found(tmp_path: Path, choice: str, batch: int, step: int) -> None:
    slip = f"data[{batch}, :, 3] = labels[{batch}].astype('float32')"
    text = BATCHES.format(slip=slip, x=CHOICES[choice])
    assert [s for _, s in found(tmp_path, text, "GT605")] == [step]


@pytest.mark.parametrize("choice", CHOICES)
def test_data_without_labels_is_looked_at_in_no_further_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    runs: list[Timeline] = []
    look = influence._look_at_earlier
    monkeypatch.setattr(
        influence, "_look_at_earlier", lambda run, unchecked: (runs.append(run), look(run, unchecked))[1]
    )
    assert found(tmp_path, BATCHES.format(slip="pass", x=CHOICES[choice]), "GT605") == []
    assert len(runs) == 1


def test_the_next_step_that_stands_in_one_batch_alone_is_found(tmp_path: Path) -> None:
    text = """\
import paddle
import paddle.nn.functional as F
paddle.seed(0)
table, mix, head = paddle.nn.Embedding(9, 8), paddle.nn.Linear(12, 12), paddle.nn.Linear(8, 9)
opt = paddle.optimizer.SGD(0.1, parameters=[*table.parameters(), *mix.parameters(), *head.parameters()])
data, labels = paddle.randint(0, 9, [5, 6, 12]), paddle.randint(0, 9, [5, 6, 12])
labels[2, :, :-1] = data[2, :, 1:]
for step in range(5):
    x, y = data[step], labels[step]
    seen = mix(table(x).transpose([0, 2, 1])).transpose([0, 2, 1])
    loss = F.cross_entropy(head(seen).reshape([-1, 9]), y.reshape([-1]))
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
    assert [s for _, s in found(tmp_path, text, "GT602")] == [3]


SPARSE = """\
import paddle
import paddle.nn.functional as F
paddle.seed(0)
table = paddle.nn.Embedding(50, 8, sparse=True)
head = paddle.nn.Linear(8, 3)
opt = paddle.optimizer.Adam(0.01, parameters=[*table.parameters(), *head.parameters()], lazy_mode=True)
for step in range(6):
    ids, y = paddle.randint(0, 50, [16, 4]), paddle.randint(0, 3, [16])
    p = F.softmax(head(table(ids).mean(1)))
    loss = F.nll_loss(paddle.log(p + 1e-6), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
"""


def test_rows_of_a_table_are_no_batch_that_holds_labels(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(SPARSE, encoding="utf-8")
    told = findings(Request(str(tmp_path / "model.py")), "model.py", Selection())
    assert {f.code for f in told} <= {"GT901"}
