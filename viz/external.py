"""Drawing by Graphviz's programs, which may be missing and must not run for ever."""

from __future__ import annotations

import shutil
import subprocess
from typing import Final

from gradtool.engine.errors import BackendError

INSTALL: Final = (
    "install Graphviz (apt install graphviz, brew install graphviz, winget install graphviz); SVG and DOT need nothing"
)


class GraphvizError(BackendError):
    """Graphviz is missing, failed, or took too long."""


class GraphvizTimeout(GraphvizError):
    """Graphviz did not finish within its time."""


def draw(text: str, form: str, *, program: str = "neato", seconds: float | None = None) -> bytes:
    """What Graphviz makes of DOT text.

    Args:
        form: ``png``, ``pdf``, ``svg``.
        program: ``neato`` draws what has places; ``dot`` finds places itself.
        seconds: how long it may take.

    Raises:
        GraphvizTimeout: it took longer, and was ended.
        GraphvizError: it is not installed, or failed.
    """
    found = shutil.which(program)
    if found is None:
        raise GraphvizError(f"{form} is drawn by Graphviz, and there is no program '{program}'.", hint=INSTALL)
    command = [found, *(["-n2"] if program == "neato" else []), f"-T{form}"]
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise GraphvizTimeout(f"{program} did not finish in {seconds:g} s and was ended.") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GraphvizError(f"{program} failed: {said[-1] if said else f'exit code {done.returncode}'}")
    return done.stdout
