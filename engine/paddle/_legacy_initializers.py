"""The initializers of ``paddle.fluid.initializer``: today's, with a seed of their own and the old argument names."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.core.spec import TensorSpec

from .nn import initializer
from .nn.initializer import Initializer


class SeededInitializer(Initializer):
    """One of today's initializers with a seed.

    Args:
        inner: what draws the numbers.
        seed: 0 for the stream of the program or the process.
    """

    def __init__(self, inner: Initializer, seed: int = 0) -> None:
        self.inner = inner
        self.seed = seed

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        type_, attrs = self.inner.operator(spec)
        return type_, {**attrs, "seed": self.seed}


class ConstantInitializer(initializer.Constant):
    """One value everywhere."""

    def __init__(self, value: float = 0.0, force_cpu: bool = False) -> None:
        super().__init__(value)
        self.force_cpu = force_cpu

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        type_, attrs = super().operator(spec)
        return type_, {**attrs, "force_cpu": self.force_cpu}


class UniformInitializer(SeededInitializer):
    """Drawn evenly between *low* and *high*."""

    def __init__(
        self,
        low: float = -1.0,
        high: float = 1.0,
        seed: int = 0,
        diag_num: int = 0,
        diag_step: int = 0,
        diag_val: float = 1.0,
    ) -> None:
        if diag_num:
            raise UnsupportedError("UniformInitializer: values of a diagonal are not set; diag_num must be 0.")
        super().__init__(initializer.Uniform(low, high), seed)


class NormalInitializer(SeededInitializer):
    """Drawn from the normal distribution of mean *loc* and standard deviation *scale*."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        super().__init__(initializer.Normal(loc, scale), seed)


class TruncatedNormalInitializer(SeededInitializer):
    """As :class:`NormalInitializer`, drawn again when it lies outside of *a* and *b* standard deviations."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(initializer.TruncatedNormal(loc, scale, a, b), seed)


class XavierInitializer(SeededInitializer):
    """Scaled by inputs and outputs of one unit (Glorot and Bengio 2010); even or normal."""

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        fan_out: float | None = None,
        seed: int = 0,
        gain: float = 1.0,
    ) -> None:
        kind = initializer.XavierUniform if uniform else initializer.XavierNormal
        super().__init__(kind(fan_in, fan_out, gain), seed)


class MSRAInitializer(SeededInitializer):
    """Scaled by the inputs of one unit (He et al. 2015); even or normal."""

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        seed: int = 0,
        negative_slope: float = 0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        kind = initializer.KaimingUniform if uniform else initializer.KaimingNormal
        super().__init__(kind(fan_in, negative_slope, nonlinearity, mode), seed)


class NumpyArrayInitializer(initializer.Assign):
    """A copy of an array."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)


Constant = ConstantInitializer
Uniform = UniformInitializer
Normal = NormalInitializer
TruncatedNormal = TruncatedNormalInitializer
Xavier = XavierInitializer
MSRA = MSRAInitializer
