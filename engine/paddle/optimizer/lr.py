"""``paddle.optimizer.lr``: schedules of the learning rate."""

from __future__ import annotations

from gradtool.paddle import _lazy

from ._cycles import CyclicLR, OneCycleLR
from ._decays import (
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    MultiplicativeDecay,
    MultiStepDecay,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
    StepDecay,
)
from ._schedule import LRScheduler
from ._waves import (
    CosineAnnealingDecay,
    CosineAnnealingWarmRestarts,
    LinearLR,
    LinearWarmup,
    ReduceOnPlateau,
)

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]

__getattr__ = _lazy.refuse(__name__, globals())
