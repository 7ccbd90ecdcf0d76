"""All rows of the table, by subject; importing them fills it."""

from . import (
    elementwise,
    functional,
    gradients,
    in_place,
    indexing,
    layers,
    products,
    programs,
    reductions,
    shapes,
    tensors,
    training,
)

__all__ = [
    "elementwise",
    "functional",
    "gradients",
    "in_place",
    "indexing",
    "layers",
    "products",
    "programs",
    "reductions",
    "shapes",
    "tensors",
    "training",
]
