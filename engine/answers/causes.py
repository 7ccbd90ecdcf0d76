"""Why operators give NaN or infinity: for each operator, predicates on the values that it read.

The first line of :data:`CAUSES` that names the operator and holds at one of the bad elements explains it. A predicate
gets the operator's slots in double precision and gives a truth value for each element.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.records import dataclass
from .conditions import (
    Condition,
    Mask,
    SlotValues,
    is_clipped,
    is_divided,
    is_made_by,
    no_score,
    one_less,
    product_of,
    rows,
    spread,
)
from .events import OpEvent

Unread = tuple[Callable[[OpEvent], bool], str]


@dataclass(frozen=True)
class Cause:
    """One way in which operators give bad numbers.

    Attributes:
        ops: types of operators, or empty for any.
        test: where it holds.
        text: what happened; ``{count}`` stands for how many elements.
        advice: what to do about it.
        each: what is counted.
        cases: what to do about it where what was read was made so; the first condition that holds counts.
        unread: what to do about it where no later operator that reads the result is one of these.
    """

    ops: frozenset[str]
    test: Callable[[SlotValues], Mask]
    text: str
    advice: str = ""
    each: str = "element"
    cases: tuple[tuple[Condition, str], ...] = ()
    unread: Unread | None = None

    def may_hold(self, operator: str) -> bool:
        """Return whether it can be the cause in an operator of that type."""
        return not self.ops or operator in self.ops

    def advice_for(self, s: SlotValues) -> str:
        """Return what to do about it in the case at hand."""
        return next((advice for condition, advice in self.cases if condition(s)), self.advice)


def cause(
    ops: str,
    test: Callable[[SlotValues], Mask],
    text: str,
    advice: str = "",
    each: str = "element",
    cases: tuple[tuple[Condition, str], ...] = (),
    unread: Unread | None = None,
) -> Cause:
    """A line of the table; *ops* separated by blanks."""
    return Cause(frozenset(ops.split()), test, text, advice, each, cases, unread)


CHOOSING = "softmax log_softmax softmax_with_cross_entropy logsumexp"
_POWER = "at 0 the slope of a power below 1 is infinite: keep the base away from 0 (x + eps, or clip)"
_EPS = "keep it away from 0: add an epsilon, or clip it"
_BRANCH = "choose a safe argument before the operator, as in where(x > 0, x, 1), and mask the result after it"
_VECTORS = "vectors turn without bounds there: use the values alone, or a matrix whose values differ and are not 0"
_STABLE = "use the form that subtracts the largest first: log_softmax, logsumexp, cross_entropy on logits, sigmoid"

_LOGS = "log log2 log10 log1p log_softmax logsigmoid logsumexp"
_LOG_TWICE = "the argument is a logarithm already ({made}): remove the second log"
_CLIP = "the clip lets 0 through: clip at a small positive number, such as 1e-6"
_OF_LOGITS = "take it from the logits: log_softmax or cross_entropy, log_sigmoid or binary_cross_entropy_with_logits"
_SPREAD = "all values are the same there, or there is one alone: add an epsilon under the root, and skip batches of one"
_LENGTH = "a length of 0 has no direction: F.normalize, or a length that is clipped at an epsilon"
_COUNT = "nothing was counted or summed there: divide by clip(count, min=1), or skip what is empty"
_ENTROPY = "0·log 0 is NaN, and the sum wants 0: where(p > 0, p * log p, 0), or mask with -1e9 in place of -inf"
_DIVISOR: tuple[tuple[Condition, str], ...] = (
    (is_clipped("Y"), _CLIP),
    (is_made_by("p_norm frobenius_norm norm", "Y"), _LENGTH),
    (spread("Y"), _SPREAD),
    (one_less("Y"), "one sample has no deviation (n - 1 is 0): skip batches of one, or unbiased=False"),
    (is_made_by("reduce_sum sum", "Y"), _COUNT),
)
_ARGUMENT: tuple[tuple[Condition, str], ...] = (
    (is_clipped("X"), _CLIP),
    (is_made_by("softmax sigmoid", "X"), _OF_LOGITS),
    (is_made_by("relu relu6", "X"), "relu gives exact zeros: add an epsilon to it, or use softplus"),
)


def _has_repeats(values: np.ndarray) -> np.ndarray:
    """For each matrix of a batch: whether two neighbours among its ordered values are equal."""
    ordered = np.asarray(values)
    return np.asarray((ordered[..., 1:] == ordered[..., :-1]).any(-1))


def _matrices(found: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return what holds of each matrix, for all of its elements."""
    return np.broadcast_to(found[..., None, None], shape)


CAUSES: tuple[Cause, ...] = (
    # Values.
    cause(
        "log log2 log10",
        lambda s: s.x < 0,
        "log of a negative number in {count}",
        "clip the argument to positive",
        cases=((is_made_by(_LOGS, "X"), _LOG_TWICE),),
    ),
    cause(
        "log log2 log10",
        lambda s: s.x == 0,
        "log(0) in {count}",
        _EPS,
        cases=((is_made_by(_LOGS, "X"), _LOG_TWICE), *_ARGUMENT),
    ),
    cause("log1p", lambda s: s.x <= -1, "log1p at or below -1 in {count}", "clip the argument to above -1"),
    cause("sqrt rsqrt", lambda s: s.x < 0, "square root of a negative number in {count}", "clip the argument at 0"),
    cause("rsqrt", lambda s: s.x == 0, "1/sqrt(0) in {count}", _EPS),
    cause("elementwise_div", lambda s: (s.y == 0) & (s.x == 0), "0/0 in {count}", _EPS, cases=_DIVISOR),
    cause("elementwise_div", lambda s: s.y == 0, "division by 0 in {count}", _EPS, cases=_DIVISOR),
    cause("elementwise_div", lambda s: np.isinf(s.x) & np.isinf(s.y), "inf/inf in {count}"),
    cause("elementwise_mod elementwise_floordiv", lambda s: s.y == 0, "modulo by 0 in {count}", _EPS),
    cause("reciprocal", lambda s: s.x == 0, "1/0 in {count}", _EPS),
    cause(
        "elementwise_pow",
        lambda s: (s.x < 0) & (s.y != np.round(s.y)),
        "a negative number to a fractional power in {count}",
        "take the power of the size: abs(x) ** p",
    ),
    cause("elementwise_pow", lambda s: (s.x == 0) & (s.y < 0), "0 to a negative power in {count}", _EPS),
    cause(
        "pow",
        lambda s: (s.x < 0) & (s.attrs["factor"] != round(s.attrs["factor"])),
        "a negative number to a fractional power in {count}",
        "take the power of the size: abs(x) ** p",
    ),
    cause("pow", lambda s: (s.x == 0) & (s.attrs["factor"] < 0), "0 to a negative power in {count}", _EPS),
    cause(
        "exp expm1 sinh cosh",
        lambda s: np.abs(s.x) > np.log(s.limit),
        "{op} overflows {dtype}: the argument is beyond {log_limit} in {count} (largest {largest})",
        _STABLE,
        unread=(is_divided, "bound what goes into it (clip, or tanh times a constant), or scale the inputs down"),
    ),
    cause("acos asin", lambda s: np.abs(s.x) > 1, "{op} outside of -1 … 1 in {count}", "clip the argument to -1 … 1"),
    cause("acosh", lambda s: s.x < 1, "acosh below 1 in {count}", "clip the argument at 1"),
    cause(
        "atanh", lambda s: np.abs(s.x) >= 1, "atanh at or beyond ±1 in {count}", "clip the argument to inside -1 … 1"
    ),
    cause(
        CHOOSING,
        lambda s: rows(s, no_score),
        "every score is -inf in {count}: nothing is left to choose from",
        "let each row keep one score that is not masked, or mask with a large finite number such as -1e9",
        "row",
    ),
    cause(
        CHOOSING,
        lambda s: rows(s, lambda r: np.any(r == np.inf, axis=-1)),
        "a score is +inf in {count}: inf - inf",
        "",
        "row",
    ),
    cause(
        "elementwise_sub elementwise_add sum",
        lambda s: np.logical_and(*[np.isinf(a) for a in np.broadcast_arrays(*list(s.operands())[:2])]),
        "inf - inf in {count}",
    ),
    cause(
        "elementwise_mul",
        lambda s: ((s.x == 0) & np.isinf(s.y)) | (np.isinf(s.x) & (s.y == 0)),
        "0·∞ in {count}",
        "multiplying by a 0/1 mask does not remove infinities: use where",
        cases=((product_of("exp softmax sigmoid", _LOGS), _ENTROPY),),
    ),
    cause(
        "matmul_v2 mul bmm dot addmm reduce_sum mean reduce_mean",
        lambda s: np.asarray(any(np.isinf(a).any() for a in s.operands())),
        "an operand holds infinities, and their sums and products with 0 are NaN",
    ),
    cause(
        "mean reduce_mean",
        lambda s: np.asarray(s.x.size == 0),
        "the mean of no elements (0/0)",
        "skip batches or masks that select nothing",
    ),
    cause(
        "cast",
        lambda s: np.abs(s.x) > s.limit,
        "the cast to {dtype} overflows beyond {limit:.6g} in {count} (largest {largest})",
        "scale the values down before the cast, or keep them in float32",
    ),
    cause(
        "scale",
        lambda s: np.asarray(not np.isfinite([s.attrs["scale"], s.attrs["bias"]]).all()),
        "a factor or a summand that is not finite",
    ),
    cause("log_loss", lambda s: (s.x < 0) | (s.x > 1), "probabilities outside of 0 … 1 in {count}", "apply sigmoid"),
    cause(
        "batch_norm layer_norm group_norm instance_norm",
        lambda s: np.asarray(float(s.attrs.get("epsilon", 1)) == 0),
        "epsilon is 0 and a variance is 0 (all values are the same)",
        "give epsilon its default",
    ),
    cause(
        "adam adamw adamax rmsprop adagrad adadelta lamb",
        lambda s: np.asarray(float(s.attrs.get("epsilon", 1)) == 0),
        "epsilon is 0, and where a gradient has always been 0 the update is 0/0",
        "give epsilon its default",
    ),
    # Gradients.
    cause(
        "sqrt_grad",
        lambda s: (s["Out"] == 0) & (s.dout == 0),
        "0.5·dout/out with out = 0 and dout = 0 in {count}: 0·∞",
        "at 0 the slope of a square root is infinite (so in norms and standard deviations): add an epsilon under it",
    ),
    cause(
        "sqrt_grad",
        lambda s: s["Out"] == 0,
        "0.5·dout/out with out = 0 in {count}",
        "at 0 the slope of a square root is infinite (so in norms and standard deviations): add an epsilon under it",
    ),
    cause("rsqrt_grad", lambda s: np.isinf(s["Out"]), "-0.5·dout·out³ with out = ∞ in {count}", _EPS),
    cause("reciprocal_grad", lambda s: np.isinf(s["Out"]), "-dout·out² with out = ∞ in {count}", _EPS),
    cause(
        "log_grad log2_grad log10_grad",
        lambda s: (s.x == 0) & (s.dout == 0),
        "dout/x with x = 0 and dout = 0 in {count}: 0/0",
        _BRANCH,
    ),
    cause("log_grad log2_grad log10_grad", lambda s: s.x == 0, "dout/x with x = 0 in {count}", _EPS),
    cause("log1p_grad", lambda s: s.x == -1, "dout/(1+x) with x = -1 in {count}", _EPS),
    cause(
        "elementwise_div_grad",
        lambda s: (s.y == 0) & (s.dout == 0),
        "dout/y with y = 0 and dout = 0 in {count}: 0/0",
        _BRANCH,
    ),
    cause("elementwise_div_grad", lambda s: s.y == 0, "dout/y with y = 0 in {count}", _EPS),
    cause(
        "elementwise_div_grad",
        lambda s: np.isinf(s["Out"]) | (np.abs(s["Out"] / s.y) > s.limit),
        "dout·out/y overflows in {count}: the divisor is as small as {smallest}",
        _EPS,
    ),
    cause(
        "pow_grad",
        lambda s: (s.x == 0) & (s.dout == 0),
        "p·x^(p-1)·dout with x = 0, p = {factor} and dout = 0 in {count}: 0·∞",
        _BRANCH,
    ),
    cause("pow_grad", lambda s: s.x == 0, "p·x^(p-1)·dout with x = 0 and p = {factor} in {count}", _POWER),
    cause(
        "elementwise_pow_grad", lambda s: (s.x == 0) & (s.y < 1), "y·x^(y-1)·dout with x = 0, y < 1 in {count}", _POWER
    ),
    cause(
        "atan2_grad",
        lambda s: (s["X1"] == 0) & (s["X2"] == 0),
        "dout·x/(x² + y²) with x = 0 and y = 0 in {count}: 0/0",
        "the point (0, 0) has no angle: add an epsilon to one of the two, or choose another point before it (where)",
    ),
    cause(
        "acos_grad asin_grad",
        lambda s: np.abs(s.x) == 1,
        "dout/√(1 - x²) with |x| = 1 in {count}",
        "clip the argument to inside -1 … 1: clip(x, -1 + eps, 1 - eps)",
    ),
    cause("acosh_grad", lambda s: s.x == 1, "dout/√(x² - 1) with x = 1 in {count}", _EPS),
    cause("atanh_grad", lambda s: np.abs(s.x) == 1, "dout/(1 - x²) with |x| = 1 in {count}", _EPS),
    cause(
        "exp_grad",
        lambda s: np.isinf(s["Out"]) & (s.dout == 0),
        "dout·out with out = ∞ (exp overflowed) and dout = 0 in {count}: 0·∞",
        _BRANCH,
    ),
    cause(
        "elementwise_mul_grad",
        lambda s: (np.isinf(s.x) | np.isinf(s.y)) & (s.dout == 0),
        "dout·y with an infinite operand and dout = 0 in {count}: 0·∞",
        "multiplying by a 0/1 mask does not remove infinities: use where",
    ),
    cause(
        "elementwise_mul_grad",
        lambda s: np.isinf(s.x) | np.isinf(s.y),
        "dout·y with an infinite operand in {count}",
        "use where instead of multiplying by a mask",
    ),
    cause(
        "eigh_grad eigvalsh_grad",
        lambda s: _matrices(_has_repeats(s["Eigenvalues"]), (*s["Eigenvalues"].shape, s["Eigenvalues"].shape[-1])),
        "1/(λⱼ - λᵢ) with two equal eigenvalues in {count}",
        _VECTORS,
    ),
    cause(
        "svd_grad",
        lambda s: _matrices(_has_repeats(s["S"]), (*s["U"].shape[:-1], s["VH"].shape[-1])),
        "1/(sⱼ² - sᵢ²) with two equal singular values in {count}",
        _VECTORS,
    ),
    cause(
        "svd_grad",
        lambda s: _matrices((s["S"] == 0).any(-1), (*s["U"].shape[:-1], s["VH"].shape[-1])),
        "1/s with a singular value of 0 in {count}",
        _VECTORS,
    ),
    cause("bce_loss_grad", lambda s: (s.x == 0) | (s.x == 1), "a probability of exactly 0 or 1 in {count}", _STABLE),
    cause(
        "p_norm_grad frobenius_norm_grad",
        lambda s: s["Out"] == 0,
        "x/‖x‖·dout with ‖x‖ = 0 in {count}",
        _EPS,
        "norm",
    ),
    cause(
        "batch_norm_grad layer_norm_grad group_norm_grad instance_norm_grad",
        lambda s: np.asarray(float(s.attrs.get("epsilon", 1)) == 0),
        "epsilon is 0 and a variance is 0 (all values are the same)",
        "give epsilon its default",
    ),
    # Anything.
    cause(
        "",
        lambda s: np.asarray(any(np.isnan(a).any() or np.isinf(a).any() for a in s.operands())),
        "it read values that are not finite",
    ),
    cause(
        "",
        lambda s: s.nan,
        "{op} has no value there: finite operands gave NaN in {count} (largest operand {largest})",
        "keep the operands inside of where it is defined",
    ),
    cause(
        "",
        lambda s: np.asarray(s.limit < 1e6),
        "the result is beyond the range of {dtype}, {limit:.6g} (largest operand {largest})",
        "compute in float32, or scale the values (for gradients: the loss) so that they stay in range",
    ),
    cause(
        "",
        lambda s: np.asarray(True),
        "finite values gave a result beyond the range of {dtype}, {limit:.3g} (largest operand {largest})",
        "look at what makes the operands so large: gradtool stats shows where they grow",
    ),
)
