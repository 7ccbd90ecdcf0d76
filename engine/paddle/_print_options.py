"""``paddle.set_printoptions``: how tensors are printed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gradtool.engine.core import settings
from gradtool.engine.core.errors import expect_type

from . import _printing


@settings.register_setting
def _as_they_were() -> Callable[[], None]:
    names = ("DECIMALS", "WHOLE", "EDGE", "LINE", "SCIENTIFIC")
    return partial(vars(_printing).update, {name: getattr(_printing, name) for name in names})


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """Set how tensors are printed; what is None stays as it is.

    Args:
        precision: decimals (8).
        threshold: elements up to which all are printed (1000).
        edgeitems: elements printed at either end of a dimension of a longer tensor (3).
        sci_mode: print numbers with a power of ten (False).
        linewidth: columns of a line (80).

    Raises:
        ArgumentTypeError: a number that is no whole one (a TypeError).
    """
    where = "paddle.set_printoptions"
    given = {"DECIMALS": precision, "WHOLE": threshold, "EDGE": edgeitems, "LINE": linewidth}
    names = ("precision", "threshold", "edgeitems", "linewidth")
    for (option, value), name in zip(given.items(), names, strict=True):
        if value is not None:
            expect_type(value, int, name, where)
            setattr(_printing, option, value)
    if sci_mode is not None:
        expect_type(sci_mode, bool, "sci_mode", where)
        _printing.SCIENTIFIC = sci_mode
