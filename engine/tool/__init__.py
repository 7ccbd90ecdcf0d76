"""gradtool: see, explain and debug backward (gradient) graphs.

Names of the tool are here; Paddle's names are in :mod:`gradtool.paddle`. Everything is loaded when it is first used;
``import gradtool`` alone loads neither NumPy nor the engine.

>>> import gradtool
>>> from gradtool import paddle
>>> w = paddle.to_tensor([2.0], stop_gradient=False)
>>> gradtool.nan(lambda: (w * w).sum()).clean
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if __name__ != "gradtool":
    raise ImportError(f"this package is imported as 'gradtool', not as {__name__!r}: install it with pip")

if TYPE_CHECKING:
    from gradtool.cli.notebook.magics import load_ipython_extension, unload_ipython_extension
    from gradtool.engine.answers.python_questions import gradcheck, nan, profile, saved, stats
    from gradtool.engine.core.errors import GradtoolError, UsageError
    from gradtool.engine.importers import importer
    from gradtool.engine.kinds.model import Model
    from gradtool.engine.loading.from_python import load
    from gradtool.engine.loading.recorded_run import recording
    from gradtool.engine.sweeps.from_python import sweep
    from gradtool.viz.debugger.from_python import breakpoint, debug
    from gradtool.viz.picture import graph
    from gradtool.viz.report.from_python import report

    from . import paddle, testing
    from ._backends import get_backend, set_backend
    from ._models import check, diff, flow
    from ._why import watching, why

__version__ = "0.1.0"

NAMES: Final = {
    "GradtoolError": "gradtool.engine.core.errors",
    "Model": "gradtool.engine.kinds.model",
    "UsageError": "gradtool.engine.core.errors",
    "breakpoint": "gradtool.viz.debugger.from_python",
    "check": "gradtool._models",
    "debug": "gradtool.viz.debugger.from_python",
    "diff": "gradtool._models",
    "flow": "gradtool._models",
    "get_backend": "gradtool._backends",
    "gradcheck": "gradtool.engine.answers.python_questions",
    "graph": "gradtool.viz.picture",
    "importer": "gradtool.engine.importers",
    "load": "gradtool.engine.loading.from_python",
    "load_ipython_extension": "gradtool.cli.notebook.magics",
    "nan": "gradtool.engine.answers.python_questions",
    "profile": "gradtool.engine.answers.python_questions",
    "recording": "gradtool.engine.loading.recorded_run",
    "report": "gradtool.viz.report.from_python",
    "saved": "gradtool.engine.answers.python_questions",
    "set_backend": "gradtool._backends",
    "stats": "gradtool.engine.answers.python_questions",
    "sweep": "gradtool.engine.sweeps.from_python",
    "unload_ipython_extension": "gradtool.cli.notebook.magics",
    "watching": "gradtool._why",
    "why": "gradtool._why",
}
"""Public name -> the module that defines it."""

PARTS: Final = ("paddle", "testing")
"""Public modules."""

__all__ = [
    "GradtoolError",
    "Model",
    "UsageError",
    "as_paddle",
    "breakpoint",
    "check",
    "debug",
    "diff",
    "flow",
    "get_backend",
    "gradcheck",
    "graph",
    "importer",
    "load",
    "load_ipython_extension",
    "nan",
    "paddle",
    "profile",
    "recording",
    "report",
    "saved",
    "set_backend",
    "stats",
    "sweep",
    "testing",
    "unload_ipython_extension",
    "watching",
    "why",
]


def as_paddle() -> None:
    """Let ``import paddle`` and ``import paddle.*`` find :mod:`gradtool.paddle` from now on, in this process.

    Raises:
        ImportError: the real paddle is already imported.
    """
    from .paddle import _alias

    _alias.install()


def __getattr__(name: str) -> Any:
    if name in PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in NAMES:
        raise _name_error(name)
    value = getattr(importlib.import_module(NAMES[name]), name)
    globals()[name] = value
    return value


def _name_error(name: str) -> AttributeError:
    """Return the error for a name that the tool does not have; one of Paddle's is in another module."""
    if not name.startswith("_"):
        from . import paddle

        if name in dir(paddle):
            return AttributeError(
                f"gradtool has no {name!r}: that is one of Paddle's names. from gradtool import paddle"
            )
    return AttributeError(f"module 'gradtool' has no attribute {name!r}", name=name, obj=None)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
