"""Checkpoints: what callers may pass, and choosing them where memory is least.

What backward keeps in memory is estimated from the sizes of variables: values that gradient operators read, values
that cross from one segment to the next, and the gradients that one gradient operator has at hand. Parameters are not
counted, nor their gradients once they are made: they take the same room whatever is computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, zip_longest
from typing import Any

from ..core.collector import pause_gc
from ..core.errors import ArgumentTypeError, GradtoolError, UsageError, VariableNotFound, did_you_mean
from ..core.records import dataclass
from ..core.spec import UNKNOWN, Shape, TensorSpec
from ..ir.operator import Operator, each, flat, map_operands
from ..ir.program import Block
from ..ir.variable import Variable
from ..ops.readings import flatten
from .recompute import boundaries, path_to, places, repeatable
from .values import BlockValues, Value, variable_of

AUTO = "auto"

STEPS = 12
"""How often the search for the least peak halves its interval: to a thousandth or so."""


class BudgetError(UsageError):
    """No choice of checkpoints keeps backward under the memory budget (a ValueError)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Checkpoints, and what they are expected to save.

    Attributes:
        checkpoints: the variables to keep, in the order in which the program makes them.
        peak: the estimated bytes of values and gradients where most of them are alive; parameters, their finished
            gradients and what is fed are not counted.
        without: the same without recomputation.
    """

    checkpoints: list[Variable]
    peak: int
    without: int


def checkpoint_variables(block: Block, checkpoints: Any, where: str) -> list[Variable] | None:
    """The variables that a ``checkpoints`` argument names; None where they are to be chosen.

    Raises:
        ArgumentTypeError: neither a list nor a tuple of Variables and names, nor ``"auto"`` (a TypeError).
        VariableNotFound: a name that no variable of block 0 has (a KeyError and a ValueError).
        UsageError: a variable of another program (a ValueError).
    """
    if checkpoints is None:
        return []
    if isinstance(checkpoints, str) and checkpoints == AUTO:
        return None
    if not isinstance(checkpoints, (list, tuple)):
        raise ArgumentTypeError(
            f"'checkpoints' in {where} must be a list of Variables or names, or {AUTO!r}, "
            f"but received {repr(checkpoints) if isinstance(checkpoints, str) else type(checkpoints).__name__}.",
            hint="a single checkpoint goes into a list: checkpoints=[h]",
        )
    return [_checkpoint(block, entry, i, where) for i, entry in enumerate(checkpoints)]


def _checkpoint(block: Block, entry: Any, i: int, where: str) -> Variable:
    """The variable that an entry of a ``checkpoints`` argument stands for."""
    if isinstance(entry, str):
        if entry not in block.vars:
            raise VariableNotFound(
                f"checkpoints[{i}] is {entry!r}, which no variable of block {block.idx} is called.",
                hint=did_you_mean(entry, block.vars),
            )
        return block.vars[entry]
    if not isinstance(entry, Variable):
        raise ArgumentTypeError(
            f"checkpoints[{i}] in {where} must be a Variable or its name, but received {type(entry).__name__}."
        )
    if entry.block.program is not block.program:
        raise UsageError(f"checkpoints[{i}] is '{entry.name}', a variable of another program.")
    return entry


def choose(
    loss: Variable,
    stopped: Iterable[str] = (),
    budget: int | None = None,
    shapes: Mapping[str, Shape] | None = None,
) -> Choice:
    """Checkpoints for the backward part of *loss*: those with the least peak, or enough of them for *budget*.

    Args:
        stopped: names of variables through which no gradient flows.
        budget: bytes that values and gradients may take, counted as in :class:`Choice`. The part of the program that
            is computed again is as short as that allows; no checkpoints where none are needed.
        shapes: the shapes of fed variables; a dimension that neither they nor the program give counts as 1.

    Raises:
        BudgetError: the budget is too small whatever is chosen (a ValueError).
    """
    with pause_gc():
        costs = _Costs(loss, stopped, shapes)
        plain = costs.evaluate([])
        if budget is not None and plain.peak <= budget:
            return plain
        cuts = costs.least() if budget is None else costs.find_cuts(budget)
        choice = costs.evaluate([costs.candidates[b] for b in cuts])
    return choice if choice.peak < plain.peak else plain


def estimate(
    loss: Variable,
    checkpoints: Iterable[Variable],
    stopped: Iterable[str] = (),
    shapes: Mapping[str, Shape] | None = None,
) -> Choice:
    """Return what given checkpoints save; arguments as for :func:`choose`."""
    with pause_gc():
        return _Costs(loss, stopped, shapes).evaluate(checkpoints)


@dataclass(slots=True)
class _Life:
    """The position of the operator that makes a value, and of its last reader; None if nobody reads it."""

    made_at: int
    last: int | None


def _last(lives: Mapping[Value, _Life], value: Value) -> int:
    life = lives.get(value)
    return -1 if life is None or life.last is None else life.last


class _Costs:
    """Bytes along a path of operators; positions lie between operators, 0 before the first.

    Attributes:
        candidates: the positions where a segment may end, with the variable to keep there.
        saved: for each position, bytes made before it that gradient operators read.
        at_hand: for each operator, bytes of the gradients alive around its gradient operator: those that it reads and
            makes, and those that wait for another operator before it.
        crossing: for each position, bytes made before it and read from there on.
    """

    def __init__(self, loss: Variable, stopped: Iterable[str], shapes: Mapping[str, Shape] | None) -> None:
        ops = loss.block.program.global_block().ops
        self.values = BlockValues(ops)
        self.path = path_to(ops, self.values, loss)
        self.size = len(self.path)
        self._stopped = frozenset(stopped)
        self._nbytes = _sizes(self.path, self.values, shapes or {})
        lives = self._lives()
        read = set(chain.from_iterable(map(self._read_backward, self.path)))
        self.saved = _prefix(self.size, {v: life.made_at for v, life in lives.items() if v in read}, self._nbytes)
        self._news: list[list[tuple[int, int]]] = [[] for _ in range(self.size)]
        """For each operator, what it makes: the last reader's position, and bytes."""
        for value, life in lives.items():
            if life.last is not None:
                self._news[life.made_at].append((life.last, self._nbytes[value]))
        self.crossing = self._alive(lives, 0)
        waiting = self._alive({v: life for v, life in lives.items() if self._flows(variable_of(v))}, 1)
        self.at_hand = [self._gradient_bytes(op) + n for op, n in zip(self.path, waiting, strict=False)]
        self.candidates = self._candidates(lives)

    def _flows(self, v: Variable) -> bool:
        """Return whether the variable has a gradient."""
        return not v.stop_gradient and v.name not in self._stopped

    def _has_gradient(self, op: Operator) -> bool:
        return op.op.rule is not None and any(map(self._flows, each(op.inputs)))

    def _lives(self) -> dict[Value, _Life]:
        """Find when each value of the path is made and who reads it last; parameters are always there."""
        lives: dict[Value, _Life] = {}
        for i, op in enumerate(self.path):
            for v in each(op.inputs):
                value = self.values.version_read(op, v)
                if value in lives:
                    lives[value].last = i
            for v in each(op.outputs):
                if not v.persistable:
                    # What cannot be computed again stays to the end.
                    lives[self.values.version_written(op, v)] = _Life(i, None if repeatable(op) else self.size)
        return lives

    def _read_backward(self, op: Operator) -> Iterator[Value]:
        """The values that the gradient operator of *op* reads, apart from gradients and mere shapes."""
        rule = op.op.rule
        if rule is None or not self._has_gradient(op):
            return
        for n, entry in enumerate(rule.reads):
            if entry.kind == "dout" or entry.like or (n in rule.needs and not rule.needs[n](op.attrs)):
                continue
            is_input = entry.kind == "in"
            operands = op.inputs if is_input else op.outputs
            version = self.values.version_read if is_input else self.values.version_written
            for v in each(operands[entry.place : entry.place + 1]):
                yield version(op, v)

    def _gradient_bytes(self, op: Operator) -> int:
        """Bytes of the gradients that the gradient operator of *op* reads and makes."""
        if not self._has_gradient(op):
            return 0
        inputs = (self.values.version_read(op, v) for v in each(op.inputs) if self._flows(v))
        outputs = (self.values.version_written(op, v) for v in each(op.outputs) if self._flows(v))
        return sum(self._nbytes[value] for value in chain(inputs, outputs))

    def _alive(self, lives: Mapping[Value, _Life], early: int) -> list[int]:
        """For each position, bytes made before it and read from there on.

        Args:
            early: by how many positions the last reader has done with a value before it is passed.
        """
        change = [0] * (self.size + 2)
        for value, life in lives.items():
            if life.last is not None and life.last + 1 - early > life.made_at + 1:
                change[life.made_at + 1] += self._nbytes[value]
                change[life.last + 1 - early] -= self._nbytes[value]
        return list(accumulate(change[:-1]))

    def _candidates(self, lives: Mapping[Value, _Life]) -> dict[int, Variable]:
        """After each operator that can be computed again, the largest variable that is read later."""
        candidates = {}
        for i, op in enumerate(self.path[:-1]):
            if not repeatable(op):
                continue
            written = {v: self.values.version_written(op, v) for v in each(op.outputs)}
            read_later = [v for v, value in written.items() if _last(lives, value) > i]
            if read_later:
                candidates[i + 1] = max(read_later, key=lambda v: self._nbytes[written[v]])
        return candidates

    def evaluate(self, checkpoints: Iterable[Variable]) -> Choice:
        """Return what *checkpoints* save."""
        made_at = places(self.path, self.values, checkpoints)
        ends = boundaries(self.path, self.values, made_at)
        return Choice(list(made_at), self.peak(ends), self.peak([]))

    def _bytes_across(self, start: int, end: int) -> int:
        """Bytes made between two positions and read after the second."""
        return sum(n for news in self._news[start:end] for last, n in news if last >= end)

    def peak(self, ends: Sequence[int]) -> int:
        """The most bytes alive at once during backward if segments end there."""
        held = most = start = 0
        for end in (*ends, self.size):
            at_hand = max(self.at_hand[start:end], default=0)
            most = max(most, held + self.saved[end] - self.saved[start] + at_hand)
            held += self._bytes_across(start, end)
            start = end
        return most

    def cuts(self, limit: int, stop: int | None = None) -> list[int] | None:
        """Few segments that keep the peak under *limit*, the last ending at *stop* if that is given, or None.

        Each segment goes about as far as the limit lets it, to the place where the least crosses over.
        """
        start = held = 0
        cuts: list[int] = []
        while True:
            if stop is None and self._fits(start, self.size, held, limit):
                return cuts
            if start == stop:
                return cuts if self._fits(start, self.size, held, limit) else None
            cut = self._cut(start, held, limit, stop)
            if cut is None:
                return None
            end, crossing = cut
            cuts.append(end)
            held += crossing
            start = end

    def _fits(self, start: int, end: int, held: int, limit: int) -> bool:
        bytes_ = held + self.saved[end] - self.saved[start]
        return bytes_ <= limit and bytes_ + max(self.at_hand[start:end], default=0) <= limit

    def _cut(self, start: int, held: int, limit: int, stop: int | None) -> tuple[int, int] | None:
        """Return the best end of the segment from *start* on, and the bytes that cross there."""
        crossing = most = 0
        dying: dict[int, int] = {}
        options: list[tuple[int, int]] = []
        for b in range(start + 1, (self.size if stop is None else stop + 1)):
            for last, n in self._news[b - 1]:
                crossing += n
                dying[last] = dying.get(last, 0) + n
            crossing -= dying.pop(b - 1, 0)
            most = max(most, self.at_hand[b - 1])
            if held + self.saved[b] - self.saved[start] + most > limit:
                break
            if b == stop:
                return b, crossing
            if b in self.candidates:
                options.append((b, crossing))
        if not options:
            return None
        half = (self.saved[options[-1][0]] - self.saved[start]) / 2
        far = [(b, n) for b, n in options if self.saved[b] - self.saved[start] >= half]
        return min(far, key=lambda option: (option[1], -option[0]))

    def least(self) -> list[int]:
        """The cuts with the least peak that :meth:`cuts` can find."""
        low, high = 0, self.peak([])
        best: list[int] = []
        for _ in range(STEPS):
            middle = (low + high) // 2
            cuts = self.cuts(middle)
            if cuts is None:
                low = middle
            else:
                best, high = cuts, min(middle, self.peak(cuts))
        return best

    def find_cuts(self, budget: int) -> list[int]:
        """Cuts for which the peak is at most *budget*, the last of them as early as can be."""
        best = self.cuts(budget)
        if best is None:
            least = self.peak(self.least())
            raise BudgetError(
                f"backward needs about {least} bytes for values and gradients even with checkpoints; "
                f"the budget is {budget}.",
                hint="a smaller batch, or a larger budget",
            )
        positions = sorted(self.candidates)
        low, high = 0, len(positions)
        while low < high:
            middle = (low + high) // 2
            cuts = self.cuts(budget, self._cheapest_cut(positions, middle))
            if cuts is None:
                low = middle + 1
            else:
                best, high = cuts, middle
        return best

    def _cheapest_cut(self, positions: Sequence[int], at: int) -> int:
        """The position from the one numbered *at* on, and not far from it, where the least crosses over."""
        reach = self.saved[positions[at]] + self.saved[self.size] // 20
        best = positions[at]
        for b in positions[at:]:
            if self.saved[b] > reach:
                break
            if self.crossing[b] < self.crossing[best]:
                best = b
        return best


def _prefix(size: int, made_at: Mapping[Value, int], nbytes: Mapping[Value, int]) -> list[int]:
    """For each position, the bytes of the values made before it."""
    new = [0] * (size + 1)
    for value, i in made_at.items():
        new[i + 1] += nbytes[value]
    return list(accumulate(new))


def _sizes(path: Sequence[Operator], values: BlockValues, shapes: Mapping[str, Shape]) -> dict[Value, int]:
    """Bytes by version; dimensions follow from *shapes*, and count as 1 where they do not."""
    specs: dict[Value, TensorSpec] = {}
    for op in path:
        for v in each(op.inputs):
            version = values.version_read(op, v)
            if version not in specs:
                specs[version] = _fill_unknown(v.spec, shapes.get(v.name))
        for out, inferred in zip_longest(flat(op.outputs), _infer_outputs(op, values, specs)):
            if out is not None:
                specs[values.version_written(op, out)] = _fill_unknown(inferred or out.spec, None)
    return {version: spec.nbytes for version, spec in specs.items()}


def _infer_outputs(op: Operator, values: BlockValues, specs: Mapping[Value, TensorSpec]) -> list[Any]:
    """The output specs of *op* laid flat, from those of its inputs; nothing where the program says all."""
    if op.op.forward is not None or all(UNKNOWN not in v.shape for v in each(op.outputs)):
        return []
    operands = [*map_operands(op.inputs, lambda v: specs[values.version_read(op, v)])]
    operands += [() if s.many else None for s in op.op.inputs[len(operands) :]]
    try:
        inferred = op.op.infer_specs(operands, op.attrs)
    except GradtoolError:
        return []  # dimensions that count as 1 need not fit together
    return flatten(inferred, range(len(inferred)))


def _fill_unknown(spec: TensorSpec, shape: Shape | None) -> TensorSpec:
    if shape is not None and len(shape) == spec.ndim:
        return spec.replace_shape(tuple(shape))
    if UNKNOWN not in spec.shape:
        return spec
    return spec.replace_shape(tuple(1 if d == UNKNOWN else d for d in spec.shape))
