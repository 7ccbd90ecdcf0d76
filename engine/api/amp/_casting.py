"""``paddle.amp.auto_cast``: on the CPU Paddle checks the arguments, says that it has no effect, and has none."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import bfloat16, float16
from gradtool.engine.core.spec import dtype as convert

NARROW = (float16, bfloat16)


class NoEffectWarning(UserWarning):
    """Something that only accelerators do was asked for."""


NO_EFFECT = (
    "{} can only be enabled on CUDAPlace, XPUPlace and CustomPlace, current place is Place(cpu), so it makes no effect."
)


@contextmanager
def auto_cast(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: Any = "float16",
    use_promote: bool = True,
) -> Iterator[None]:
    """Compute as without it: on the CPU no operator is run with narrower numbers, as in Paddle, with a warning.

    Raises:
        UsageError: a level, a dtype or lists that Paddle refuses as well (a ValueError).
    """
    if level not in ("O0", "OD", "O1", "O2"):
        raise UsageError("level should be O0, OD, O1 or O2.")
    if enable and convert(dtype) not in NARROW:
        raise UsageError("If enable amp, dtype should be 'float16' or 'bfloat16'.")
    if {*(custom_white_list or ())} & {*(custom_black_list or ())}:
        raise UsageError("Custom white list overlap custom black list")
    if enable and level != "O0":
        warnings.warn(NO_EFFECT.format("amp_guard"), NoEffectWarning, stacklevel=3)
    yield


def autocast(
    device_type: str | None, dtype: Any = "float16", enabled: bool = True, cache_enabled: bool = True
) -> AbstractContextManager[None]:
    """:func:`auto_cast` with other arguments."""
    return auto_cast(enabled, dtype=dtype)


def decorate(
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """The models, or models and optimizers, as they are: on the CPU no parameter becomes narrower, as in Paddle.

    Raises:
        UsageError: an unknown level or dtype (a ValueError).
    """
    if level not in ("O1", "O2"):
        raise UsageError("level should be O1 or O2, O1 represent AMP train mode, O2 represent Pure fp16 train mode.")
    if convert(dtype) not in NARROW:
        raise UsageError("dtype only support float16 or bfloat16.")
    return models if optimizers is None else (models, optimizers)


def is_autocast_enabled(device_type: Any = None) -> bool:
    """False."""
    return False


def get_autocast_dtype(device_type: Any = None) -> str:
    """``"float16"``, what ``auto_cast`` would compute with."""
    return "float16"


get_autocast_cpu_dtype = get_autocast_gpu_dtype = get_autocast_dtype


def is_float16_supported(device: str | None = None) -> bool:
    """False."""
    return False


def is_bfloat16_supported(device: str | None = None) -> bool:
    """True: tensors of bfloat16 can be computed with."""
    return True
