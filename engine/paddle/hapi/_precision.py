"""Settings that ``amp_configs`` of :meth:`paddle.Model.prepare` give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError

SCALER = [
    "init_loss_scaling",
    "incr_ratio",
    "decr_ratio",
    "incr_every_n_steps",
    "decr_every_n_nan_or_inf",
    "use_dynamic_loss_scaling",
]
CAST = ["custom_white_list", "custom_black_list", "dtype", "use_promote"]


class Precision:
    """The level, and arguments of the functions of ``paddle.amp``.

    Attributes:
        level: ``"O0"`` where nothing is cast.
        scaler: multiplies losses; None where nothing is cast.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.level = settings.get("level", "O1") if settings else "O0"
        self._cast = {name: settings[name] for name in CAST if name in settings}
        self.scaler: Any = None
        if self.level != "O0":
            from gradtool.paddle.amp import GradScaler

            self.scaler = GradScaler(**{name: settings[name] for name in SCALER if name in settings})

    @classmethod
    def of(cls, settings: Any) -> Precision:
        """Return the precision that the argument of ``prepare`` gives.

        Raises:
            UsageError: an unknown level or key (a ValueError).
            ArgumentTypeError: neither a level nor a dict (a TypeError).
        """
        if not settings:
            return cls({})
        if isinstance(settings, str):
            settings = {"level": settings}
        if not isinstance(settings, Mapping):
            raise ArgumentTypeError(f"'amp_configs' must be a level or a dict, but received {type(settings).__name__}.")
        if settings.get("level", "O1") not in ("O0", "O1", "O2"):
            raise UsageError("The level of amp_configs should be 'O0', 'O1' or 'O2'.")
        unknown = tuple(sorted({*settings} - {"level", *SCALER, *CAST}))
        if unknown:
            raise UsageError(
                "Except for 'level', the keys of 'amp_configs' must be accepted by mixed precision APIs, but "
                f"{unknown} could not be recognized."
            )
        return cls(settings)

    def prepared(self, network: Any, optimizer: Any) -> None:
        """Narrow the parameters, where the level says so."""
        if self.level == "O2":
            from gradtool.paddle.amp import decorate

            dtype = self._cast.get("dtype", "float16")
            if optimizer is None:
                decorate(network, level="O2", dtype=dtype)
            else:
                decorate(network, optimizer, level="O2", dtype=dtype)

    def casting(self) -> Any:
        """The context to compute in."""
        from gradtool.paddle.amp import auto_cast

        return auto_cast(self.level != "O0", level=self.level, **self._cast)
