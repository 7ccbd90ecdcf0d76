"""``paddle.sparse``: tensors of which some elements are stored, as coordinates (COO) or compressed rows (CSR)."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
