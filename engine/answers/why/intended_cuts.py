"""Cuts that are recognised as meant: straight-through values, own statistics, and targets of a comparison.

A cut value, and all that is computed from it alone, is a constant to the training. What it is for shows where it meets
a value that carries gradients:

- in a sum that holds a value and, cut off, the same value with the other sign: the value of the sum is another one, and
  its gradient is kept (straight-through estimators, codebooks, samples of Gumbel);
- as what a value is shifted or divided by, where it is a statistic of that value (softmax without overflow, logarithms
  of sums of exponentials, norms that take no gradient, weights of losses);
- as the side of a loss that is compared with (targets of distillation, of bootstrapped values, of twin networks).

A choice, such as the word that a decoder reads next, holds no gradient that a cut could lose.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Final, Generic

from .reasons import C, Cut, Reasons, V, same

_SUMS: Final = {"elementwise_add": 1, "elementwise_sub": -1}
"""By operator of two operands, the sign of the second one."""

COPIES: Final = frozenset(("detach", "assign", "share_data", "cast", "clone", "scale_by_one", "alias"))
_REDUCTIONS: Final = frozenset(
    (
        *("reduce_max", "reduce_min", "reduce_mean", "reduce_sum", "max", "min", "mean", "sum", "amax", "amin"),
        *("reduce_amax", "reduce_amin", "p_norm", "norm", "frobenius_norm", "squared_l2_norm", "logsumexp", "std"),
        *("var", "top_k_v2", "linalg_vector_norm"),
    )
)
"""Operators that make one number of many."""

_DIVISIONS: Final = frozenset(("elementwise_div", "reciprocal", "rsqrt", "pow", "elementwise_pow"))
_MEETINGS: Final = frozenset(("elementwise_sub", "elementwise_div", "elementwise_mul", "elementwise_max"))
_DISTANCES: Final = frozenset(("square", "abs", "pow", "elementwise_pow", "p_norm", "huber_loss", "norm"))
_INNER: Final = frozenset(("reduce_sum", "sum", "reduce_mean", "mean"))
"""Operators that make an inner product of a product."""

_COMPARING: Final = frozenset(
    (
        *("huber_loss", "kldiv_loss", "bce_loss", "softmax_with_cross_entropy", "log_loss", "cross_entropy2"),
        *("sigmoid_cross_entropy_with_logits", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "kl_div"),
        *("binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy_loss", "squared_error"),
    )
)
"""Losses, which compare what they read first with what they read second."""

_DIFFERENCES: Final = frozenset(("huber_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "squared_error"))
"""Of these, those that take both sides alike: which one is cut does not matter."""

_CHOICES: Final = frozenset(("arg_max", "arg_min", "argmax", "argmin", "multinomial", "bernoulli", "topk", "top_k_v2"))
LAYOUTS: Final = frozenset(
    (
        *("squeeze2", "unsqueeze2", "reshape2", "transpose2", "flatten_contiguous_range", "slice", "expand_v2"),
        *("squeeze", "unsqueeze", "view", "reshape", "t", "transpose", "permute", "select", "expand"),
    )
)

FAR: Final = 400
"""Values that are looked at for one cut."""


class MeantCuts(Generic[V, C]):
    """The cuts of one backward pass that are recognised.

    Args:
        reasons: of the pass.
    """

    def __init__(self, reasons: Reasons[V, C]) -> None:
        self._reasons = reasons

    def is_meant(self, cut: Cut[V, C]) -> bool:
        """Return whether every meeting of a cut value with one that carries gradients is recognised."""
        if cut.call is not None and self._reasons.flow.call_type(cut.call) == "grad":
            return True  # who asks for a gradient wants numbers, unless a penalty is made of them, which is GT109
        meetings = list(self._meetings(cut.value))
        if not meetings:
            return False
        if self._is_choice(cut.value):
            return True
        if any(self._straightens(call, read, written) for call, read, written, _ in meetings):
            return True
        own = self._find_sources(cut)
        if any(self._is_own_statistic(own, call, read, constant) for call, read, _, constant in meetings):
            return True
        return all(self._is_comparison(*meeting) for meeting in meetings)

    def _is_choice(self, value: V) -> bool:
        """Return whether a value is the place of a largest or a drawn one, laid out otherwise at most."""
        for _ in range(8):
            call, read = self._makers.get(value, (None, ()))
            kind = "" if call is None else self._reasons.flow.call_type(call)
            if kind in _CHOICES:
                return value not in self._first_of_several
            if kind not in COPIES | LAYOUTS or not read or read[0] is None:
                return False
            value = read[0]
        return False

    def passes_straight_through(self, cut: Cut[V, C]) -> bool:
        """Return whether a cut stands in a sum with the value that it cuts, so that no gradient is lost by it."""
        return any(self._straightens(call, read, written) for call, read, written, _ in self._meetings(cut.value))

    @cached_property
    def _uses(self) -> dict[V, list[tuple[C, Sequence[V | None], Sequence[V]]]]:
        """By value the calls that read it and that the loss depends on, the first one first."""
        uses: dict[V, list[tuple[C, Sequence[V | None], Sequence[V]]]] = {}
        for call, read, written in self._reasons.flow.links():
            if not self._reasons.depends.isdisjoint(written):
                for value in dict.fromkeys(v for v in read if v is not None):
                    uses.setdefault(value, []).append((call, read, written))
        for entries in uses.values():
            entries.reverse()
        return uses

    @cached_property
    def _makers(self) -> dict[V, tuple[C, Sequence[V | None]]]:
        """By value the call that made it, with what that read."""
        return {w: (call, read) for call, read, written in self._reasons.flow.links() for w in written}

    @cached_property
    def _first_of_several(self) -> set[V]:
        """The first results of calls that give several: the largest values, before their places."""
        return {written[0] for _, _, written in self._reasons.flow.links() if len(written) > 1}

    def _meetings(self, value: V) -> Iterator[tuple[C, Sequence[V | None], Sequence[V], V]]:
        """Yield the calls where what is computed from *value* alone meets one that carries gradients, and as what."""
        todo, seen = [value], {value}
        while todo and len(seen) < FAR:
            constant = todo.pop()
            for call, read, written in self._uses.get(constant, ()):
                if not self._reasons.reached.isdisjoint(written):
                    yield call, read, written, constant
                    continue
                todo += [w for w in written if w not in seen]
                seen.update(written)

    def _find_sources(self, cut: Cut[V, C]) -> set[V]:
        """Return the values that carry gradients and that a cut value was computed from, and what they come from."""
        todo, seen, sources = [cut.value], set[V](), set[V]()
        while todo and len(seen) < FAR:
            value = todo.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in self._reasons.reached:
                sources.add(value)
            todo += [v for v in self._makers.get(value, (None, ()))[1] if v is not None]
        return sources

    # -- sums ------------------------------------------------------------------------------------------------------

    def _straightens(self, call: C, read: Sequence[V | None], written: Sequence[V]) -> bool:
        """Return whether a sum holds a value and the same one, cut off, with the other sign."""
        flow = self._reasons.flow
        if flow.call_type(call) not in _SUMS:
            return False
        top = written[0]
        for _ in range(4):
            wider = [w for c, _, (w, *_) in self._uses.get(top, ()) if flow.call_type(c) in _SUMS]
            terms = list(self._terms(top))
            carried = {(v, sign) for v, sign, carries in terms if carries}
            if any((v, -sign) in carried for v, sign, carries in terms if not carries):
                return True
            if len(wider) != 1:
                return False
            top = wider[0]
        return False

    def _terms(self, value: V) -> Iterator[tuple[V, int, bool]]:
        """Yield the values that a sum adds, all stages of it, with their signs, and whether gradients come to them."""
        flow, todo, count = self._reasons.flow, [(value, 1, True)], 0
        while todo and count < FAR:
            v, sign, carries = todo.pop()
            count += 1
            carries = carries and v in self._reasons.reached
            yield v, sign, carries
            made = self._makers.get(v)
            if made is None:
                continue
            call, read = made
            kind, values = flow.call_type(call), [r for r in read if r is not None]
            if kind in _SUMS and len(values) == 2:
                todo += [(values[0], sign, carries), (values[1], sign * _SUMS[kind], carries)]
            elif kind in COPIES and values:
                todo.append((values[0], sign, carries))

    # -- statistics ------------------------------------------------------------------------------------------------

    def _is_own_statistic(self, own: set[V], call: C, read: Sequence[V | None], constant: V) -> bool:
        """Return whether a value is shifted or divided by a statistic of itself."""
        kind = self._reasons.flow.call_type(call)
        others = [v for v in read if v is not None and not same(v, constant)]
        # What is shifted by a statistic of itself is itself, and not the square of its sum, say.
        through = COPIES | LAYOUTS | {"scale"} if kind == "elementwise_sub" else None
        if kind not in _MEETINGS or not others or not all(self._is_of(v, own, through) for v in others):
            return False
        types = set(self._types_between(constant))
        if kind == "elementwise_mul":
            return not types.isdisjoint(_DIVISIONS)
        return not types.isdisjoint(_REDUCTIONS)

    def _is_of(self, value: V, own: set[V], through: Collection[str] | None) -> bool:
        """Return whether a value is one of *own*, or was made of one without parameters that come in between.

        Args:
            through: the operators that may come in between; any if None.
        """
        for _ in range(4):
            if value in own:
                return True
            made = self._makers.get(value)
            if made is not None and through is not None and self._reasons.flow.call_type(made[0]) not in through:
                return False
            values = [] if made is None else [v for v in made[1] if v is not None and v in self._reasons.reached]
            if len(values) != 1:
                return False
            value = values[0]
        return False

    def _types_between(self, value: V) -> Iterator[str]:
        """Yield the operators that a constant was computed by, back to values that carry gradients."""
        todo, seen = [value], set[V]()
        while todo and len(seen) < FAR:
            v = todo.pop()
            made = self._makers.get(v)
            if v in seen or made is None:
                continue
            seen.add(v)
            call, read = made
            kind = self._reasons.flow.call_type(call)
            if v in self._reasons.reached and kind not in _REDUCTIONS | _DIVISIONS:
                continue
            yield kind
            todo += [r for r in read if r is not None]

    # -- comparisons -----------------------------------------------------------------------------------------------

    def _is_comparison(self, call: C, read: Sequence[V | None], written: Sequence[V], constant: V) -> bool:
        """Return whether a loss compares a value with a constant."""
        kind = self._reasons.flow.call_type(call)
        if kind in _COMPARING:
            return kind in _DIFFERENCES or read[0] is None or not same(read[0], constant)
        if kind == "elementwise_sub":
            return self._is_read_by(written, _DISTANCES) or any(map(self._is_squared, written))
        return kind in ("elementwise_mul", "elementwise_div") and self._weighs(kind, read, written, constant)

    def _weighs(self, kind: str, read: Sequence[V | None], written: Sequence[V], constant: V) -> bool:
        """Return whether a constant is the weight of a term, or one side of an inner product."""
        if kind == "elementwise_div" and read[0] is not None and same(read[0], constant):
            return False  # a weight divides, and what is divided is measured
        if not self._ends_in_loss(written):
            return False
        is_inner = kind == "elementwise_mul" and self._is_read_by(written, _INNER)
        return is_inner or not _REDUCTIONS.isdisjoint(self._types_between(constant))

    def _is_read_by(self, values: Sequence[V], kinds: Collection[str]) -> bool:
        """Return whether operators of these kinds read the values, and no others."""
        readers = [self._reasons.flow.call_type(c) for v in values for c, _, _ in self._uses.get(v, ())]
        return bool(readers) and all(kind in kinds for kind in readers)

    def _is_squared(self, value: V) -> bool:
        """Return whether a value is multiplied by itself."""
        reads = [[v for v in read if v is not None] for _, read, _ in self._uses.get(value, ())]
        return any(len(values) == 2 and len(set(values)) == 1 for values in reads)

    def _ends_in_loss(self, values: Sequence[V]) -> bool:
        """Return whether no call on the way from values to the loss reads a leaf that gradients come to."""
        todo, seen = list(values), set(values)
        while todo and len(seen) < FAR:
            for _, read, written in self._uses.get(todo.pop(), ()):
                if any(v is not None and v in self._reasons.reached and v not in self._makers for v in read):
                    return False
                todo += [w for w in written if w not in seen]
                seen.update(written)
        return True
