"""Random numbers that are drawn in evaluation mode, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...ops.opdef import Trait
from ...runs.bound_kernels import draws_nothing
from ...runs.timeline import Entry
from .change_propagation import find_differences, upstream
from .fact import Fact, FactKind
from .probe import Probe, ProbedCall, any_differs
from .sizes import measure

_SWITCHED = frozenset({"dropout", "dropout_nd", "alpha_dropout", "rrelu", "bernoulli", "bernoulli_p"})
"""Operators whose random numbers are there for training."""

_COMPARING = frozenset({"less_than", "less_equal", "greater_than", "greater_equal"})


def random(probe: Probe, unchecked: list[str]) -> Iterator[Fact]:
    """The random operators that the outputs depend on."""
    if any_differs(probe.compare(probe.run())):
        unchecked.append(
            f"the flow of information through {probe.name}: two calls with the same inputs and seed differ, as it "
            "keeps a state, or draws numbers that no seed reaches"
        )
        return
    if not any_differs(probe.compare(probe.run(seed=1))):
        return
    other = probe.record(seed=1)
    run = probe.recording.timeline
    wanted = upstream(run, probe.recording.outputs)
    for entry, again in zip(run.entries, other.timeline.entries, strict=False):
        if entry.type != again.type:
            return
        if wanted.isdisjoint(entry.made) or not _draws(entry) or not _differs(probe.recording, other, entry, again):
            continue
        yield _fact(probe, entry)


def _draws(entry: Entry) -> bool:
    op = getattr(entry.origin, "op", None)
    return op is not None and bool(getattr(op, "trait", Trait(0)) & Trait.RANDOM)


def _differs(one: ProbedCall, two: ProbedCall, entry: Entry, again: Entry) -> bool:
    pairs = zip(entry.made, again.made, strict=False)
    return any(find_differences(one.timeline.store.get(a), two.timeline.store.get(b)).any() for a, b in pairs)


def _fact(probe: Probe, entry: Entry) -> Fact:
    readers = [e.type for e in probe.recording.timeline.entries if not set(entry.made).isdisjoint(e.inputs)]
    certain = entry.type in _SWITCHED or any(r in _COMPARING for r in readers)
    again = zip(probe.outputs, probe.run(seed=1), strict=False)
    influence = measure("the seed", [(0, 1)], "the output", [(a, b) for a, b in again if a.shape == b.shape])
    advice = "pass training=self.training to it" if entry.type == "dropout" else "draw only where self.training is true"
    return Fact(
        FactKind.RANDOM,
        probe.name,
        f"{entry.type} draws random numbers in evaluation mode, and the output of {probe.name} depends on them",
        entry.loc,
        certain,
        "" if certain else "whether it is meant to draw samples in evaluation mode (sampling = 1 says that it is not)",
        (influence.sentence,) if influence.came else (),
        advice,
        influence.numbers if influence.came else {},
    )


def find_draws(probe: Probe, unchecked: list[str]) -> Iterator[Fact]:
    """The random operators of a run on the way to its results, which draw whenever it runs, in evaluation, too."""
    run = probe.recording.timeline
    given = upstream(run, [n for n in probe.recording.inputs if n is not None])
    wanted = upstream(run, probe.recording.outputs) - given
    for entry in run.entries:
        if wanted.isdisjoint(entry.made) or not _draws(entry) or _is_idle(entry):
            continue
        fact = _fact(probe, entry)
        if probe.modeless:  # of layers it is known, as they were asked
            if entry.layer or entry.type not in _SWITCHED or not set(entry.made).isdisjoint(probe.inside):
                continue
            fact = replace(fact, certain=False, doubt=_NO_MODE)
            unchecked.append(f"{fact.message}: not known is {fact.doubt}")
        yield fact


def _is_idle(entry: Entry) -> bool:
    attrs = entry.origin.attrs
    return attrs.get("is_test") is True or draws_nothing(entry.origin.op, attrs)


_NO_MODE = "whether it is meant in evaluation: outside of layers nothing has a mode (sampling = 1 says that it is not)"
