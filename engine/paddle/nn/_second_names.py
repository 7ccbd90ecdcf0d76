"""Second names of layers, those that other libraries use: ``nn.Conv2d`` is ``nn.Conv2D``."""

from __future__ import annotations

from typing import Any

from gradtool.paddle import nn

_FIRST = {
    "HuberLoss": "SmoothL1Loss",
    "MaxUnpool1d": "MaxUnPool1D",
    "MaxUnpool2d": "MaxUnPool2D",
    "MaxUnpool3d": "MaxUnPool3D",
    "Module": "Layer",
    "ModuleDict": "LayerDict",
    "ModuleList": "LayerList",
    "SiLU": "Silu",
}
"""The others end with a small d."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(nn, _FIRST.get(name) or name[:-1] + "D")
