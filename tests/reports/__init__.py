"""The smallest scripts that public reports go wrong with, each of a class, and their right answers.

Scripts of Paddle run on the engine; scripts of PyTorch are tested by recorded runs in ``runs``, which
``python -m tests.reports`` writes where torch is installed.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
RUNS = HERE / "runs"


def model(name: str) -> Path:
    """Return the file that a test asks about: the script of a Paddle report, the recorded run of a PyTorch one."""
    return RUNS / f"{name}.torchrun" if name.startswith("torch_") else SCRIPTS / f"{name}.py"
