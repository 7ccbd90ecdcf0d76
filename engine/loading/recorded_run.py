"""``gradtool.recording``: a few steps of a program that runs already, recorded and asked about afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import FrameType
from typing import Any

from ..core import source, state, upward, watch
from ..core.command_errors import ModelError, raise_for_python
from ..core.errors import UsageError
from ..core.vocabulary import PADDLE, use_vocabulary
from ..ir.program import Program
from ..kinds.model import Model
from ..recorders import live
from ..recorders.recorded import archive
from ..request.request import Request
from ..script.calls import PassCalls
from ..script.endings import TORCH
from ..script.script_state import Loaded
from . import opening

_HERE = "gradtool.recording"


@contextlib.contextmanager
def recording(path: str | os.PathLike[str] | None = None) -> Iterator[RunOfLoop]:
    """Record what PyTorch does inside the ``with`` block: a few steps of a training loop, as it stands.

    The loop computes what it computes without gradtool, bit for bit. Nothing of gradtool's stays in PyTorch behind the
    block.

    Args:
        path: a file for the run, ``"steps.torchrun"``, which every command takes in place of a script.

    Returns:
        The run, which answers once the block is over: ``run.why()``, ``run.stats()``, ``run.nan()``, ``run.saved()``,
        ``run.flow()``, ``run.graph()`` and the other methods of a model, with the options of the commands as keywords.
        What takes a file takes the run: ``gradtool.check(run)``, ``gradtool.debug(run)``, ``gradtool.report(run)``.

    Raises:
        UsageError: PyTorch is not imported, or a run is being recorded already (a ValueError).

    An error of the loop passes, and what ran before it is recorded.

    >>> import gradtool
    >>> with gradtool.recording() as run:  # doctest: +SKIP
    ...     for x, y in itertools.islice(batches, 3):
    ...         optimizer.zero_grad()
    ...         loss = F.mse_loss(net(x), y)
    ...         loss.backward()
    ...         optimizer.step()
    >>> print(run.why())  # doctest: +SKIP
    """
    frame = _caller(sys._getframe(1))
    run = RunOfLoop(source.last_part(frame.f_code.co_filename), None if path is None else os.fspath(path))
    with run.listen(lambda: {**frame.f_globals, **frame.f_locals}):
        yield run


def record(function: Callable[[], Any]) -> RunOfLoop:
    """Return the run of a function that computes a loss with PyTorch, by the names of the functions that are running.

    Raises:
        UsageError: as for :func:`recording`.
    """
    names = live.names_of_callers()
    run = RunOfLoop(source.last_part(getattr(getattr(function, "__code__", None), "co_filename", "function")))
    with run.listen(lambda: names):
        run.result, run.function = function(), getattr(function, "__name__", "the function")
    return run


def _caller(frame: FrameType | None) -> FrameType:
    """Return the frame whose ``with`` block this is."""
    while frame is not None and frame.f_globals.get("__name__") == contextlib.__name__:
        frame = frame.f_back
    assert frame is not None
    return frame


class RunOfLoop:
    """A run that was recorded in this process, and what every command answers about it.

    Attributes:
        name: the file of the program whose run it is.
        function: the function that was recorded, where one was; and *result*, what it returned.
    """

    def __init__(self, name: str, path: str | None = None) -> None:
        self.name = name
        self._path = path
        self._folder: str | None = None
        self._writer: archive.RunWriter | None = None
        self._passes = 0
        self.result: Any = None
        self.function: str | None = None

    def __repr__(self) -> str:
        if self._writer is None:
            return f"<a run of {self.name} that is being recorded>"
        return f"<a run of {self.name}, backward passes: {self._passes}>"

    def __fspath__(self) -> str:
        """The path of a file that holds the run; it goes with this object, if :func:`recording` was given none."""
        if self._writer is None:
            raise UsageError(f"{_HERE}: the run is still being recorded.", hint="ask behind the with block")
        if self._path is None:
            self._folder = tempfile.mkdtemp(prefix="gradtool-")
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            self._path = os.path.join(self._folder, self._file)
            archive.write(self._path, self._writer.local_copy(), self._writer.left)
        return self._path

    @property
    def _file(self) -> str:
        """The name of a file with the run where nobody gives one."""
        return f"{os.path.splitext(self.name)[0].strip('<>') or 'run'}{TORCH}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run into a file, whole or not at all: ``gradtool why steps.torchrun`` asks about it.

        Raises:
            UsageError: the run is not over, or *path* has another ending (a ValueError).
            OSError: the file cannot be written.
        """
        name = os.fspath(path)
        if self._writer is None:
            raise UsageError(f"{_HERE}: the run is still being recorded.", hint="save it behind the with block")
        if not name.endswith(TORCH):
            raise UsageError(f"{_HERE}: a run is written to a file *{TORCH}, not to {name!r}.")
        archive.write(name, self._writer, self._writer.left)

    @property
    def request(self) -> Request:
        """Return what loads the run.

        Raises:
            UsageError: it is still being recorded.
        """
        path = os.fspath(self)
        return Request.create(path, unfinished=True, called="" if self._folder is None else self._file)

    @cached_property
    def model(self) -> Model:
        """The model that answers about the run."""
        with raise_for_python(_HERE), opening.open_model(self.request) as loaded:
            vars(loaded)["run"] = self  # whose file goes with it
            return loaded

    def __getattr__(self, name: str) -> Any:
        """Return the method of the model that asks this question."""
        if name not in upward.part("questions").QUESTIONS:
            raise AttributeError(
                f"a run has no {name!r}: it has the questions of a model, and save", name=name, obj=self
            )
        return getattr(self.model, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *upward.part("questions").QUESTIONS})

    @contextlib.contextmanager
    def listen(self, names: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
        """Record what is done inside.

        Args:
            names: gives the user's names that models are found by, when it is over.

        Raises:
            UsageError: PyTorch is not imported, or a run is being recorded already.
        """
        if not live.is_loaded():
            raise UsageError(
                f"{_HERE} records what PyTorch computes, and torch is not imported.",
                hint="import torch first; of gradtool.paddle, gradtool.watching() notes what happens",
            )
        if archive.writing() is not None:
            raise UsageError(f"{_HERE}: a run is being recorded already.", hint="leave its with block first")
        calls = PassCalls()
        loaded = Loaded(self.name, {}, Program(), Program(), calls=calls)
        with contextlib.ExitStack() as stack:
            stack.enter_context(use_vocabulary(PADDLE))
            stack.enter_context(live.pause())
            writer = stack.enter_context(archive.write_run(os.getcwd()))
            stack.enter_context(watch.pause_watchers())
            for happening, watcher in (
                (state.passes, calls.began),
                (state.swept, calls.gave),
                (state.passed, calls.note_end),
                (state.updating, calls.note_update),
                (state.taken, calls.note_pairs),
                (state.written, calls.note_write),
                (state.made, loaded.births.append),
            ):
                stack.enter_context(happening.unheard())
                stack.enter_context(happening.watch(watcher))
            watched = live.program().watch(loaded, Request(self.name))
            try:
                with watched.recorder.record():
                    yield
            except Exception as error:
                frames = [f"{type(error).__name__}: {error}"]
                loaded.error = ModelError(f"{self.name} raised {type(error).__name__}: {error}", frames)
                raise
            finally:
                self._close(watched, loaded, writer, names())

    def _close(self, watched: Any, loaded: Loaded, writer: archive.RunWriter, names: Mapping[str, Any]) -> None:
        """Take what the run left behind, and every hook off."""
        loaded.namespace = dict(names)
        loaded.result, loaded.function = self.result, self.function
        loaded.calls.over = True
        self._passes = loaded.calls.sweeps
        watched.translate()
        self.result = None
        watched.recorder.unhook()
        self._writer = writer
        if self._path is not None:
            self.save(self._path)
        if watched.failed is not None and loaded.error is None:
            raise watched.failed
