"""``paddle.sparse.nn``: layers of sparse tensors."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
