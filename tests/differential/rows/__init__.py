"""All rows of the table, by subject; importing them fills it."""

from . import (
    elementwise,
    equations,
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
    transforms,
)

__all__ = [
    "elementwise",
    "equations",
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
    "transforms",
]
