"""Training scripts compared with edited copies of themselves: the edit is told, behind whichever loss it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.questions.diff import Diff, Differences
from gradtool.engine.request.request import Request

SCRIPTS = Path(__file__).parents[2] / "scripts" / "correct"


def compared(folder: Path, script: str, *edits: tuple[str, str], values: bool = False) -> Differences:
    text = (SCRIPTS / script).read_text(encoding="utf-8")
    (folder / "before.py").write_text(text, encoding="utf-8")
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after, 1)
    (folder / "after.py").write_text("# an edited copy\n\n" + text, encoding="utf-8")
    sides = str(folder / "before.py"), str(folder / "after.py")
    return Diff(values=values).ask(sides, Request.create(sides[1], steps=3, unfinished=True))


@pytest.mark.parametrize(
    ("script", "edit", "said"),
    [
        ("static_training_loop.py", ("relu", "sigmoid"), ["relu.0 is sigmoid.0 now"]),
        ("multi_task_heads.py", ("mse_loss(", "l1_loss("), [f"square.{n} is abs.{n} now" for n in range(3)]),
    ],
)
def test_one_edit_is_one_change(tmp_path: Path, script: str, edit: tuple[str, str], said: list[str]) -> None:
    answer = compared(tmp_path, script, edit)
    assert [c.text for c in answer.difference.changes] == said


def test_a_change_behind_another_loss_is_told_with_that_loss(tmp_path: Path) -> None:
    answer = compared(tmp_path, "soft_actor_critic.py", ("mse_loss(", "l1_loss("))
    assert not answer.difference.changes
    (critic,) = [o for o in answer.others if o.changes]
    assert (critic.loss, [c.text for c in critic.changes]) == ("critic_loss", ["square.0 is abs.0 now"])
    assert answer.findings


def test_a_loss_that_one_side_alone_backpropagates_is_a_change(tmp_path: Path) -> None:
    answer = compared(tmp_path, "soft_actor_critic.py", ("critic_loss.backward()", "pass"))
    changes = {(o.loss, c.text) for o in answer.others for c in o.changes}
    assert ("critic_loss", "backward pass of critic_loss removed") in changes
    assert answer.findings


@pytest.mark.parametrize(
    "script", ["gan_of_two_optimizers.py", "static_gradient_penalty.py", "loop_that_keeps_its_size.py"]
)
def test_a_moved_script_is_the_same_with_its_values(tmp_path: Path, script: str) -> None:
    answer = compared(tmp_path, script, values=True)
    assert not answer.findings
    assert not answer.alone
    assert answer.values is not None
    assert answer.values.compared > 0
    assert not answer.values.unmatched


BLOCKS = """\
import paddle

class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm, self.linear = paddle.nn.LayerNorm(4), paddle.nn.Linear(4, 4)

    def forward(self, x):
        return x + self.linear(self.norm(x))

blocks = [Block() for _ in range(3)]
x = paddle.rand([2, 4])
for block in blocks:
    x = block(x)
loss = x.mean()
"""


def test_layers_in_another_order_keep_their_parameters(tmp_path: Path) -> None:
    (tmp_path / "before.py").write_text(BLOCKS, encoding="utf-8")
    after = BLOCKS.replace("x + self.linear(self.norm(x))", "self.norm(x + self.linear(x))")
    (tmp_path / "after.py").write_text(after, encoding="utf-8")
    sides = str(tmp_path / "before.py"), str(tmp_path / "after.py")
    changes = Diff().ask(sides, Request(sides[1])).difference.changes
    assert {c.kind for c in changes} == {"moved", "rewired"}
    assert [c.before for c in changes if c.kind == "moved"] == [["layer_norm.0"], ["layer_norm.1"], ["layer_norm.2"]]


def test_a_block_more_is_named_by_its_layer(tmp_path: Path) -> None:
    listed = BLOCKS.replace("[Block() for _ in range(3)]", "paddle.nn.LayerList([Block() for _ in range(N)])")
    for name, number in (("before.py", "3"), ("after.py", "4")):
        (tmp_path / name).write_text(listed.replace("N)", f"{number})"), encoding="utf-8")
    sides = str(tmp_path / "before.py"), str(tmp_path / "after.py")
    first, *rest = Diff().ask(sides, Request(sides[1])).difference.changes
    assert (first.kind, first.layer) == ("added", "3")
    assert {c.kind for c in rest} == {"leaf"}
