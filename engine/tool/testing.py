"""Claims about gradients, for tests: ``from gradtool.testing import assert_all_parameters_get_gradients``.

Under pytest whatever a test computes is watched, so that a claim that fails says which line cuts a gradient off.
"""

from __future__ import annotations

from gradtool.cli.testing.assertions import (
    assert_all_parameters_get_gradients,
    assert_gradcheck,
    assert_graph_matches,
    assert_no_nan,
)

__all__ = [
    "assert_all_parameters_get_gradients",
    "assert_gradcheck",
    "assert_graph_matches",
    "assert_no_nan",
]
