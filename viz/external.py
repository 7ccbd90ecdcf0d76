"""Drawing by Graphviz's programs, which may be missing and must not run for ever."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from typing import Final

from gradtool.engine.core.errors import BackendError

INSTALL: Final = (
    "install Graphviz (apt install graphviz, brew install graphviz, winget install graphviz), "
    "or a package that brings it along (pip install 'gradtool[render]'); SVG and DOT need nothing"
)

_LIBRARY: Final = """\
import sys
import pygraphviz
text = sys.stdin.buffer.read().decode()
sys.stdout.buffer.write(pygraphviz.AGraph(string=text).draw(format=sys.argv[2], prog=sys.argv[1]))
"""
"""What Graphviz's programs do, done by the libraries inside the package pygraphviz: in a process of its own, because no
other way ends a layout that takes too long."""


class GraphvizError(BackendError):
    """Graphviz is missing, failed, or took too long."""

    code = "GT-E310"


class GraphvizTimeout(GraphvizError):
    """Graphviz did not finish within its time."""

    code = "GT-E311"


def draw(text: str, form: str, *, program: str = "neato", seconds: float | None = None) -> bytes:
    """Draw DOT text with Graphviz.

    Args:
        form: ``png``, ``pdf``, ``svg``.
        program: ``neato`` draws what has places; ``dot`` finds places itself.
        seconds: how long it may take.

    Raises:
        GraphvizTimeout: it took longer, and was ended.
        GraphvizError: it is not installed, or failed.
    """
    command = _command(program, form)
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise GraphvizTimeout(f"{program} did not finish in {seconds:g} s and was ended.") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GraphvizError(f"{program} failed: {said[-1] if said else f'exit code {done.returncode}'}")
    return done.stdout


def _command(program: str, form: str) -> list[str]:
    """Return the command to run: a program of Graphviz, or else Python with pygraphviz.

    Raises:
        GraphvizError: neither is installed.
    """
    path = shutil.which(program)
    if path is not None:
        return [path, *(["-n2"] if program == "neato" else []), f"-T{form}"]
    if importlib.util.find_spec("pygraphviz") is not None:
        return [sys.executable, "-P", "-c", _LIBRARY, "nop2" if program == "neato" else program, form]
    raise GraphvizError(
        f"{form} is drawn by Graphviz, and there is neither a program '{program}' nor the package pygraphviz.",
        hint=INSTALL,
    )
