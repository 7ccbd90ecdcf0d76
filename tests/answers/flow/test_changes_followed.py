"""How a change spreads over a run: linear in the operators, however many values differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradtool.engine.answers.flow import dependence
from gradtool.engine.answers.flow.change_propagation import Spread
from gradtool.engine.questions.flow import Flow
from gradtool.engine.request.request import Request

CHAIN = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [2, 3])
h = x
for _ in range(20):
    h = paddle.tanh(h)
loss = paddle.mean(h)
"""


class Masks(dict[int, Any]):
    """Masks that nobody may look through."""

    def __iter__(self) -> Any:
        raise AssertionError("all masks are looked at for one operator")


def test_an_operator_is_asked_for_what_it_reads_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = []

    class Followed(Spread):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            followed.append(self)
            super().__init__(*arguments, **named)

        @property
        def masks(self) -> Masks:  # type: ignore[override]
            return self._masks

        @masks.setter
        def masks(self, empty: dict[int, Any]) -> None:
            self._masks = Masks(empty)

    monkeypatch.setattr(dependence, "Spread", Followed)
    model = tmp_path / "chain.py"
    model.write_text(CHAIN, encoding="utf-8")
    Flow().ask(Request(str(model)))
    assert max(len(spread.masks) for spread in followed) == 22  # of x, of each tanh and of the mean
