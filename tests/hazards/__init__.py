"""Scripts that end in NaN later, and how many of them are warned of in time; and how many right ones are, in vain."""

from __future__ import annotations

from pathlib import Path

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Finding
from gradtool.engine.request.request import Request

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
RUNS = HERE / "runs"
TESTS = HERE.parent
CODE = "GT209"

RIGHT = (
    "torch/runs/r_*.torchrun",
    "scripts/correct/*.py",
    "corpus/correct/*.py",
    "zoo/models/*.py",
    "../samples/eager_*.py",
    "../samples/*gradient*.py",
    "../samples/*_expert*.py",
    "../samples/*digits.py",
    "../samples/word_embedding.py",
)
"""Patterns of the right programs, from the folder of the tests."""


def models() -> list[Path]:
    """Return what ends in NaN: scripts of Paddle, and recorded runs of scripts of PyTorch."""
    return sorted([*SCRIPTS.glob("paddle_*.py"), *RUNS.glob("torch_*.torchrun")])


def right() -> list[Path]:
    """Return the right programs of the corpora."""
    return sorted({path for pattern in RIGHT for path in TESTS.glob(pattern) if "__init__" not in path.name})


def warnings(model: Path) -> list[Finding]:
    """Return what the rule says about a model."""
    return [f for f in findings(Request(str(model)), model.name, Selection(select=(CODE,))) if f.code == CODE]
