"""Rows of the tables of gradients: a tensor, its gradient, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gradtool.engine.answers.why.reasons import Reason
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core import source
from gradtool.engine.ir.operator import Operator, each
from gradtool.engine.ir.variable import Variable
from gradtool.engine.view.graph import op_names

from .wording import NOTHING, finite, number

STYLES = {"ok": "good", "cut": "bad", "used, but": "bad", "unused": "warn", "frozen": "dim", "not in": "dim"}
"""How a status looks on a terminal, by its beginning."""

VALUE_HEADINGS = ("‖g‖", "max |g|", "zeros", "not finite")


@dataclass
class Row:
    """One parameter (or another tensor asked for) and what became of its gradient.

    Attributes:
        gradient: its gradient in the program, which may be there although it was not asked for.
        op: the operator that makes the gradient, and its name.
        status: ``ok``, or why ``append_backward`` does not return it.
    """

    variable: Variable
    gradient: Variable | None
    op: tuple[Operator, str] | None
    status: str

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    def value_cells(self, found: dict[str, Any] | None) -> list[str]:
        """The cells under :data:`VALUE_HEADINGS`."""
        if found is None:
            return [NOTHING] * len(VALUE_HEADINGS)
        zeros = f"{found['zeros']}/{found['elements']}"
        return [number(found["norm"]), number(found["max_abs"]), zeros, str(found["nonfinite"])]

    def data(self, found: dict[str, Any] | None) -> dict[str, Any]:
        """The row in JSON's types, with the statistics in *found*."""
        v = self.variable
        file, _, line = self.source.rpartition(":")
        return {
            "name": v.name,
            "shape": list(v.shape),
            "dtype": v.dtype.name,
            "gradient": self.gradient.name if self.gradient is not None else None,
            "operator": self.op[1] if self.op else None,
            "status": self.status,
            "source": {"file": file, "line": int(line)} if file else None,
            "values": None if found is None else {k: finite(n) for k, n in found.items()},
        }

    @property
    def source(self) -> str:
        """``model.py:9``, or empty."""
        return source.short(self.variable.made_at)


def status(reason: Reason[Any, Any]) -> str:
    """The status of a tensor that has no gradient, in the words of the command line."""
    if reason.verdict is Verdict.OK:
        return "cut: the operators on the path pass no gradient"
    return reason.text.replace("cut: no_grad_set", "cut: no_grad_set (--no-grad)")


def gradient_places(ops: Iterable[Operator]) -> dict[Variable, tuple[Operator, str]]:
    """Variable -> the operator that wrote it last, and that operator's name."""
    found: dict[Variable, tuple[Operator, str]] = {}
    for op, name in op_names(ops).items():
        for v in each(op.outputs):
            found[v] = (op, name)
    return found
