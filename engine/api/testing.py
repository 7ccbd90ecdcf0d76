"""Claims about gradients, for tests: ``from gradtool.testing import assert_all_parameters_get_gradients``.

Under pytest whatever a test computes is watched, so that a claim that fails says which line cuts a gradient off.
"""

from __future__ import annotations

from . import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
