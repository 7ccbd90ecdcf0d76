"""Names that choose a backend: ``set_backend`` and ``get_backend``."""

from __future__ import annotations

from gradtool.engine.core.errors import ArgumentTypeError
from gradtool.engine.kernels import choice


def set_backend(name: str) -> None:
    """Compute on the backend *name* from now on, in all threads; ``GRADTOOL_BACKEND`` in the environment says it first.

    Executors and tensors that are there already go on with theirs.

    Args:
        name: ``numpy``, the reference; ``numba``, the same with groups of operators compiled at once; ``onednn``, with
            convolutions by oneDNN, which is in use where its extra is installed and nobody has chosen; or ``jax``,
            which compiles static programs. Each but the first is an extra (``gradtool[onednn]``).

    Raises:
        ArgumentTypeError: *name* is no string (a TypeError).
        BackendError: there is no such backend, or what it needs is not installed.

    >>> import gradtool
    >>> from gradtool import paddle
    >>> gradtool.set_backend("numpy")
    >>> gradtool.get_backend()
    'numpy'
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"set_backend takes the name of a backend, but received {type(name).__name__}.")
    choice.choose(name)


def get_backend() -> str:
    """The name of the backend that what is started now computes on."""
    return choice.current().name
