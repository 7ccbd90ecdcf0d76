"""``gradtool.check``, ``flow``, ``diff`` and ``graph``: what the commands of these names answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UsageError

WRONG = """\
import paddle
net = paddle.nn.Linear(2, 1)
head = paddle.nn.Linear(1, 1)
x = paddle.ones([3, 2])
loss = head(net(x).detach()).mean()
loss.backward()
"""


@pytest.fixture
def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a file with a layer that is cut off."""
    monkeypatch.chdir(tmp_path)
    Path("wrong.py").write_text(WRONG, encoding="utf-8")
    return "wrong.py"


def test_check_gives_the_report_of_the_command(wrong: str) -> None:
    report = gradtool.check(wrong, select=["GT103"], jobs=0)
    assert report.findings == 1
    assert "GT103 detached" in str(report)
    assert [finding["code"] for finding in report.data["results"]] == ["GT103"]
    assert gradtool.check(wrong, select="GT103", ignore="detached", jobs=0).findings == 0


def test_flow_takes_a_file_or_a_loaded_model(wrong: str) -> None:
    from_file = gradtool.flow(wrong, from_="x", to="loss")
    from_model = gradtool.flow(gradtool.load(wrong), from_=["x"], to=["loss"])
    assert json.dumps(from_file.data) == json.dumps(from_model.data)
    assert len(from_file.pairs) == 1


def test_diff_compares_two_files(wrong: str) -> None:
    Path("right.py").write_text(WRONG.replace(".detach()", ""), encoding="utf-8")
    assert gradtool.diff(wrong, wrong).findings == 0
    changed = gradtool.diff(Path("right.py"), wrong)
    assert changed.findings > 0
    assert "detach" in str(changed)


@pytest.mark.usefixtures("dynamic")
def test_graph_draws_a_loss() -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert gradtool.graph((w * w).sum()).text().splitlines()[-1] == "2 of 2 forward ops have a gradient op"


def test_what_is_not_there_is_an_error_of_the_function(wrong: str) -> None:
    with pytest.raises(UsageError, match=r"gradtool\.flow: no such file"):
        gradtool.flow("nosuch.py")
    with pytest.raises(UsageError, match=r"gradtool\.diff: no such file"):
        gradtool.diff("nosuch.py", wrong)
    with pytest.raises(UsageError, match=r"gradtool\.check: unknown rule 'GT9999'"):
        gradtool.check(wrong, select="GT9999", jobs=0)


@pytest.mark.parametrize(("method", "word", "near"), [("why", "prov", "prove"), ("stats", "wurst", "worst")])
def test_a_wrong_keyword_of_a_model_has_near_names(wrong: str, method: str, word: str, near: str) -> None:
    with pytest.raises(ArgumentTypeError, match=rf"Model\.{method}: there is no keyword '{word}'") as raised:
        getattr(gradtool.load(wrong), method)(**{word: 1})
    assert f"did you mean '{near}'" in str(raised.value)
