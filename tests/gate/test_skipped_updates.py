"""Updates that a scaler skips: the optimizer was stepped, and the number that is not finite is the cause."""

from __future__ import annotations

from pathlib import Path

from gradtool.engine.gate.checking import findings
from gradtool.engine.gate.selection import Selection
from gradtool.engine.request.request import Request

SCRIPT = Path(__file__).parents[1] / "scripts" / "numerics" / "scale_that_never_fits.py"


def test_a_step_that_was_skipped_is_no_missing_step() -> None:
    found = findings(Request(str(SCRIPT)), "model", Selection())
    assert [f.code for f in found if f.severity.reaches(f.severity.WARNING)] == ["GT202"]
