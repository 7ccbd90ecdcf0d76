"""All adapters."""

from tests.opinfo.adapters import (
    convolutions,
    creation,
    elementwise,
    equations,
    losses,
    networks,
    places,
    reductions,
    shapes,
)
from tests.opinfo.table import ADAPTERS

__all__ = [
    "ADAPTERS", "convolutions", "creation", "elementwise", "equations", "losses", "networks", "places", "reductions",
    "shapes",
]  # fmt: skip
