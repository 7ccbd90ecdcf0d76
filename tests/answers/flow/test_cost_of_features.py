"""Features are looked at one by one as far as that takes a bounded number of operators; the rest is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.answers.flow import inputs
from gradtool.engine.questions.influence import Influence
from gradtool.engine.request.request import Request

SCRIPT = """\
import paddle

paddle.seed(0)
w, scale = paddle.create_parameter([6, 3], "float32"), paddle.create_parameter([6], "float32")
x, y = paddle.randn([8, 6]), paddle.randn([8, 3])
h = x * scale * paddle.to_tensor([1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
loss = ((h @ w).tanh() - y).square().mean()
loss.backward()
"""


def test_what_is_not_looked_at_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.py"
    path.write_text(SCRIPT)
    story = Influence().ask(Request(str(path))).story
    assert [f.message for f in story.facts if "feature 2" in f.message]
    assert not [why for why in story.unchecked if "features" in why]
    monkeypatch.setattr(inputs, "MOST_OPERATORS", 5)
    story = Influence().ask(Request(str(path))).story
    assert not [f.message for f in story.facts if "feature" in f.message]
    assert [why for why in story.unchecked if why.startswith("which features of ")]
