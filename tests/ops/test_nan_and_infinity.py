"""One element NaN or infinite: what follows from it in a result or a gradient is not finite.

What follows is found by moving the element: where a result or gradient then moves, it depends on it, at the sample or
near it, where no number happens to be 0. Where it grows without bounds as the element does, it is infinite in the end.
So nothing here knows what the operators compute, and every shortcut that stands for a computation shows: a comparison
that NaN fails, a zero that is not multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import KernelError
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef, Operand
from tests import sampling
from tests.ops.calls import call
from tests.ops.cases import BY_HAND, COUNTED, Case, cases_of, each_op, is_float, nested, some_cases_of
from tests.ops.probes import Parts, Path, Probe, floats_of, spots, with_element
from tests.sampling import sampled

NEAR, FAR, PLUS, MINUS = "near", "far", "+inf", "-inf"
"""Ways in which a value depends on an element: a small step moves it; only a large one does, or one across a kink; it
grows without bounds towards either side."""

Finding = tuple[str, str, str]
"""An input slot, the result or gradient that depends on it, and how."""

STEPS = {NEAR: (1e-4, -1e-4), FAR: (1.7, -1.7, 90.0, -90.0)}
SLOPE = "a comparison decides the slope, and NaN fails it; the result is NaN (as in Paddle)"
CHOICE = "a comparison decides which element is chosen; the result is NaN (as in Paddle)"
ORDER = "NaN comes behind all numbers, as in Paddle; the others and their gradients move up"
POWER = "-inf has powers in IEEE 754, where large negative numbers have none"
ZERO = "what is divided by -inf is -0, which has a root; what is divided by a large negative number has none"


COUNTS = "NaN counts for nothing: what this is for (as in Paddle)"
SIGN = "NaN has a sign as numbers have"
PLACED = "which elements are read follows from the integer part of a place, which NaN has not (as in Paddle)"
STAYS = "a comparison decides what stays 0, and NaN fails it; the accumulators are NaN (as in Paddle)"
LENGTH = "a comparison decides the length of the step, and NaN fails it; its own element is NaN (as in Paddle)"
NEXT = "from infinity on the next number is the largest finite one, or itself"


def _each(inputs: str, results: str, how: str) -> list[Finding]:
    return [(i, r, how) for i in inputs.split() for r in results.split()]


ALLOWED: dict[str, tuple[tuple[str, Sequence[Finding]], ...]] = {
    **dict.fromkeys(
        ("brelu", "hard_shrink", "hard_sigmoid", "leaky_relu", "prelu", "relu", "relu6", "softshrink"),
        ((SLOPE, _each("X", "X@GRAD", FAR)),),
    ),
    "adadelta": ((ZERO, _each("AvgSquaredGrad", "AvgSquaredUpdateOut MasterParamOut ParamOut", MINUS)),),
    "argsort": ((ORDER, [*_each("X", "Out", NEAR), *_each("X", "Out X@GRAD", FAR)]),),
    "batch_norm": ((POWER, _each("Variance", "SavedVariance Scale@GRAD X@GRAD Y", MINUS)),),
    "clip": ((SLOPE, _each("X Min Max", "X@GRAD", FAR)),),
    "copysign": ((SIGN, _each("y", "out x@GRAD", FAR)),),
    **dict.fromkeys(("cummax", "cummin"), ((CHOICE, _each("x", "x@GRAD", FAR)),)),
    **dict.fromkeys(
        ("elementwise_fmax", "elementwise_fmin"),
        ((COUNTS, [*_each("X Y", "Out", NEAR), *_each("X Y", "Out X@GRAD Y@GRAD", FAR), ("Out@GRAD", "Y@GRAD", FAR)]),),
    ),
    "deformable_conv": ((PLACED, [("Offset", "Input@GRAD", NEAR), *_each("Offset", "Input@GRAD Offset@GRAD", FAR)]),),
    "deformable_conv_v1": (
        (
            PLACED,
            [*_each("Offset", "Input@GRAD Input@GRAD@GRAD", NEAR), *_each("Offset", "Input@GRAD Offset@GRAD", FAR)],
        ),
    ),
    "elementwise_heaviside": ((CHOICE, [("X", "Y@GRAD", FAR)]),),
    "elementwise_max": ((CHOICE, _each("X Y", "X@GRAD Y@GRAD", FAR)),),
    "elementwise_min": ((CHOICE, _each("X Y", "X@GRAD Y@GRAD", FAR)),),
    "elementwise_pow": ((POWER, _each("X", "Out X@GRAD", MINUS)),),
    **dict.fromkeys(("fractional_max_pool2d", "fractional_max_pool3d"), ((CHOICE, _each("x", "x@GRAD", FAR)),)),
    "ftrl": (
        (
            STAYS,
            [
                *_each("Grad LearningRate LinearAccumulator Param SquaredAccumulator", "ParamOut", NEAR),
                *_each("Grad LinearAccumulator Param", "ParamOut", FAR),
            ],
        ),
    ),
    "graph_send_recv": ((CHOICE, _each("X", "X@GRAD", FAR)),),
    "graph_send_ue_recv": ((CHOICE, _each("X Y", "X@GRAD Y@GRAD", FAR)),),
    "grid_sampler": (
        (
            PLACED,
            [*_each("Grid", "X@GRAD X@GRAD@GRAD", NEAR), *_each("Grid", "Grid@GRAD Output X@GRAD", FAR)],
        ),
    ),
    "gumbel_softmax": ((CHOICE, _each("X", "Out", FAR)),),
    "hinge_loss": ((SLOPE, _each("Logits", "Logits@GRAD", FAR)),),
    "kldiv_loss": (("a target that is not positive counts for nothing (as in Paddle)", _each("X", "Loss", FAR)),),
    **dict.fromkeys(("kthvalue", "mode"), ((ORDER, [*_each("X", "Out", NEAR), *_each("X", "Out X@GRAD", FAR)]),)),
    "lamb": ((ZERO, _each("Beta2Pow", "MasterParamOut ParamOut", PLUS)),),
    "lars_momentum": ((LENGTH, _each("Grad Param", "ParamOut VelocityOut", NEAR)),),
    "logspace": (("the power of whatever it is to 0 is 1", [("Base", "Out", NEAR)]),),
    "lp_pool2d": ((CHOICE, _each("x", "x@GRAD", FAR)), (POWER, _each("x", "x@GRAD", MINUS))),
    "max_pool2d_with_index": ((CHOICE, _each("X Out@GRAD", "X@GRAD", FAR)),),
    "max_pool3d_with_index": ((CHOICE, _each("X Out@GRAD", "X@GRAD", FAR)),),
    "median": ((CHOICE, _each("X", "X@GRAD", FAR)),),
    "nadam": ((ZERO, _each("beta2_pow", "param_out", PLUS)),),
    "nanmedian": ((COUNTS, [*_each("X", "Out", NEAR), *_each("X", "Out X@GRAD", FAR)]),),
    "nextafter": ((NEXT, [("x", "out", PLUS), ("x", "out", MINUS)]),),
    "p_norm": ((CHOICE, _each("X", "X@GRAD", FAR)),),
    "pool2d": ((CHOICE, _each("X Out@GRAD", "X@GRAD", FAR)),),
    "pool3d": ((CHOICE, _each("X", "X@GRAD", FAR)),),
    "pow": ((POWER, _each("X", "Out X@GRAD", MINUS)),),
    "rnn": ((SLOPE, _each("Input PreState WeightList", "Input@GRAD PreState@GRAD WeightList@GRAD", FAR)),),
    "rprop": ((SLOPE, _each("prev", "prev_out", FAR)),),
    "rrelu": ((SLOPE, _each("X", "Noise X@GRAD", FAR)),),
    "segment_pool": ((CHOICE, _each("X", "X@GRAD", FAR)),),
    "thresholded_relu": ((SLOPE, _each("X", "X@GRAD", FAR)),),
    "top_k": ((ORDER, _each("X", "Out X@GRAD", FAR)),),
    "top_k_v2": ((ORDER, [*_each("X", "Out", NEAR), *_each("X", "Out X@GRAD", FAR)]),),
}
"""By operator: what stays finite all the same, and why."""

REFUSES = ("bernoulli",)
"""Operators that take nothing but probabilities: NaN and infinity are errors."""

DEFINITE = ("cholesky",)
"""Operators of positive definite matrices, which a large step leaves: an error."""

MEASURES = (
    "auc",
    "binomial",
    "dirichlet",
    "histogram",
    "matrix_rank",
    "matrix_rank_atol_rtol",
    "multinomial",
    "poisson",
    "standard_gamma",
)
"""Operators that count, divide a range or draw from distributions: NaN and infinity are errors there too."""

CHOOSES = (
    "bipartite_match",
    "distribute_fpn_proposals",
    "generate_proposals_v2",
    "matrix_nms",
    "multiclass_nms3",
    "nms",
    "psroi_pool",
    "roi_align",
    "roi_pool",
    "yolo_box",
    "yolov3_loss",
)
"""Operators of boxes: which pixels or boxes they read follows from whole parts of numbers, and from comparisons."""


def is_of_real_numbers(op: OpDef) -> bool:
    """Return True for an operator of real numbers, but for those whose shapes follow from their values."""
    if not op.infers or op.type in {*BY_HAND, *COUNTED, *REFUSES, *DEFINITE, *MEASURES, *CHOOSES}:
        return False
    return any(True for case in cases_of(op, "float64") for _ in floats_of(case.operands))


@each_op(is_of_real_numbers)
def test_what_depends_on_it_is_not_finite(op: OpDef) -> None:
    hidden = {finding for case in some_cases_of(op, "not finite", "float64") for finding in hiding(case)}
    allowed = {finding for _, findings in ALLOWED.get(op.type, ()) for finding in findings}
    assert sorted(hidden - allowed) == [], "hides it"
    if sampling.whole:  # each exception stands in some case, at some element
        assert sorted(allowed - hidden) == [], "is no exception any more"


def hiding(case: Case) -> Iterator[Finding]:
    """Where a finite value stands that follows from one that is not.

    One element in twelve of each operand is looked at, and all with ``--whole``.
    """
    probe = Probe(case)
    start = Start(probe, probe.operands)
    rng = np.random.default_rng(4)
    generic = Start(
        probe, [nested(lambda a: a + rng.uniform(5e-4, 2e-3, a.shape) if is_float(a) else a, v) for v in start.operands]
    )
    for path, array in floats_of(start.operands):
        held = start.operands[path[0]]
        if isinstance(held, list) and path[1] not in (0, len(held) - 1):
            continue  # what stands between the ends of a list is like them
        slot = probe.slots[path[0]]
        every = list(spots(array, 3 if array.size <= 16 else 2))
        for n, at in enumerate(sampled(every, lambda at, path=path: f"{path} {at}", one_in=48)):
            lost = with_element(start.operands, path, at, np.nan)
            near, far = followers(probe, (start, generic), path, at)
            for parts in (probe.parts(lost), probe.parts(lost, defined=True), probe.parts(lost, to="float32")):
                yield from ((slot, name, NEAR) for name in finite_among(parts, near))
                yield from ((slot, name, FAR) for name in finite_among(parts, far))
            for sign, how in ((1, PLUS), (-1, MINUS)):
                parts = probe.parts(with_element(start.operands, path, at, sign * np.inf))
                yield from ((slot, name, how) for name in finite_among(parts, unbounded(probe, start, path, at, sign)))
            if not n and case.smooth:
                second = merged(
                    [moved_by(probe.second_parts, s, s.second, path, at, STEPS[NEAR][0]) for s in (start, generic)]
                )
                yield from ((slot, name, NEAR) for name in finite_among(probe.second_parts(lost), second))


class Start:
    """Operands to start from, and what comes out of them."""

    def __init__(self, probe: Probe, operands: list[Operand]) -> None:
        self.operands = operands
        self.parts = probe.parts(operands)
        self.second = probe.second_parts(operands) if probe.case.smooth else {}


def moved_by(
    compute: Callable[[list[Operand]], Parts], start: Start, before: Parts, path: Path, at: tuple[int, ...], step: float
) -> Parts:
    """Where a step of one element moves what comes out."""
    held = dict(floats_of(start.operands))[path][at]
    return masked(compute(with_element(start.operands, path, at, held + step)), before, differs)


def fitting(parts: Parts, like: Parts) -> Parts:
    """Those of *parts* that have the shapes of *like*."""
    return {
        name: values
        for name, values in parts.items()
        if [a.shape for a in values] == [a.shape for a in like.get(name, [])]
    }


def finite_among(parts: Parts, wanted: Parts) -> list[str]:
    """The names of the parts that are finite somewhere among the elements *wanted*."""
    return [
        name
        for name, values in fitting(parts, wanted).items()
        if any((mask & np.isfinite(a)).any() for a, mask in zip(values, wanted[name], strict=True))
    ]


def masked(parts: Parts, like: Parts, test: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Parts:
    """*test* of each of *parts* and its counterpart."""
    return {
        name: [test(a, b) for a, b in zip(values, like[name], strict=True)]
        for name, values in fitting(parts, like).items()
    }


def merged(masks: Sequence[Parts]) -> Parts:
    """Where any of *masks* holds."""
    union: Parts = {}
    for parts in masks:
        for name, values in parts.items():
            union[name] = [a | b for a, b in zip(union[name], values, strict=True)] if name in union else values
    return union


def followers(probe: Probe, starts: Sequence[Start], path: Path, at: tuple[int, ...]) -> tuple[Parts, Parts]:
    """Where results and gradients move with an element in a small step, and where in a large one alone."""
    masks: dict[str, list[Parts]] = {NEAR: [], FAR: []}
    for start in starts:
        for how, steps in STEPS.items() if start is starts[0] else [(NEAR, STEPS[NEAR])]:
            # At a kink a small step crosses it.
            into = masks[how if probe.case.smooth else FAR]
            into += [moved_by(probe.parts, start, start.parts, path, at, step) for step in steps]
    near, far = merged(masks[NEAR]), merged(masks[FAR])
    return near, masked(far, near, lambda a, b: a & ~b) if near else far


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("type_", REFUSES)
def test_what_is_no_probability_is_refused(type_: str, value: float) -> None:
    paddle.disable_static()
    probabilities = paddle.to_tensor([0.5, value, 0.0])
    with pytest.raises(KernelError, match="no probability"):
        getattr(paddle, type_)(probabilities)


def differs(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # of infinite results there is no difference
        return np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) > 1e-9 * (1 + np.abs(a) + np.abs(b)))


def unbounded(probe: Probe, start: Start, path: Path, at: tuple[int, ...], sign: int) -> Parts:
    """Where results and gradients grow with an element, or have no value."""
    large, larger = (probe.parts(with_element(start.operands, path, at, sign * size)) for size in (1e20, 1e40))
    return masked(larger, large, lambda a, b: ~np.isfinite(a) | (np.abs(a) > 1e3 * np.abs(b) + 1e3))


def test_a_range_refuses_what_is_no_number() -> None:
    """The length of its result follows from its operands, so there is nothing to compare."""
    op = registry.get_by_type("range")
    case = next(cases_of(op, "float64"))
    for path, _ in floats_of(case.operands):
        for value in (np.nan, np.inf):
            with pytest.raises(ValueError, match=r"arange|length|size"):
                call(op, with_element(case.operands, path, (), value), case.attrs)
