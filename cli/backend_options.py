"""Options that say what kernels run on: the backend, its device, and how exactly it multiplies matrices."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gradtool.engine.kernels import threads
from gradtool.engine.kernels.choice import DEVICE, PRECISION, SETTING, available, backend, current, use_backend

from .rare_options import RareOption

if TYPE_CHECKING:
    from gradtool.engine.kernels.backend import Backend

F = TypeVar("F", bound=Callable[..., Any])

PRECISIONS = ("highest", "high", "default")


def add_backend_options(command: F) -> F:
    """Add the options of backends, which hold as long as the command runs."""
    return _backend_option(device_options(command))


def device_options(command: F) -> F:
    """Add ``--device`` and its like, for a command with backends of its own (``backend`` and ``against``)."""

    @functools.wraps(command)
    def run(*words: Any, **values: Any) -> Any:
        name, device, precision, count = (
            values.get("backend"),
            *(values.pop(n) for n in ("device", "precision", "threads")),
        )
        if "against" in values:
            meant = (
                list(_device_backends(name, values["against"])) if device is not None or precision is not None else []
            )
            with _use_threads(count), _settings(meant, device, precision):
                return command(*words, **values)
        values.pop("backend")
        with compute_on(name, device, precision, count):
            return command(*words, **values)

    options = (
        click.option("--device", cls=RareOption, metavar="cpu|gpu|tpu[:N]", help="Choose where the backend computes."),
        click.option(
            "--precision",
            cls=RareOption,
            type=click.Choice(PRECISIONS),
            help="Choose how exactly the backend multiplies matrices of float32.  [default: highest]",
        ),
        click.option(
            "--threads",
            cls=RareOption,
            type=click.IntRange(1),
            help="Compute on N threads; 1 is best if other programs are busy.  [default: as many as processors]",
        ),
    )
    for option in reversed(options):
        run = option(run)
    return run  # type: ignore[return-value]


@contextlib.contextmanager
def compute_on(name: str | None, device: str | None, precision: str | None, count: int | None = None) -> Iterator[None]:
    """Compute on the backend of that name inside, there and as exactly as told, on *count* threads.

    What is None stays as it is.

    Raises:
        BackendError: there is no such backend or device, or it takes no such setting.
    """
    if name is None and device is None and precision is None and count is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        stack.enter_context(_use_threads(count))
        if name is not None:
            stack.enter_context(use_backend(name))
        stack.enter_context(_set_environment({SETTING: name, DEVICE: device, PRECISION: precision}))
        stack.enter_context(_settings(list(_device_backends(name, None)), device, precision))
        yield


@contextlib.contextmanager
def _use_threads(count: int | None) -> Iterator[None]:
    """Compute on so many threads inside, and in processes that are started inside; None leaves it as it is."""
    with _set_environment({} if count is None else threads.environment(count)), threads.limit_threads(count):
        yield


@contextlib.contextmanager
def _settings(meant: Sequence[Backend], device: str | None, precision: str | None) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for each in meant:
            stack.enter_context(each.settings(device, precision))
        yield


@contextlib.contextmanager
def _set_environment(settings: Mapping[str, str | None]) -> Iterator[None]:
    """The same choice for processes that are started inside, and for who keeps answers by what they depend on."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update({name: value for name, value in settings.items() if value is not None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _device_backends(name: str | None, against: str | None) -> Iterator[Backend]:
    """The backends that a device is said for: of two, those that are not the reference."""
    names = [n for n in (name, against) if n is not None]
    meant = dict.fromkeys([*([] if name else [current()]), *map(backend, names)])
    yield from [b for b in meant if b.has_settings] or meant


def _backend_option(command: F) -> F:
    return click.option(
        "--backend",
        cls=RareOption,
        type=click.Choice(available()),
        show_default=os.environ.get(SETTING) or "onednn where its extra is installed, else numpy",
        help="Choose what computes.",
    )(command)
