"""``paddle.amp.GradScaler``: on the CPU Paddle says that it has no effect, and it has none."""

from __future__ import annotations

import warnings
from typing import Any

from gradtool.engine.core.errors import UsageError

from ._casting import NO_EFFECT, NoEffectWarning


class RatioError(UsageError, AssertionError):
    """A ratio by which the scale could not grow or shrink (Paddle raises AssertionError)."""


class GradScaler:
    """Multiplies losses and divides gradients, so that narrow numbers do not vanish; on the CPU it does neither.

    The loss comes back as it is, ``step`` is the optimizer's, and the state is empty, as in Paddle. The settings are
    kept and can be asked.
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**16,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        if enable:
            warnings.warn(NO_EFFECT.format("AmpScaler"), NoEffectWarning, stacklevel=2)
        self._enable = False
        self._use_dynamic_loss_scaling = False
        self._init_loss_scaling = 1.0
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf

    def scale(self, var: Any) -> Any:
        """*var* itself."""
        return var

    def unscale_(self, optimizer: Any) -> None:
        """Leave the gradients as they are."""

    def step(self, optimizer: Any) -> None:
        """``optimizer.step()``."""
        optimizer.step()

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.minimize(...)``."""
        return optimizer.minimize(*args, **kwargs)

    def update(self) -> None:
        """Keep the scale, which is 1."""

    def is_enable(self) -> bool:
        """False."""
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """False."""
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        self._init_loss_scaling = new_init_loss_scaling

    def get_incr_ratio(self) -> float:
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Raises :class:`RatioError` (an AssertionError) for 1 or less."""
        if new_incr_ratio <= 1:
            raise RatioError("The new_incr_ratio must be > 1.0.")
        self._incr_ratio = new_incr_ratio

    def get_decr_ratio(self) -> float:
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Raises :class:`RatioError` (an AssertionError) for 1 or more."""
        if new_decr_ratio >= 1:
            raise RatioError("The new_decr_ratio must be < 1.0.")
        self._decr_ratio = new_decr_ratio

    def get_incr_every_n_steps(self) -> int:
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    def state_dict(self) -> dict[str, Any]:
        """Empty: nothing is scaled."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing is scaled, whatever was saved."""
