"""``paddle.fluid``, Paddle's public API of version 1.

Static mode was the default then. Where nobody has chosen a mode, importing it leaves that to the first function that
is called: those of version 1 that build programs switch static mode on, those of version 2 compute at once.
"""

from __future__ import annotations

from gradtool import _lazy
from gradtool.engine.core import state

__getattr__, __dir__ = _lazy.attach(__name__)

OF_PROGRAMS = (
    "gradtool.fluid",
    "gradtool.static",
    "gradtool._data",
    "gradtool._legacy_feeding",
    "gradtool._legacy_optimizers",
    "gradtool._parameters",
    "gradtool.engine.autodiff",
    "gradtool.engine.executor",
    "gradtool.engine.ir",
)
"""The modules whose functions are for programs."""


def when_imported() -> None:
    """Called with every import statement that loads the package for a script."""
    state.leave_undecided(OF_PROGRAMS)


when_imported()
