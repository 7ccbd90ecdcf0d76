"""``paddle.distribution.Chi2``."""

from __future__ import annotations

from typing import Any

from gradtool import paddle

from ._operands import parameters
from .gamma import Gamma


class Chi2(Gamma):
    """Chi-square distributions: of sums of squares of standard normal numbers.

    Args:
        df: degrees of freedom: how many squares.

    >>> from gradtool import paddle
    >>> float(paddle.distribution.Chi2(4.0).variance)
    8.0
    """

    def __init__(self, df: Any) -> None:
        (self.df,) = parameters("paddle.distribution.Chi2", df=df)
        super().__init__(0.5 * self.df, paddle.full_like(self.df, 0.5))
