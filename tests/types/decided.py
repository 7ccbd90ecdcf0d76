"""Cells of the table in which gradtool differs from Paddle on purpose, with the reason.

What gradtool gives there is noted in ``decided.json`` (``python -m tests.types.decide`` writes it anew), so a cell that
changes, and a difference that is gone, fails a test.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .dynamic import REFUSED

HALVES = {"f2", "bf"}
COMPLEX = {"c8", "c16"}
FLOATS = {"f2", "bf", "f4", "f8", *COMPLEX}


class Cell(NamedTuple):
    """One call with operands of certain types (their short names), and what comes out of it."""

    call: str
    types: tuple[str, ...]
    theirs: str
    ours: str

    @property
    def computes(self) -> bool:
        """Whether gradtool computes what Paddle refuses."""
        return REFUSED in self.theirs and REFUSED not in self.ours

    @property
    def refuses(self) -> bool:
        """Whether gradtool refuses what Paddle computes."""
        return self.ours == REFUSED and self.theirs != REFUSED

    @property
    def complex(self) -> bool:
        """Whether a type is complex, or the call has a complex number."""
        return bool(COMPLEX & set(self.types)) or "1j" in self.call

    @property
    def mixed(self) -> bool:
        """Whether the types differ."""
        return len(set(self.types)) > 1


class Decision(NamedTuple):
    """A reason, and the cells that it is for: calls by a pattern, and a condition."""

    reason: str
    calls: str
    takes: Callable[[Cell], bool]


DECISIONS = (
    Decision(
        "Numbers of 16 bits: Paddle's CPU build has no kernel for them where its GPU build computes; gradtool computes "
        "in float32 and rounds, so that models for such a type can be run and explained on any machine.",
        ".*",
        lambda c: c.computes and bool(HALVES & set(c.types)),
    ),
    Decision(
        "What only moves elements takes every type: Paddle has not built some kernels, and nothing can be wrong.",
        r".*(unique|unique_consecutive|pad|split|unstack|meshgrid|expand_as|broadcast_tensors|repeat_interleave|flip|roll|"
        r"tri[lu]|index_select|take_along_axis|where|rot90|take|take_along_dim|multiplex|masked_scatter|diag_embed|crop|"
        r"index_sample|cartesian_prod|combinations|vander)\(.*|"
        r"paddle\.(full_like\(x, 2|randint_like\(x, 0, 3|shape\(x)\)",
        lambda c: c.computes,
    ),
    Decision(
        "Comparisons and questions of truth take every type: Paddle has not built some kernels.",
        r"paddle\.(isfinite|isnan|isinf|isin|is_empty|argwhere|count_nonzero|logical_\w+|nonzero|all|any|equal_all|allclose|isclose)\(.*",
        lambda c: c.computes,
    ),
    Decision(
        "Ids of any whole type are places in a table.",
        r"F\.embedding\(paddle.zeros_like\(x\), n\)",
        lambda c: c.computes,
    ),
    Decision(
        "Operators with a complex derivative take complex numbers, and real ones beside them, without exception; "
        "Paddle lacks some of these kernels.",
        ".*",
        lambda c: c.computes and c.complex,
    ),
    Decision(
        "A float64 loss is computed in float64; Paddle has the kernel for float32 only.",
        r"F\.log_loss\(.*",
        lambda c: c.computes and c.types == ("f8", "f8"),
    ),
    Decision(
        "A number beside a tensor in where() takes the tensor's type; Paddle makes it int64 or float32, which it then "
        "refuses.",
        r"paddle\.where\(mask, x, (2|1\.5)\)",
        lambda c: True,
    ),
    Decision(
        "Complex numbers have no order and no remainder: Paddle computes something of their parts.",
        r".*(less_than|less_equal|greater_than|greater_equal|greater|lt|le|gt|ge|remainder)\(.*|.* (<|<=|>|>=|%) .*",
        lambda c: c.refuses and c.complex,
    ),
    Decision(
        "A function without a complex derivative, whose gradient Paddle gives all the same, is refused for complex "
        "numbers, and so is what would drop their imaginary parts in silence.",
        r"(paddle\.(round|sign|median|sum|reduce_as|select_scatter|slice_scatter)|F\.(hardswish|log_sigmoid|softplus|softsign|fold|dropout2d|alpha_dropout|"
        r"multi_label_soft_margin_loss))\(.*",
        lambda c: c.refuses and c.complex,
    ),
    Decision(
        "Two different types in a kernel written for one: Paddle reads the second operand's bytes as the first one's "
        "type, or rounds to the smaller; gradtool refuses.",
        r"(paddle\.(matmul|mm|dot|add_n|einsum|stack|isclose|inner|tensordot|linalg\.triangular_solve)|F\.(linear|conv1d|cross_entropy))\(.*",
        lambda c: c.refuses and c.mixed,
    ),
    Decision(
        "Eigenvalues and least squares have gradients, which Paddle leaves out.",
        r"paddle\.linalg\.(eigvals|lstsq)\(.*",
        lambda c: ">" in c.ours and ">" not in c.theirs,
    ),
    Decision(
        "Reflections have gradients by all that they are made of; Paddle refuses where one tensor gives both.",
        r"paddle\.linalg\.(householder_product|ormqr)\(.*",
        lambda c: c.computes,
    ),
    Decision(
        "Products of whole numbers are whole numbers.",
        r"paddle\.linalg\.(matrix_power|multi_dot)\(.*",
        lambda c: c.computes,
    ),
    Decision(
        "A label is a class index, a length a whole number: Paddle reads others all the same, without a gradient then.",
        r"F\.(cross_entropy\(x, row|sequence_mask\(v, 9)\)",
        lambda c: c.refuses,
    ),
    Decision(
        "x @ y with whole numbers in x would cut off y's fractions in silence, as Paddle does.",
        "x @ n",
        lambda c: c.refuses and c.types[0] in ("i4", "i8"),
    ),
    Decision(
        "Dropping, interpolating between and attending to whole numbers is rounding that nobody asked for.",
        r"F\.(dropout2d|alpha_dropout|interpolate|scaled_dot_product_attention)\(.*",
        lambda c: c.refuses and not FLOATS & set(c.types),
    ),
    Decision(
        "A table of int8 holds no weights that could be learnt.",
        r"F\.embedding\(.*",
        lambda c: c.refuses and "i1" in c.types,
    ),
    Decision(
        "The variance of whole numbers is a float32 number: Paddle cuts off the mean, and the result.",
        r"paddle\.var\(x\)",
        lambda c: c.ours == "f4",
    ),
    Decision(
        "Where both a product and a sum take two types, what is made of them does too; Paddle's own kernel takes one.",
        r"paddle\.(kron|dist)\(x, y\)",
        lambda c: c.computes,
    ),
    Decision(
        "How often something is tried is no complex number.",
        r"paddle\.binomial\(.*",
        lambda c: c.refuses and c.complex,
    ),
    Decision(
        "Only whole numbers have common divisors and multiples: of others Paddle's loops give what rounding leaves.",
        r"paddle\.(gcd|lcm)\(.*",
        lambda c: c.refuses,
    ),
    Decision(
        "The Frobenius norm of complex numbers is real.",
        r"paddle\.norm\(x, p='fro', axis=\[0, 1\]\)",
        lambda c: c.complex and c.ours.startswith("f"),
    ),
)

IN_PROGRAMS = {"paddle.shape(x)": "i4", "paddle.to_tensor(1j)": "c16"}
"""Calls that give another type in a static program, as in Paddle 3.1.1, where the type stands in the program's text."""


def decision_of(cell: Cell) -> Decision | None:
    """The first decision that takes the cell."""
    return next((d for d in DECISIONS if re.fullmatch(d.calls, cell.call, re.DOTALL) and d.takes(cell)), None)
