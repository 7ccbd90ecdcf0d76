"""``paddle.distribution.Transform``: maps whose change of volume is known."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.value import AnyTensor

from . import variable
from ._operands import summed
from .distribution import Distribution, NoFormula


class Type(enum.Enum):
    """Kind of a transform, by its way back."""

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, kind: Type) -> bool:
        """Return whether no two values are mapped to one."""
        return kind in (cls.BIJECTION, cls.INJECTION)


class Transform:
    """The base of maps of random values.

    A subclass gives ``_forward`` and ``_inverse``, one of ``_forward_log_det_jacobian`` and
    ``_inverse_log_det_jacobian``, and ``_forward_shape`` with ``_inverse_shape`` where shapes change; ``_domain``
    and ``_codomain`` say how many axes are one value.

    >>> from gradtool import paddle
    >>> tanh = paddle.distribution.TanhTransform()
    >>> [round(x, 3) for x in tanh.inverse(tanh.forward(paddle.to_tensor([0.5, -2.0]))).tolist()]
    [0.5, -2.0]
    """

    _type = Type.INJECTION

    @classmethod
    def _is_injective(cls) -> bool:
        return Type.is_injective(cls._type)

    @property
    def _domain(self) -> variable.Variable:
        """Values that go in."""
        return variable.real

    @property
    def _codomain(self) -> variable.Variable:
        """Values that come out."""
        return variable.real

    def __call__(self, value: Any) -> Any:
        """The distribution of mapped values, the map of first this and then another one, or the mapped tensor."""
        if isinstance(value, Distribution):
            from .transformed_distribution import TransformedDistribution

            return TransformedDistribution(value, [self])
        if isinstance(value, Transform):
            from ._combined_transforms import ChainTransform

            return ChainTransform([self, value])
        return self.forward(value)

    def forward(self, x: Any) -> Any:
        """Return the image of *x*.

        Raises:
            ArgumentTypeError: *x* is no tensor (a TypeError).
            UsageError: it has fewer axes than one value has (a ValueError).
        """
        self._check(x, "x", self._domain)
        return self._forward(x)

    def inverse(self, y: Any) -> Any:
        """Return the value that is mapped to *y*; it raises as :meth:`forward` does."""
        self._check(y, "y", self._codomain)
        return self._inverse(y)

    def forward_log_det_jacobian(self, x: Any) -> Any:
        """The logarithm of how much volumes grow at *x*, of the shape of *x* without the axes of one value.

        Raises:
            NoFormula: it is not known, or several values are mapped to one (a NotImplementedError).
        """
        self._check(x, "x", self._domain)
        if not self._is_injective():
            raise self._without("forward_log_det_jacobian")
        return self._log_det(x)

    def inverse_log_det_jacobian(self, y: Any) -> Any:
        """The logarithm of how much volumes grow on the way back from *y*; it raises as the way forward does."""
        self._check(y, "y", self._codomain)
        if _own(self, "_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(y)
        if not self._is_injective():
            raise self._without("inverse_log_det_jacobian")
        return -self._log_det(self._inverse(y))

    def forward_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape that values of *shape* are mapped to.

        Raises:
            ArgumentTypeError: *shape* is no sequence (a TypeError).
        """
        return tuple(self._forward_shape(_sequence(shape)))

    def inverse_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what is mapped to values of *shape*; it raises as :meth:`forward_shape` does."""
        return tuple(self._inverse_shape(_sequence(shape)))

    def _log_det(self, x: Any) -> Any:
        if _own(self, "_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        if _own(self, "_inverse_log_det_jacobian"):
            return -self._inverse_log_det_jacobian(self._forward(x))
        raise self._without("forward_log_det_jacobian")

    def _forward(self, x: Any) -> Any:
        raise self._without("forward")

    def _inverse(self, y: Any) -> Any:
        raise self._without("inverse")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise self._without("forward_log_det_jacobian")

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise self._without("inverse_log_det_jacobian")

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape

    def _check(self, value: Any, name: str, kind: variable.Variable) -> None:
        if not isinstance(value, AnyTensor):
            raise ArgumentTypeError(f"Expected '{name}' is a Tensor, but got {type(value).__name__}.")
        if len(value.shape) < kind.event_rank:
            raise UsageError(
                f"paddle.distribution.{type(self).__name__}: '{name}' must have at least {kind.event_rank} dimensions, "
                f"but it has {len(value.shape)}."
            )

    def _without(self, what: str) -> NoFormula:
        return NoFormula(f"paddle.distribution.{type(self).__name__} has no {what}.")


def _own(transform: Transform, method: str) -> bool:
    return getattr(type(transform), method) is not getattr(Transform, method)


def _sequence(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, Sequence):
        raise ArgumentTypeError(f"Expected shape is Sequence[int] type, but got {type(shape).__name__}.")
    return tuple(shape)


def log_det_over(transform: Transform, x: Any, event_rank: int) -> Any:
    """The logarithm of how much volumes grow at *x*, of events of *event_rank* axes: one number for each."""
    rank = transform._domain.event_rank
    grown = transform.forward_log_det_jacobian(x)
    batch = list(x.shape[: len(x.shape) - rank])
    return summed(grown if list(grown.shape) == batch else paddle.expand(grown, batch), event_rank - rank)
