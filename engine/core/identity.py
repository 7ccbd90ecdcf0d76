"""Identity of objects, as tables need it for what cannot be hashed or is equal to others: arrays, say.

``id`` is an audit event, and a process with an audit hook (``core/audit.py``) pays for each call as for twenty of
these. The two numbers differ: a table has the one or the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

identity: Final[Callable[[object], int]] = object.__hash__
"""The identity of an object, for as long as it lives: its address, turned by some bits.

>>> a, b = [], []
>>> identity(a) == identity(a), identity(a) == identity(b)
(True, False)
"""
