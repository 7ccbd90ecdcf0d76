"""Operators that give NaN or infinity as soon as their operand comes to a point that it can come to.

An operator and what made its operand decide, not the values of one pass: ``log(softmax(x))`` is right until a
probability becomes 0. An epsilon, a clip, or a function that stays above 0 keeps the operand away, and then nothing is
said; neither is of operands that do not depend on parameters, or that no gradient comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np

from ...core import source
from ...core.records import dataclass
from ...core.vocabulary import say
from ...runs.timeline import NOBODY, Entry, Timeline
from .fact import Fact, FactKind
from .predictions import downstream
from .ranges import MOVES, Sign, attributes, kind, signs


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run, and what is known of its values.

    Attributes:
        moving: the values that depend on parameters.
        signs: the sign of each value by construction.
    """

    run: Timeline
    moving: Collection[int]
    signs: Mapping[int, Sign]

    def maker(self, number: int) -> Entry | None:
        """Return the operator that made a value, behind those that only move its elements."""
        while (index := self.run.values[number].maker) != NOBODY:
            entry = self.run.entries[index]
            if kind(entry) not in MOVES or not entry.inputs:
                return entry
            number = entry.inputs[0]
        return None

    def sign(self, number: int) -> Sign:
        """Return the sign of a value by construction."""
        return self.signs.get(number, Sign.ANY)

    def extremes(self, number: int) -> tuple[float, float] | None:
        """Return the least and the greatest finite element of a value; None where it is not known."""
        array = np.asarray(self.run.store.get(number)) if number in self.run.store else np.zeros(0)
        finite = array[np.isfinite(array)] if array.dtype.kind == "f" else np.zeros(0)
        return (float(finite.min()), float(finite.max())) if finite.size else None


@dataclass(frozen=True, slots=True)
class Hazard:
    """A risk at an operator.

    Attributes:
        said: what it is given, and what happens then.
        advice: the form that stays finite.
        operand: the value that comes to the point.
    """

    said: str
    advice: str
    operand: int


Look = Callable[[RunFacts, Entry], Hazard | None]


def hazards(run: Timeline, learned: Collection[int]) -> Iterator[Fact]:
    """Yield the operators of a run that can come to a singular point, one for each line and kind.

    Args:
        learned: the numbers of the parameters.
    """
    looks = [e for e in run.entries if _is_looked_at(e)]
    if not looks:
        return
    moving = downstream(run, learned)
    scene = RunFacts(run, moving, signs(run, moving))
    seen: set[tuple[object, ...]] = set()
    for entry in looks:
        hazard = next(filter(None, (look(scene, entry) for look in _LOOKS[kind(entry)])), None)
        if hazard is None or hazard.operand not in scene.moving:
            continue
        key = (*entry.loc[:1], hazard.said)
        if key not in seen and _is_differentiated(run, entry):
            seen.add(key)
            yield _fact(scene, entry, hazard)


def _is_looked_at(entry: Entry) -> bool:
    return not entry.backward and bool(entry.inputs) and kind(entry) in _LOOKS


def _is_differentiated(run: Timeline, entry: Entry) -> bool:
    """Tell whether a gradient comes to an operator."""
    return entry.pair != NOBODY


def _fact(scene: RunFacts, entry: Entry, hazard: Hazard) -> Fact:
    made = scene.maker(hazard.operand)
    said = (
        [] if made is None or made.loc[:1] == entry.loc[:1] else [f"{made.type} at {source.short(made.loc)} makes it"]
    )
    found = scene.extremes(hazard.operand)
    if found is not None:
        said.append(f"in this pass it is in [{found[0]:.3g}, {found[1]:.3g}]")
    name = scene.run.values[hazard.operand].name
    return Fact(FactKind.SINGULAR, name, hazard.said, entry.loc, said=tuple(said), advice=hazard.advice)


# -- logarithms -----------------------------------------------------------------------------------------------------


def _log_of_probability(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``log(softmax(x))``, ``log(sigmoid(x))`` and ``log(1 - sigmoid(x))``."""
    number = entry.inputs[0]
    maker = scene.maker(number)
    if maker is None:
        return None
    if kind(maker) in _STABLE_LOG and not _is_bounded(scene, maker.inputs[0]):
        said = f"{entry.type} of {maker.type}: where a probability becomes 0, it is -inf and its gradient NaN"
        return Hazard(said, _STABLE_LOG[kind(maker)], number)
    inner = _rest_of_one(scene, maker)
    if inner is None:
        return None
    if kind(inner) in _STABLE_REST:
        said = f"{entry.type} of 1 - {inner.type}: where a probability becomes 1, it is -inf and its gradient NaN"
        return Hazard(said, _STABLE_REST[kind(inner)], number)
    squared = scene.maker(inner.inputs[0]) if _squares(inner) else None
    if squared is None or kind(squared) != "tanh":
        return None
    said = f"{entry.type} of 1 - tanh²: where tanh becomes 1, it is -inf and its gradient NaN"
    return Hazard(said, "2 * (log(2) - x - softplus(-2 * x)), or add an epsilon inside", number)


def _log1p_of_minus_probability(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``log1p(-sigmoid(x))``."""
    maker = scene.maker(entry.inputs[0])
    if maker is None or kind(maker) not in ("scale", "neg") or not maker.inputs:
        return None
    attrs = attributes(maker)
    is_negative = float(attrs.get("scale", -1.0)) == -1.0 and not float(attrs.get("bias", 0.0))
    inner = scene.maker(maker.inputs[0]) if is_negative else None
    if inner is None or kind(inner) not in _STABLE_REST:
        return None
    said = f"log1p of -{inner.type}: where a probability becomes 1, it is -inf and its gradient NaN"
    return Hazard(said, _STABLE_REST[kind(inner)], entry.inputs[0])


def _log_of_probabilities(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``log(p / q)`` and ``log(p.cumprod())`` of probabilities."""
    maker = scene.maker(entry.inputs[0])
    if maker is None or not maker.inputs:
        return None
    of = [scene.maker(n) for n in maker.inputs]
    if any(m is None or kind(m) not in _STABLE_LOG for m in of):
        return None
    if kind(maker) == "elementwise_div":
        said = f"{entry.type} of a quotient of probabilities: where one of them becomes 0, it is infinite or NaN"
        return Hazard(said, "log_softmax(x) - log_softmax(y), or kl_div", entry.inputs[0])
    if kind(maker) in _PRODUCTS:
        said = f"{entry.type} of a product of probabilities: the product becomes 0, and its logarithm -inf"
        return Hazard(said, "add up logarithms: log_softmax(x) or logsigmoid(x), then sum or cumsum", entry.inputs[0])
    return None


_PRODUCTS = frozenset(("cumprod", "prod", "reduce_prod"))


def _softplus_by_hand(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``log(1 + exp(x))``, where nothing bounds x."""
    number = entry.inputs[0]
    maker = scene.maker(number)
    inner = maker if kind(entry) == "log1p" else _one_more(scene, maker)
    if inner is None or kind(inner) != "exp" or _is_bounded(scene, inner.inputs[0]):
        return None
    said = f"{entry.type} of 1 + exp: exp overflows where its argument is large, and inf has no gradient"
    return Hazard(said, "softplus(x), or logsigmoid(-x) for its negative", inner.inputs[0])


def _one_more(scene: RunFacts, maker: Entry | None) -> Entry | None:
    """Return what made x where *maker* computes 1 + x."""
    if maker is None or kind(maker) != "scale" or not maker.inputs:
        return None
    attrs = attributes(maker)
    is_one_more = float(attrs.get("scale", 1.0)) == 1.0 and float(attrs.get("bias", 0.0)) == 1.0
    return scene.maker(maker.inputs[0]) if is_one_more else None


def _squares(maker: Entry) -> bool:
    """Return whether an operator squares its operand."""
    twice = kind(maker) == "elementwise_mul" and len(maker.inputs) == 2 and len(set(maker.inputs)) == 1
    return twice or kind(maker) == "square" or (kind(maker) == "pow" and attributes(maker).get("factor") == 2.0)


_STABLE_LOG = {
    "softmax": "log_softmax(x), or cross_entropy on the scores",
    "sigmoid": "logsigmoid(x), or binary_cross_entropy_with_logits on the scores",
}
_STABLE_REST = {
    "sigmoid": "logsigmoid(-x), or binary_cross_entropy_with_logits on the scores",
    "softmax": "cross_entropy on the scores, or clip the probability to less than 1",
}


def _rest_of_one(scene: RunFacts, maker: Entry) -> Entry | None:
    """Return what made p where *maker* computes 1 - p."""
    attrs = attributes(maker)
    is_rest = kind(maker) == "scale" and float(attrs.get("scale", 1)) == -1.0 and float(attrs.get("bias", 0)) == 1.0
    is_rest |= kind(maker) == "rsub" and attrs.get("other") == 1
    if is_rest:
        return scene.maker(maker.inputs[0])
    if kind(maker) == "elementwise_sub" and len(maker.inputs) == 2:
        one = scene.extremes(maker.inputs[0])
        return scene.maker(maker.inputs[1]) if one == (1.0, 1.0) and maker.inputs[0] not in scene.moving else None
    return None


def _log_of_sum_of_exp(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``log(exp(x).sum())``, where nothing bounds x."""
    maker = scene.maker(entry.inputs[0])
    inner = scene.maker(maker.inputs[0]) if maker is not None and kind(maker) in _TOTALS else None
    if inner is None or kind(inner) != "exp" or _is_bounded(scene, inner.inputs[0]):
        return None
    said = f"{entry.type} of a sum of exp: exp overflows where its argument is large, and all are 0 where it is small"
    return Hazard(said, "logsumexp(x)", inner.inputs[0])


def _log_at_zero(scene: RunFacts, entry: Entry) -> Hazard | None:
    number = entry.inputs[0]
    maker = scene.maker(number)
    if maker is None or scene.sign(number) is not Sign.FROM_ZERO:
        return None
    what = f"{entry.type} of what {_describe_maker(scene, maker)} makes"
    said = f"{what}, which can be 0: it is -inf there, and its gradient infinite"
    return Hazard(said, "add an epsilon inside, log(x + 1e-8), or clip at a small positive number", number)


# -- quotients ------------------------------------------------------------------------------------------------------


def _softmax_by_hand(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``exp(x) / exp(x).sum()``, where nothing bounds x."""
    if len(entry.inputs) != 2:
        return None
    above, below = (scene.maker(n) for n in entry.inputs)
    if above is None or below is None or kind(above) != "exp" or kind(below) not in _TOTALS:
        return None
    inner = scene.maker(below.inputs[0])
    if inner is None or kind(inner) != "exp" or inner.inputs[0] != above.inputs[0]:
        return None
    if _is_bounded(scene, above.inputs[0]):
        return None
    said = "exp divided by the sum of exp: exp overflows where its argument is large, and inf / inf is NaN"
    return Hazard(said, "softmax(x), which subtracts the largest first", above.inputs[0])


def _division_by_exp(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``1 / (1 + exp(-x))`` and ``(exp(x) - exp(-x)) / (exp(x) + exp(-x))``, where nothing bounds x."""
    below = scene.maker(entry.inputs[-1])
    inner = _one_more(scene, below)
    if inner is not None and _overflows(scene, inner):
        said = "division by 1 + exp: exp overflows where its argument is large, and its gradient is 0·∞, which is NaN"
        return Hazard(said, "sigmoid(x), which takes the sign of x into account", inner.inputs[0])
    parts = below.inputs if below is not None and kind(below) == "elementwise_add" else ()
    # Of an exp and something else nothing is known: that may keep the quotient finite.
    if len(parts) != 2 or not all(_overflows(scene, scene.maker(n)) for n in parts):
        return None
    said = "division by a sum of two exp: exp overflows where its argument is large, and inf / inf is NaN"
    return Hazard(said, "tanh(x), or softmax over both", parts[0])


def _overflows(scene: RunFacts, maker: Entry | None) -> bool:
    """Return whether an operator is an exp of what nothing bounds."""
    return maker is not None and kind(maker) == "exp" and not _is_bounded(scene, maker.inputs[0])


def _division_by_zero(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``x / x.norm()``, ``x / x.std()`` and ``relu(x) / relu(x).sum()``."""
    number = entry.inputs[-1]
    maker = scene.maker(number)
    if maker is None or scene.sign(number) is not Sign.FROM_ZERO:
        return None
    said = f"division by what {_describe_maker(scene, maker)} makes, which can be 0: 0 / 0 is NaN"
    if kind(maker) in _LENGTHS:
        said = f"division by {_describe_maker(scene, maker)}, which can be 0: 0 / 0 is NaN"
    return Hazard(said, _LENGTHS.get(kind(maker), _DIVISOR), number)


_NORMALIZE = "F.normalize(x), or add an epsilon to the length"
_DEVIATION = "add an epsilon to the deviation, x / (x.std() + 1e-8), or a norm layer"
_DIVISOR = "add an epsilon to the divisor, x / (y + 1e-8), or clip it at a small positive number"
_LENGTHS = {
    **dict.fromkeys(("p_norm", "frobenius_norm", "linalg_vector_norm", "norm"), _NORMALIZE),
    **dict.fromkeys(("std", "var"), _DEVIATION),
}
_TOTALS = frozenset(("reduce_sum", "sum"))


def _is_bounded(scene: RunFacts, number: int) -> bool:
    """Tell whether the argument of exp is bounded: its largest is subtracted, or a function with limits makes it."""
    maker = scene.maker(number)
    if maker is None:
        return number not in scene.moving
    while kind(maker) == "scale" and maker.inputs:
        inner = scene.maker(maker.inputs[0])
        if inner is None:
            return False
        maker = inner
    if kind(maker) in _BOUNDED or _is_cosine(scene, maker):
        return True
    if kind(maker) == "elementwise_sub" and len(maker.inputs) == 2:
        subtracted = scene.maker(maker.inputs[1])
        return subtracted is not None and kind(subtracted) in _LARGEST
    return False


def _is_cosine(scene: RunFacts, maker: Entry) -> bool:
    """Tell whether an operator divides a product by a length that is kept above 0."""
    if kind(maker) != "elementwise_div" or len(maker.inputs) != 2:
        return False
    above, below = (scene.maker(n) for n in maker.inputs)
    products = above is not None and kind(above) in ("reduce_sum", "sum", "matmul_v2", "dot", "bmm")
    lengths = below is not None and kind(below) in ("sqrt", "clip", "elementwise_max", "elementwise_mul")
    return products and lengths and scene.sign(maker.inputs[1]) is Sign.ABOVE_ZERO


_BOUNDED = frozenset(
    [
        "tanh",
        "sigmoid",
        "softmax",
        "log_softmax",
        "clip",
        "hardtanh",
        "logsigmoid",
        "log_sigmoid_forward",
        "cos",
        "sin",
        "layer_norm",
        "clamp_max",
        "hard_sigmoid",
        "relu6",
        "erf",
        "cosine_similarity",
    ]
)
_LARGEST = frozenset(["reduce_max", "max", "amax", "reduce_amax", "logsumexp", "max_with_index"])


# -- roots ----------------------------------------------------------------------------------------------------------


def _root_at_zero(scene: RunFacts, entry: Entry) -> Hazard | None:
    """A square root, or another power below 1, of what can be 0."""
    power = _power_of(entry)
    number = entry.inputs[0]
    maker = scene.maker(number)
    if maker is None or not power or power >= 1:
        return None
    if _is_variance(scene, maker):
        said = f"{entry.type} of a difference of means of squares: rounding makes it 0 or negative, and the root NaN"
        return Hazard(said, "var(x) computes it stably; add an epsilon inside of the root", number)
    if kind(entry) == "sqrt" and _is_square(scene, number):
        said = "sqrt of a square: its gradient is infinite where the number is 0, and 0·∞ is NaN"
        return Hazard(said, "abs(x)", number)
    # What a negative power makes of 0 is infinite itself, whatever becomes of its gradient.
    if scene.sign(number) is not Sign.FROM_ZERO or (power > 0 and _is_masked(scene, number)):
        return None
    what = f"{entry.type} of what {_describe_maker(scene, maker)} makes"
    said = f"{what}, which can be 0: its gradient is infinite there, and 0·∞ is NaN"
    return Hazard(said, "add an epsilon inside of the root, sqrt(x + 1e-8)", number)


def _power_of(entry: Entry) -> float:
    """Return the power that a root is; 0 where it is not known."""
    factor = attributes(entry).get("factor", 0.0)
    return {"sqrt": 0.5, "rsqrt": -0.5}.get(kind(entry), factor if isinstance(factor, float) else 0.0)


def _is_masked(scene: RunFacts, number: int) -> bool:
    """Return whether PyTorch's relu makes a value, summed up at most: where it cuts off it gives 0, whatever comes.

    Paddle's multiplies what comes by 0, which makes NaN of infinity.
    """
    maker = scene.maker(number)
    while maker is not None and kind(maker) in _ADDING_UP and maker.inputs:
        maker = scene.maker(maker.inputs[0])
    return maker is not None and kind(maker) in ("relu", "relu6") and say("{package}") == "torch"


def _is_square(scene: RunFacts, number: int) -> bool:
    """Tell whether a value is a square that nothing was added to."""
    maker = scene.maker(number)
    return maker is not None and _squares(maker)


def _is_variance(scene: RunFacts, maker: Entry) -> bool:
    """``mean(x²) - mean(x)²``."""
    if kind(maker) != "elementwise_sub" or len(maker.inputs) != 2:
        return False
    left, right = (scene.maker(n) for n in maker.inputs)
    if left is None or right is None or kind(right) not in ("square", "elementwise_mul", "pow"):
        return False
    means = kind(left) in ("reduce_mean", "mean") and scene.sign(maker.inputs[0]) > Sign.ANY
    return means and scene.sign(maker.inputs[1]) > Sign.ANY


# -- angles ---------------------------------------------------------------------------------------------------------


def _angle(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``acos`` and ``asin``, whose slope is infinite at -1 and 1."""
    number = entry.inputs[0]
    maker = scene.maker(number)
    if maker is None or _is_inside(maker):
        return None
    said = f"{entry.type}: its slope is infinite at -1 and 1, and beyond them it is NaN; rounding takes a cosine there"
    return Hazard(said, "clip the argument to inside, such as [-1 + 1e-6, 1 - 1e-6], or take atan2", number)


def _is_inside(maker: Entry) -> bool:
    attrs = attributes(maker)
    if kind(maker) in ("clip", "hardtanh"):
        low, high = attrs.get("min", attrs.get("t_min", -1.0)), attrs.get("max", attrs.get("t_max", 1.0))
        return float(low) > -1.0 and float(high) < 1.0
    return kind(maker) == "scale" and abs(float(attrs.get("scale", 1.0))) < 1.0


def _inverse_at_limits(scene: RunFacts, entry: Entry) -> Hazard | None:
    """The inverse of what a function with limits gives: ``atanh(tanh(x))``, ``logit(sigmoid(x))``."""
    number = entry.inputs[0]
    maker = scene.maker(number)
    if maker is None or kind(maker) not in _ENDS[kind(entry)] or attributes(entry).get("eps"):
        return None
    said = f"{kind(entry)} of {maker.type}: rounding takes that to its limit, where the result is infinite"
    return Hazard(said, "clip the argument to inside, such as [-1 + 1e-6, 1 - 1e-6]", number)


_SIGNED = frozenset(("tanh", "erf", "sin", "cos", "cosine_similarity"))
_ENDS: Mapping[str, frozenset[str]] = {
    "atanh": _SIGNED,
    "erfinv": _SIGNED,
    "logit": frozenset(("sigmoid", "softmax")),
}
"""Inverse functions, and the functions that come to the ends of where they are finite."""


def _acosh_at_one(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``acosh(1 + d)`` of a distance that can be 0."""
    number = entry.inputs[0]
    maker = scene.maker(number)
    if _one_more(scene, maker) is None or maker is None or scene.sign(maker.inputs[0]) is not Sign.FROM_ZERO:
        return None
    said = "acosh of 1 + what can be 0: its slope is infinite at 1, and 0·∞ is NaN"
    return Hazard(said, "add an epsilon, acosh(1 + d + 1e-6), or clip the argument at 1 + 1e-6", number)


def _turn(scene: RunFacts, entry: Entry) -> Hazard | None:
    """Paddle's ``atan2``, whose gradient at (0, 0) is NaN; PyTorch gives 0 there."""
    if (
        entry.type != "atan2"
        or len(entry.inputs) != 2
        or any(scene.sign(n) is not Sign.FROM_ZERO for n in entry.inputs)
    ):
        return None
    said = "atan2 of what can be (0, 0): its gradient is NaN there"
    return Hazard(said, "add an epsilon to the second argument", entry.inputs[1])


# -- branches -------------------------------------------------------------------------------------------------------


def _branch(scene: RunFacts, entry: Entry) -> Hazard | None:
    """``where(x > 0, log(x), 0)``: the branch that is not taken has a gradient, and 0·∞ is NaN."""
    slots = dict(reversed(entry.reads))
    condition = slots.get("Condition", slots.get("condition"))
    if condition is None:
        return None
    tested = scene.maker(condition)
    if tested is None:
        return None
    for number in entry.inputs:
        maker = _skip_factors(scene, number) if number != condition else None
        if maker is None or kind(maker) not in _SINGULAR or not maker.inputs:
            continue
        operand = maker.inputs[-1] if kind(maker) == "elementwise_div" else maker.inputs[0]
        if operand in tested.inputs and scene.sign(operand) is not Sign.ABOVE_ZERO:
            said = (
                f"where chooses after {maker.type}: where its argument is not chosen, the gradient is 0·∞, which is NaN"
            )
            return Hazard(
                said, "choose a safe argument first, where(x > 0, x, 1), and choose the result after", operand
            )
    return None


def _skip_factors(scene: RunFacts, number: int) -> Entry | None:
    """Return the operator that made a value, behind those that only multiply it by a number."""
    maker = scene.maker(number)
    while maker is not None and kind(maker) == "scale" and not float(attributes(maker).get("bias", 0.0)):
        maker = scene.maker(maker.inputs[0])
    return maker


_SINGULAR = frozenset(["log", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "elementwise_div", "pow", "acos", "asin"])


def _describe_maker(scene: RunFacts, maker: Entry) -> str:
    summed = scene.maker(maker.inputs[0]) if kind(maker) in _ADDING_UP else None
    return "a sum or mean of squares" if summed is not None and _squares(summed) else maker.type


_ADDING_UP = frozenset(("reduce_sum", "reduce_mean", "mean", "sum"))


_LOGS = (_log_of_probability, _log_of_probabilities, _log_of_sum_of_exp, _softplus_by_hand, _log_at_zero)
_DIVISIONS = (_softmax_by_hand, _division_by_exp, _division_by_zero)
_LOOKS: Mapping[str, tuple[Look, ...]] = {
    **dict.fromkeys(("log", "log2", "log10"), _LOGS),
    **dict.fromkeys(("sqrt", "rsqrt", "pow"), (_root_at_zero,)),
    **dict.fromkeys(("elementwise_div", "reciprocal"), _DIVISIONS),
    "log1p": (_log1p_of_minus_probability, _softplus_by_hand),
    **dict.fromkeys(_ENDS, (_inverse_at_limits,)),
    "acosh": (_acosh_at_one,),
    **dict.fromkeys(("acos", "asin"), (_angle,)),
    "where": (_branch,),
    "atan2": (_turn,),
}
"""By type of operator, what to look for."""
