"""Packages that only show something, where they are not installed: plots, bars of progress, records for other programs.

A notebook asks for them in its first cell and could not be asked about without. What a model calls of them does
nothing, which is told. Nothing can be computed with what they give back: it has no value, no length and no truth.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any

import numpy as np

from ..core.errors import UnsupportedError

PACKAGES = frozenset(
    {
        *("matplotlib", "mpl_toolkits", "seaborn", "plotly", "IPython", "ipywidgets"),
        *("tqdm", "visualdl", "tensorboardX", "livelossplot"),
    }
)

_CATCH = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def stands_in(error: ImportError, frame: FrameType) -> bool:
    """Return whether the model continues without the package that *error* misses.

    Args:
        frame: of the import statement; where the model itself says what is to be done without, that is done.
    """
    return (error.name or "").partition(".")[0] in PACKAGES and not _is_caught(frame)


def _is_caught(frame: FrameType) -> bool:
    """Return whether the line of *frame* stands within a ``try`` that catches errors of imports."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.body[0].lineno <= frame.f_lineno <= (node.body[-1].end_lineno or 0):
            caught = [h.type for h in node.handlers]
            names = {n.id for t in caught if t is not None for n in ast.walk(t) if isinstance(n, ast.Name)}
            if None in caught or names & _CATCH:
                return True
    return False


def module(name: str, fromlist: Sequence[str] | None) -> AbsentObject:
    """Return the module that an import statement of that name gives, as ``__import__`` does."""
    return AbsentObject(name if fromlist else name.partition(".")[0])


class AbsentObject:
    """Anything of such a package: whatever is called, read or set of it, nothing happens."""

    def __init__(self, path: str) -> None:
        object.__setattr__(self, "_path", path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return AbsentObject(f"{self._path}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        pass

    def __call__(self, *args: Any, **named: Any) -> Any:
        gives = _GIVES.get(self._path.rpartition(".")[2])
        return AbsentObject(f"{self._path}()") if gives is None else gives(*args, **named)

    def __getitem__(self, key: Any) -> AbsentObject:
        return AbsentObject(f"{self._path}[…]")

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __enter__(self) -> AbsentObject:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def _refuse(self) -> Any:
        """Raise the error for what would need a value."""
        package = self._path.replace(" ", ".").partition(".")[0]
        raise UnsupportedError(
            f"{package} is not installed, and what {self._path} gives back is not known.",
            hint=f"install {package} where gradtool is",
        )

    __iter__ = __len__ = __bool__ = __float__ = __int__ = __index__ = _refuse

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self._refuse()


class AbsentProgress(AbsentObject):
    """A bar of progress over *whole*, which it goes through."""

    def __init__(self, iterable: Iterable[Any] | None = None, *_: Any, **__: Any) -> None:
        super().__init__("tqdm")
        object.__setattr__(self, "_whole", iterable)

    def __iter__(self) -> Any:
        return iter(self._whole if self._whole is not None else ())

    def __len__(self) -> int:
        return len(self._whole)

    def __bool__(self) -> bool:
        return True


def _grid(nrows: int = 1, ncols: int = 1, *_: Any, squeeze: bool = True, **__: Any) -> tuple[AbsentObject, Any]:
    """A figure and its axes, an array of them if there are several."""
    axes = np.empty((nrows, ncols), object)
    for place in np.ndindex(axes.shape):
        axes[place] = AbsentObject("matplotlib axes")
    if not squeeze:
        return AbsentObject("matplotlib figure"), axes
    return AbsentObject("matplotlib figure"), axes.item() if axes.size == 1 else axes.squeeze()


_GIVES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("tqdm", "tqdm_notebook"), AbsentProgress),
    **dict.fromkeys(("trange", "tnrange"), lambda *numbers, **_: AbsentProgress(range(*numbers))),
    "subplots": _grid,
    "plot": lambda *_, **__: [AbsentObject("matplotlib line")],
}
"""By the last part of a name: what a call gives that people take apart."""
