"""Writing what real ``paddle.load`` reads: pickles of NumPy arrays, numbers, texts and plain containers.

Arrays are named as NumPy before 2.0 called their parts, which every NumPy reads.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, ClassVar

import numpy as np

PROTOCOLS = (2, 3, 4)


def dumps(value: Any, protocol: int = 4) -> bytes:
    """*value*, made of dicts, lists, tuples, numbers, texts and arrays, as a pickle of that protocol."""
    file = io.BytesIO()
    _PlainPickler(file, protocol).dump(value)
    return file.getvalue()


class _PlainPickler(pickle._Pickler):
    """Python's writer in Python: names of NumPy's own modules are written as they were before 2.0."""

    dispatch: ClassVar[dict[type, Any]] = dict(pickle._Pickler.dispatch)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a name, the few that arrays need."""
        module = getattr(obj, "__module__", "")
        if not module.startswith("numpy._core"):
            super().save_global(obj, name)  # type: ignore[misc]
            return
        called = name or obj.__name__
        self.write(b"c" + f"numpy.core.{module.rpartition('.')[2]}\n{called}\n".encode("ascii"))  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]

    dispatch[type(np.dtype)] = save_global
    dispatch[type(pickle.dumps)] = save_global
    dispatch[type(dumps)] = save_global
