"""``--engine paddle``: the script runs in a process of its own, in real Paddle, and what it did is played here.

``import paddle`` finds gradtool in this process, so the recorder has another one (:mod:`.process`), of this Python or
of the one that ``GRADTOOL_PYTHON`` names. What it did comes back as a file, as recorded runs are.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.command_errors import CommandError, PackageNeeded
from ...files import temporary_files
from ...importers import Imported
from ...request.request import Request
from ...script.script_state import Loaded
from ...script.target import Target
from ..recorded.frameworks import PADDLE

if TYPE_CHECKING:
    from ..recorded.running import Watched

PYTHON = "GRADTOOL_PYTHON"
"""The environment variable that names the Python with Paddle, where that is not the one that gradtool runs in."""

ENGINE = "paddle"
RUN = f"run{PADDLE.ending}"
REQUEST = "request.json"
REFUSAL = "refusal.json"
PROGRAM = "program"
"""What the files of a static program are called, by their ends."""
FEED = "feed.npz"
FETCHED = "fetched.json"

_inside: ContextVar[bool] = ContextVar("gradtool_inside_paddle", default=False)


def is_elsewhere(request: Request) -> bool:
    """Return whether a model is to run in another process."""
    return request.run.engine == ENGINE and not _inside.get()


@contextmanager
def mark_process() -> Iterator[None]:
    """Inside, this process is the one that real Paddle runs in."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


@contextmanager
def replay(target: Target, request: Request) -> Iterator[Target]:
    """Yield the run of *target* in real Paddle, as a model that is a recorded run.

    Raises:
        CommandError: it is no Python, gradtool or Paddle is not installed there, or the process ended otherwise.
    """
    if target.saved is not None:
        raise CommandError(f"{target.name} is no Python: real Paddle has nothing to run", "remove --engine paddle")
    if request.inputs.arrays is not None:
        raise CommandError("arrays of the command line do not go to another process", "remove --engine paddle")

    from ..recorded.archive import RecordedRun

    with temporary_files.folder() as folder:
        _run(target, request, Path(folder))
        program = next(
            (p for p in sorted(Path(folder).glob(f"{PROGRAM}.*")) if p.suffix in (".pdmodel", ".json")), None
        )
        if program is not None:
            # Its variables were made by that file, as far as people are told: no line of the script is known for them.
            read = replace(target, file=program.name, function=None, cells=())
            yield replace(read, saved=lambda: _static(program))
            return
        data = (Path(folder) / RUN).read_bytes()
    file = Path(target.file)
    yield replace(target, saved=lambda: RecordedRun(file, data), replayed=True, function=None, cells=())


def _static(path: Path) -> Imported:
    """The static program that the script ran there, with its values, and with what it was fed."""
    import numpy as np

    from ...importers import saved_program

    saved = saved_program.reader(path, path.read_bytes())()
    program = saved.program if isinstance(saved, Imported) else saved
    with np.load(path.with_name(FEED)) as arrays:
        feed = dict(arrays)
    fetched = json.loads(path.with_name(FETCHED).read_text(encoding="utf-8"))
    note = "the static program that it ran in real Paddle, with its values when the script ended; gradtool computes it"
    if path.suffix == ".json":
        note += "; FLAGS_enable_pir_api=0 has Paddle keep its lines"
    return Imported(program, tuple(fetched), (note,), feed)


def _run(target: Target, request: Request, folder: Path) -> None:
    """Have the other process run it, and write down what it did."""
    import subprocess

    told: dict[str, Any] = {"model": request.model, **request.options(), "arrays": None}
    model = {"name": target.name, "folder": target.folder or os.getcwd()}
    (folder / REQUEST).write_text(json.dumps({"request": told, "model": model}), encoding="utf-8")
    python = os.environ.get(PYTHON) or sys.executable
    words = [python, "-P", "-m", "gradtool.engine.loading.paddle_process", str(folder)]
    try:
        # stdout is for answers here: what the script prints goes where messages go.
        process = subprocess.Popen(words, stdout=_messages())
    except OSError as error:
        raise CommandError(f"{PYTHON} names {python}, which does not start: {error.strerror}") from None
    while True:
        try:
            code = process.wait()
            break
        except KeyboardInterrupt:
            continue  # it was told as well, and writes down what it has
    if (folder / REFUSAL).exists():
        refusal = json.loads((folder / REFUSAL).read_text(encoding="utf-8"))
        if refusal["package"]:
            raise PackageNeeded(refusal["message"], refusal["hint"])
        raise CommandError(refusal["message"], refusal["hint"])
    if not (folder / RUN).exists() and not (folder / FETCHED).exists():
        raise CommandError(
            f"{target.name} ended in real Paddle with exit code {code} before what it did was written down",
            f"gradtool must be installed there, too: {python} -m pip install gradtool",
        )


def _messages() -> int | None:
    """Return the descriptor that messages go to, as the other process can write there."""
    try:
        return sys.stderr.fileno()
    except (OSError, AttributeError, ValueError):
        from subprocess import DEVNULL

        return DEVNULL


@contextmanager
def watch_file(loaded: Loaded, request: Request) -> Iterator[Watched]:
    """Watch a file while it runs inside, in the process of real Paddle."""
    from .script_run import WatchedPaddle

    run = WatchedPaddle(loaded, request)
    with run.recorder.record():
        yield run
