"""The process in which real Paddle runs a script: ``python -m gradtool.engine.loading.paddle_process FOLDER``.

The folder has a request; the run is written there, or why there is none.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.command_errors import CommandError
from ..recorders.real_paddle import running
from ..recorders.recorded import archive
from ..request.request import Request
from ..script.script_state import Loaded
from .loader import run_model

INSTALL = "pip install paddlepaddle"


def main(folder: Path) -> int:
    """Run what is asked for."""
    asked = json.loads((folder / running.REQUEST).read_text(encoding="utf-8"))
    try:
        _must_be_there(asked["model"]["name"])
        record(_request(asked["request"]), str(folder / running.RUN), asked["model"]["folder"])
    except CommandError as error:
        refusal = {"message": str(error), "hint": error.hint, "package": importlib.util.find_spec("paddle") is None}
        (folder / running.REFUSAL).write_text(json.dumps(refusal), encoding="utf-8")
        return 1
    return 0


def record(request: Request, run: str, folder: str) -> None:
    """Run a script in real Paddle, which this process has, and write what it did into the file *run*.

    Args:
        folder: its source files below are named from there.
    """
    from ..recorders.real_paddle.programs import ProgramRuns

    programs = ProgramRuns()
    with running.mark_process(), programs.watch(), archive.record_into(run, folder), run_model(request) as loaded:
        if _is_static(loaded) and not programs.save(Path(run).parent):
            raise CommandError(
                f"{loaded.name} builds a static program and runs none, and --engine paddle answers about what is run",
                "remove --engine paddle, or save the program there and name the file",
            )


def _request(told: Mapping[str, Any]) -> Request:
    """A request as it was before it was written as JSON."""
    lists = {n: tuple(told[n]) for n in ("arg", "script")}
    spared = tuple([(str(file), int(line)) for file, line in told["spared"]])
    return Request.create(
        **{**told, **lists, "spared": spared, "unfinished": True, "post_mortem": False, "journal": False}
    )


def _must_be_there(name: str) -> None:
    if importlib.util.find_spec("paddle") is None:
        raise CommandError(
            f"{name} is to run in PaddlePaddle, and {sys.executable} has none",
            f"{INSTALL}  (or {running.PYTHON}=PATH names a Python that has it, with gradtool next to it)",
        )


def _is_static(loaded: Loaded) -> bool:
    """Return whether the script built a static program, and computed nothing in dynamic mode that was
    differentiated.
    """
    import paddle

    return not loaded.calls.every and not paddle.in_dynamic_mode() and loaded.error is None


if __name__ == "__main__":
    # The folder of a script is put before all others by the loader; the current one was by -m.
    sys.path[:] = [p for p in sys.path if p not in ("", os.getcwd())]
    raise SystemExit(main(Path(sys.argv[1])))
