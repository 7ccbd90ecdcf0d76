"""Advice: what would change a verdict in the case at hand."""

from __future__ import annotations

from collections.abc import Callable

from ...core.vocabulary import say, title
from .examples import Advice
from .scene import ZeroScene, normalises_one
from .verdicts import Verdict


def _advice(text: str, *examples: str) -> Advice:
    return Advice(text, examples)


_SMOOTH = _advice("use a smooth operator on the path, such as softmax in place of argmax", "argmax as weights")
_CHOICES = frozenset(("arg_max", "argmax", "arg_min", "argmin"))
_COMPUTES = frozenset(
    ("cast", "scale", "elementwise_mul", "elementwise_add", "elementwise_sub", "elementwise_div", "to")
)


def advice(verdict: Verdict) -> str:
    """Return what would change the verdict where nothing more is known; empty where nothing is known to."""
    found = verdict.row.advice
    return "" if found is None else say(found.text)


def advise_operator(type_: str, reader: str) -> str:
    """Return what to do about an operator without a gradient; empty where its result is a label or an index.

    Args:
        reader: the type of the operator that reads its result.
    """
    return say(_SMOOTH.text) if type_ in _CHOICES and reader in _COMPUTES else ""


def _is_layer(scene: ZeroScene) -> bool:
    return scene.type.startswith("PyLayer_") or scene.type == "pylayer"


def _chooses_of_one(scene: ZeroScene) -> bool:
    out = scene.outputs.get("Out", scene.outputs.get("Softmax"))
    return scene.type in _CHOOSING and getattr(out, "ndim", 0) > 0 and out.shape[int(scene.attrs.get("axis", -1))] == 1


def _feeds_a_loss_on_logits(scene: ZeroScene) -> bool:
    return scene.type in (*_CHOOSING, "sigmoid") and not _ON_LOGITS.isdisjoint(scene.readers)


def _is_fed_large_numbers(scene: ZeroScene) -> bool:
    x = scene.inputs.get("X")
    if x is not None and x.size:
        return bool(abs(x).max() > _LARGE)
    return scene.reach is not None and max(map(abs, scene.reach)) > _LARGE


_CHOOSING = ("softmax", "log_softmax", "softmax_with_cross_entropy")
_ON_LOGITS = frozenset(
    (
        *("softmax_with_cross_entropy", "sigmoid_cross_entropy_with_logits", "log_softmax", "softmax"),
        *("binary_cross_entropy_with_logits", "cross_entropy_loss"),
    )
)
_LARGE = 1e3

_ON_A_RESULT = _advice("remove that assignment, or make it on a copy: h.detach()", "set on a result")
_MORE_ELEMENTS = _advice(
    "larger batches, evaluation mode for this layer, or a norm over more elements, such as layer_norm",
    "normalised alone",
)
_STRAIGHT_THROUGH = _advice(
    "let the gradient pass straight through: h + (step(h) - h).detach(), or use a smooth operator", "a step"
)
_STEPS = frozenset(("round", "floor", "ceil", "sign", "trunc"))

CASES: tuple[tuple[Verdict, Callable[[ZeroScene], bool], Advice], ...] = (
    (
        Verdict.NON_DIFFERENTIABLE,
        _is_layer,
        _advice("return a gradient for this input from backward, in the order of forward", "an operator returns None"),
    ),
    (Verdict.NON_DIFFERENTIABLE, lambda scene: scene.type in _STEPS, _STRAIGHT_THROUGH),
    (
        Verdict.TIMES_ZERO,
        _is_layer,
        _advice(
            "return what arrives times the derivative, or what arrives itself (straight through)",
            "an operator returns zeros",
        ),
    ),
    (Verdict.TIMES_ZERO, lambda scene: title(scene.type) == "dropout", _advice("a smaller p", "dropout of all")),
    (
        Verdict.TIMES_ZERO,
        lambda scene: scene.type == "scale",
        _advice("remove the term, or give it a weight that is not 0", "a factor of 0"),
    ),
    (Verdict.NOT_SELECTED, normalises_one, _MORE_ELEMENTS),
    (Verdict.CANCELLED, normalises_one, _MORE_ELEMENTS),
    (
        Verdict.SATURATED,
        _chooses_of_one,
        _advice("sigmoid for a single class, or softmax over the axis of the classes", "one class"),
    ),
    (
        Verdict.SATURATED,
        _feeds_a_loss_on_logits,
        _advice("the loss takes logits: remove this one before it", "squashed before the loss"),
    ),
    (
        Verdict.SATURATED,
        _is_fed_large_numbers,
        _advice("scale the inputs down: normalise the data, or a norm before it", "large inputs"),
    ),
)
"""Verdict, a condition on the operator that made a gradient zero, and what to do then; the first that holds counts."""


def advise(verdict: Verdict, scene: ZeroScene) -> str:
    """Return what would change the verdict in the case at hand; empty where only the verdict is known."""
    return say(next((found.text for of, holds, found in CASES if of is verdict and holds(scene)), ""))


def set_on_a_result() -> str:
    """Return what helps where gradients of something computed were switched off."""
    return say(_ON_A_RESULT.text)


EVERY: tuple[Advice, ...] = (
    *(verdict.row.advice for verdict in Verdict if verdict.row.advice is not None),
    *(_SMOOTH, _ON_A_RESULT),
    *(found for _, _, found in CASES),
)
"""All advices of the tables."""
