"""Normalisation by neighbouring channels as a layer."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .layer import Layer


class LocalResponseNorm(Layer):
    """Divide by a power of the squares of *size* neighbouring channels; see ``functional.local_response_norm``."""

    def __init__(
        self,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k
        self.data_format, self.name = data_format, name

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k, self.data_format, self.name)

    def extra_repr(self) -> str:
        text = f"size={self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
        text += "" if self.data_format == "NCHW" else f", data_format={self.data_format}"
        return text + ("" if self.name is None else f", name={self.name}")
