"""``paddle.framework``: seeds, modes and flags."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from gradtool.engine.core import device_requests, names, settings, state
from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError, did_you_mean
from gradtool.engine.core.spec import dtype as convert_np_dtype_to_dtype_
from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)

EMPTY_VAR_NAME = names.EMPTY
GRAD_VAR_SUFFIX = names.GRAD
grad_var_name = names.grad

__all__ = [
    "EMPTY_VAR_NAME",
    "GRAD_VAR_SUFFIX",
    "convert_np_dtype_to_dtype_",
    "disable_dygraph",
    "enable_dygraph",
    "get_default_dtype",
    "get_flags",
    "grad_var_name",
    "in_dygraph_mode",
    "in_dynamic_mode",
    "in_dynamic_or_pir_mode",
    "in_pir_mode",
    "seed",
    "set_flags",
    "use_pir_api",
]


def seed(seed: int) -> None:
    """Start the stream of random numbers anew."""
    device_requests.asked.seed = int(seed)
    state.random.reset(int(seed) + state.random.shift)


def in_dynamic_mode() -> bool:
    """Return whether functions compute at once instead of building a program."""
    return not state.in_static_mode()


def in_static_mode() -> bool:
    """Return whether functions build a program instead of computing at once."""
    return bool(state.in_static_mode())


in_dygraph_mode = in_dynamic_or_pir_mode = in_dynamic_mode


def in_pir_mode() -> bool:
    """False: programs have Paddle's classic form, not the newer one that is called PIR."""
    return False


use_pir_api = in_pir_mode


def enable_dygraph(place: Any = None) -> None:
    """Compute at once from now on; the place is ignored (there is one)."""
    state.disable_static()


def disable_dygraph() -> None:
    """Build programs from now on."""
    state.enable_static()


def get_default_dtype() -> str:
    """The name of the type that floating-point constants and parameters get when none is named."""
    return state.default_dtype().name


class Flag(NamedTuple):
    """A flag of Paddle's.

    Attributes:
        default: its value in a fresh process.
        fixed: whether another value would ask for something that gradtool does not do. Other flags are about speed,
            memory or devices: they are kept and change no result.
        instead: what gradtool does instead of what another value asks for, which changes no result: the value is kept,
            with a warning.
    """

    default: bool | int | float | str
    fixed: bool = False
    instead: str = ""


FLAGS: dict[str, Flag] = {
    "FLAGS_allocator_strategy": Flag("auto_growth"),
    "FLAGS_benchmark": Flag(False),
    "FLAGS_call_stack_level": Flag(1),
    "FLAGS_check_nan_inf": Flag(
        False, instead="a run does not stop where NaN or infinity comes up; gradtool nan says where it was born"
    ),
    "FLAGS_check_nan_inf_level": Flag(0),
    "FLAGS_conv_workspace_size_limit": Flag(512),
    "FLAGS_cpu_deterministic": Flag(True),
    "FLAGS_cudnn_deterministic": Flag(True),
    "FLAGS_cudnn_exhaustive_search": Flag(False),
    "FLAGS_eager_delete_tensor_gb": Flag(0.0),
    "FLAGS_embedding_deterministic": Flag(1),
    "FLAGS_enable_pir_api": Flag(False, fixed=True),
    "FLAGS_fraction_of_gpu_memory_to_use": Flag(0.92),
    "FLAGS_max_inplace_grad_add": Flag(0, fixed=True),
    "FLAGS_paddle_num_threads": Flag(1),
    "FLAGS_prim_all": Flag(False, fixed=True),
    "FLAGS_set_to_1d": Flag(False, fixed=True),
    "FLAGS_sort_sum_gradient": Flag(False),
    "FLAGS_use_mkldnn": Flag(False),
    "FLAGS_use_stride_kernel": Flag(True, fixed=True),
}

_values: dict[str, Any] = {}


@settings.register_setting
def _as_they_were() -> Callable[[], None]:
    before = dict(_values)

    def restore() -> None:
        _values.clear()
        _values.update(before)

    return restore


def set_flags(flags: Mapping[str, Any]) -> None:
    """Set flags by name.

    Raises:
        ArgumentTypeError: no dict, or a value of another type than the flag's (a TypeError).
        UnsupportedError: a value that asks for something that gradtool does not do (a ValueError).
        UsageError: a name that does not begin with ``FLAGS_`` (a ValueError).

    A flag that is not known is kept, with a warning.
    """
    if not isinstance(flags, Mapping):
        raise ArgumentTypeError(f"flags in set_flags should be a dict, but received {type(flags).__name__}.")
    new = {}
    for name, value in flags.items():  # a comprehension is a call of its own in Python 3.11, for warnings' places
        new[name] = _fitting(name, value)
    _values.update(new)


class IgnoredFlagWarning(UserWarning):
    """A flag asks for something that gradtool does in another way."""


class UnknownFlagWarning(UserWarning):
    """A flag that gradtool does not know: Paddle has hundreds, and nearly all are about speed, memory and devices."""


def _unknown(name: str, verb: str, consequence: str) -> None:
    """Warn about a flag that is not known; raises :class:`UsageError` where it is called as no flag is."""
    hint = did_you_mean(str(name), FLAGS)
    if not str(name).startswith("FLAGS_"):
        raise UsageError(f"Flag {name} cannot {verb} its value through this function.", hint=hint)
    text = f"Flag {name} is not known to gradtool; {consequence}." + (f" ({hint})" if hint else "")
    warnings.warn(text, UnknownFlagWarning, stacklevel=4)


def _fitting(name: str, value: Any) -> Any:
    flag = FLAGS.get(name)
    if flag is None:
        _unknown(name, "set", "its value is kept and changes nothing")
        return value
    kind = type(flag.default)
    if isinstance(value, (bool, int, float)) and kind is not str:
        value = kind(value)
    if not isinstance(value, kind):
        raise ArgumentTypeError(f"Flag {name} is of type {kind.__name__}, but received {value!r}.")
    if flag.fixed and value != flag.default:
        raise UnsupportedError(f"Flag {name} can only be {flag.default!r} in this version of gradtool.")
    if flag.instead and value != flag.default:
        warnings.warn(f"Flag {name} is not followed: {flag.instead}.", IgnoredFlagWarning, stacklevel=3)
    return value


def get_flags(flags: str | Iterable[str]) -> dict[str, Any]:
    """The values of one flag or several, by name.

    Raises:
        ArgumentTypeError: neither a string nor a list or tuple (a TypeError).
        UsageError: a name that does not begin with ``FLAGS_`` (a ValueError).

    Of a flag that is not known and was not set it is None, with a warning.
    """
    if not isinstance(flags, (str, list, tuple)):
        raise ArgumentTypeError(
            f"Flags in get_flags should be a list, tuple or string, but received {type(flags).__name__}."
        )
    asked = [flags] if isinstance(flags, str) else flags
    values = {}
    for name in asked:
        values[name] = _value(name)
    return values


def _value(name: str) -> Any:
    if name not in _values and name not in FLAGS:
        _unknown(name, "get", "None stands for its value")
        return None
    return _values[name] if name in _values else FLAGS[name].default
