"""``paddle.utils.dlpack``: sharing storage with other libraries."""

from __future__ import annotations

from gradtool.paddle._exchange import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
