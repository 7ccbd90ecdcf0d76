"""Waivers: which lines a comment speaks of, which findings it takes away, and which comments waive nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate import waivers
from gradtool.engine.gate.check import Check
from gradtool.engine.gate.report import Report
from gradtool.engine.gate.subject import Subject

LAYERS = """\
import paddle

def cut(x):
    return x.detach()  # gradtool: ignore[GT103] {reason}
"""
MODEL = """\
import paddle
from layers import cut

encoder = paddle.nn.Linear(4, 8)
head = paddle.nn.Linear(8, 1)
code = {code}
loss = head(code).mean()
loss.backward()
"""


def report(*names: str) -> Report:
    return Check(jobs=0).ask([Subject(name=name, target=name) for name in names])


def told(*names: str) -> list[tuple[str, str, int]]:
    """Model, code and line."""
    return [(f.model, f.code, f.spot.line if f.spot else 0) for f in report(*names).results]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layers.py").write_text(LAYERS.format(reason="meant"), encoding="utf-8")
    (tmp_path / "cuts.py").write_text(MODEL.format(code="cut(encoder(paddle.rand([5, 4])))"), encoding="utf-8")
    (tmp_path / "whole.py").write_text(MODEL.format(code="encoder(paddle.rand([5, 4]))"), encoding="utf-8")
    return tmp_path


def lines(text: str) -> list[tuple[tuple[str, ...], int, int]]:
    return [(w.codes, w.first, w.last) for w in waivers.find_waivers("f.py", text)]


def test_a_comment_speaks_of_its_statement() -> None:
    text = """\
a = 1  # noqa  # gradtool: ignore[GT103, detached] because
# gradtool: ignore[GT1] of what is below
b = call(
    1,
    2,  # gradtool:ignore[GT2]
)
c = '''  # gradtool: ignore[GT901] a string
'''
for x in b:  # gradtool: ignore[GT3]
    y = x
# gradtool: ignore
"""
    assert lines(text) == [
        (("GT103", "detached"), 1, 1),
        (("GT1",), 3, 6),
        (("GT2",), 3, 6),
        (("GT3",), 9, 9),
        ((), 0, 0),
    ]
    assert lines("(  # gradtool: ignore[GT1]") == [(("GT1",), 0, 0)]


def test_a_waived_finding_is_counted_and_not_told(folder: Path) -> None:
    assert told("cuts.py") == []
    assert report("cuts.py").waiver_count == 1
    (folder / "layers.py").write_text(LAYERS.format(reason="").replace("gradtool:", "grad:"), encoding="utf-8")
    assert told("cuts.py") == [("cuts.py", "GT103", 4)]


def test_a_waiver_that_one_model_uses_is_used(folder: Path) -> None:
    assert told("whole.py") == [("whole.py", "GT902", 4)]
    assert told("whole.py", "cuts.py") == []


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# gradtool: ignore", "names no rule"),
        ("# gradtool: ignore[GT1O3] x", "names GT1O3: there is no such rule"),
        ("# gradtool: ignore[GT103,GT205] x", "nothing of GT205 is found here"),
    ],
)
def test_what_is_wrong_with_a_waiver(folder: Path, comment: str, said: str) -> None:
    (folder / "layers.py").write_text(
        LAYERS.format(reason="").replace("# gradtool: ignore[GT103]", comment), encoding="utf-8"
    )
    (finding,) = [f for f in report("cuts.py").results if f.code == "GT902"]
    assert said in finding.message
    assert finding.spot is not None
    assert (Path(finding.spot.file).name, finding.spot.line, finding.spot.column) == ("layers.py", 4, 24)


def test_of_what_was_not_checked_nothing_is_said(folder: Path) -> None:
    (folder / "raises.py").write_text("import layers\n1 / 0\n", encoding="utf-8")
    assert told("raises.py") == [("raises.py", "GT903", 2)]
    assert told("whole.py", "raises.py") == [("raises.py", "GT903", 2)]
    models = [Subject(name="whole.py", target="whole.py")]
    from gradtool.engine.gate.policy import Policy
    from gradtool.engine.gate.selection import Selection

    assert not Check(jobs=0, policy=Policy(selection=Selection(select=("GT2", "GT902")))).ask(models).results


def test_of_what_a_rule_could_not_look_at_no_waiver_is_unused(folder: Path) -> None:
    text = "import paddle\nw = paddle.ones([2])\nw.stop_gradient = False\n"
    text += "(w * w).sum().backward()  # gradtool: ignore[{}] x\n"
    Path("plain.py").write_text(text.format("GT601"), encoding="utf-8")
    assert told("plain.py") == [("plain.py", "GT901", 0)]
    Path("plain.py").write_text(text.format("GT605"), encoding="utf-8")
    assert told("plain.py") == [("plain.py", "GT902", 4), ("plain.py", "GT901", 0)]


def test_a_waiver_of_what_a_stopped_file_did_not_reach_is_not_unused(folder: Path) -> None:
    loop = (
        "import paddle\nnet = paddle.nn.Linear(4, 1)\nfor step in range(5):\n"
        "    loss = net(paddle.rand([2, 4])).mean()\n    loss.backward()\n    net.clear_gradients()\n"
        "code = net(paddle.rand([2, 4])).detach()  # gradtool: ignore[GT103] afterwards\n"
    )
    (folder / "loop.py").write_text(loop, encoding="utf-8")

    def codes(**options: int) -> list[str]:
        subject = Subject(name="loop.py", target="loop.py", options=options)
        return [f.code for f in Check(jobs=0).ask([subject]).results]

    assert codes(steps=3) == ["GT901"]
    assert codes() == ["GT902"]


def test_a_waiver_in_a_file_that_raises_is_honoured_and_not_unused(folder: Path) -> None:
    raising = MODEL.format(code="encoder(paddle.rand([5, 4]))  # gradtool: ignore[GT103] meant") + "1 / 0"
    (folder / "raises.py").write_text(raising, encoding="utf-8")
    assert told("raises.py") == [("raises.py", "GT903", 9)]
    waived = raising + "  # gradtool: ignore[GT903] it ends so"
    (folder / "raises.py").write_text(waived, encoding="utf-8")
    assert told("raises.py") == []
    assert [(s.finding.code, s.reason) for s in report("raises.py").suppressed] == [("GT903", "it ends so")]
