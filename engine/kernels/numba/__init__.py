"""The Numba backend: NumPy's kernels, with groups of elementwise operators compiled into single functions.

A plan runs on NumPy once. What its instructions read and gave is known then, and the pass in ``groups.py`` finds those
that one function can compute. Results are NumPy's to the bit, whichever of a plan's runs they come from; docs/numba.md
tells why, and how all of it fits together. The same is done for plans that have become hot, of the reference or of
another backend of its arrays (:func:`when_hot`):

* ``trace.py``: the kernels of NumPy run over values that stand for arrays, and what they call is written down;
* ``layout.py``: where elements lie among those of a group, through broadcasting, reshaping and sums;
* ``nodes.py``: what is written down; ``parts.py``: parts of wider arrays, and arrays of parts;
* ``groups.py``: the pass over plans; ``source.py``: the text of a group's function, from the table ``expressions.py``;
* ``stages.py``: which functions a group has; ``lookups.py``: those that look up rows, written by hand;
* ``loops.py``: NumPy's own inner loops, which compute in groups what is not exact; ``rows.py``: sums and extremes;
* ``emission.py``, ``compiling.py``: from the text to LLVM, Numba's compiler, and what it has compiled;
* ``group_function.py``: what Python calls, one function for all groups; ``pool.py``: the threads of large ones;
* ``fused.py``, ``tuning.py``: a group as a kernel, and a plan with such kernels;
* ``hot.py``: which plans, and when; ``fusing.py``: the backends.

Kernels written by hand with Numba (convolutions, pooling, recurrent cells) belong here as well, a file for each kind:
a function ``register()`` that offers them with ``override(op_type, "numba")``, as the files of ``kernels/numpy`` do,
called in :func:`make`. They are asked before NumPy's (the chain below). They import Numba when they are first called,
and keep their code in the same folder (``compiling.FOLDER``).
"""

from __future__ import annotations

from importlib.util import find_spec

from ...core.errors import BackendError
from ..backend import Backend
from ..choice import reference
from .hot import COMPILER


def make() -> Backend:
    """The backend.

    Raises:
        BackendError: Numba is not installed.
    """
    if not is_installed():
        raise BackendError("backend 'numba' needs Numba", hint="pip install 'gradtool[numba]'")
    reference()  # registers the overrides of NumPy
    from .fusing import FusingBackend

    return FusingBackend("numba", ("numba", "numpy"))


def is_installed() -> bool:
    """Return whether there is a compiler."""
    return find_spec(COMPILER) is not None


def when_hot(own: Backend, because: str) -> Backend:
    """*own*, whose plans are compiled when they have become hot, if there is a compiler then.

    Args:
        own: a backend of NumPy's arrays.
        because: why it is the one in use, if it is.
    """
    from .fusing import PatientBackend

    return PatientBackend(own, because)
