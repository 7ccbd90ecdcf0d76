"""``paddle.fluid``, Paddle's public API of version 1.

Static mode was the default then. Where nobody has chosen a mode, importing it leaves that to the first function that
is called: those of version 1 that build programs switch static mode on, those of version 2 compute at once.
"""

from __future__ import annotations

from gradtool.engine.core import state
from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)

OF_PROGRAMS = (
    "gradtool.paddle.fluid",
    "gradtool.paddle.static",
    "gradtool.paddle._data",
    "gradtool.paddle._legacy_feeding",
    "gradtool.paddle._legacy_optimizers",
    "gradtool.paddle._parameters",
    "gradtool.engine.autodiff",
    "gradtool.engine.executor",
    "gradtool.engine.ir",
)
"""The modules whose functions are for programs."""


def when_imported() -> None:
    """Called with every import statement that loads the package for a script."""
    state.leave_undecided(OF_PROGRAMS)


when_imported()
