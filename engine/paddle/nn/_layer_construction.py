"""Methods of Paddle's ``Layer`` that make parameters and operators, for layers of users."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ._second_names_of_parts import second_name

if TYPE_CHECKING:
    from gradtool.paddle._layer_helper import LayerObjectHelper


class Constructing:
    """The part of :class:`Layer` that code written for Paddle's own construction reads."""

    _cast_to_low_precision = True
    _init_in_dynamic_mode = True
    _non_persistent_buffers_set: Any = second_name("_non_persistable_buffer_names_set")

    @cached_property
    def _helper(self) -> LayerObjectHelper:
        """Makes parameters, variables and operators that are named after the layer."""
        from gradtool.paddle._layer_helper import LayerObjectHelper

        return LayerObjectHelper(self.full_name())  # type: ignore[attr-defined]
