"""What would change a verdict."""

from __future__ import annotations

from collections.abc import Callable

from ...core.vocabulary import say
from .scene import Scene, normalises_one
from .verdicts import Verdict

ADVICE = {
    Verdict.DETACHED: "leave out the detach or the way through NumPy, or detach only a copy for logging",
    Verdict.NO_GRAD: "compute it outside no_grad()",
    Verdict.STOP_GRADIENT: "{making}",
    Verdict.NO_GRAD_SET: "take it out of the no_grad_set",
    Verdict.CONSTANT: "{gradient_of}(…, create_graph=True), or detach() what is meant to be a constant",
    Verdict.NOT_LISTED: "give it to the optimizer",
    Verdict.UNUSED: "use it in forward, or leave it out",
    Verdict.NO_PATH: "add what is computed from it to the loss",
    Verdict.NON_DIFFERENTIABLE: "use a smooth operator on the path, such as softmax in place of argmax",
    Verdict.INTEGER: "keep floating-point numbers on the path",
    Verdict.NOT_RETAINED: "call {retain} on it before backward",
    Verdict.DEAD_RELU: "a smaller learning rate, another initial bias, or leaky_relu",
    Verdict.SATURATED: "smaller weights or inputs, or a loss on logits",
    Verdict.CANCELLED: "look at the axis of the sum or the mean, or at the sign of one part",
    Verdict.VANISHED: "residual connections, normalisation, or another start of the weights (He, Glorot, orthogonal)",
    Verdict.EXPLODED: "clip gradients, normalise between layers, or start with smaller or orthogonal weights",
    Verdict.CLIPPED: "clip after the loss, or widen the limits",
}
"""By verdict, where nothing more is known."""


def advice(verdict: Verdict) -> str:
    """Return what would change the verdict where nothing more is known; empty where nothing is known to."""
    return say(ADVICE.get(verdict, ""))


def _is_layer(scene: Scene) -> bool:
    return scene.type.startswith("PyLayer_") or scene.type == "pylayer"


def _chooses_of_one(scene: Scene) -> bool:
    out = scene.outputs.get("Out", scene.outputs.get("Softmax"))
    return scene.type in _CHOOSING and getattr(out, "ndim", 0) > 0 and out.shape[int(scene.attrs.get("axis", -1))] == 1


def _feeds_a_loss_on_logits(scene: Scene) -> bool:
    return scene.type in (*_CHOOSING, "sigmoid") and not _ON_LOGITS.isdisjoint(scene.readers)


def _is_fed_large_numbers(scene: Scene) -> bool:
    x = scene.inputs.get("X")
    if x is not None and x.size:
        return bool(abs(x).max() > _LARGE)
    return scene.reach is not None and max(map(abs, scene.reach)) > _LARGE


_CHOOSING = ("softmax", "log_softmax", "softmax_with_cross_entropy")
_ON_LOGITS = frozenset({"softmax_with_cross_entropy", "sigmoid_cross_entropy_with_logits", "log_softmax", "softmax"})
_LARGE = 1e3

SET_ON_A_RESULT = "leave that assignment out, or make it on a copy: h.detach()"
"""What helps where ``stop_gradient`` of something computed was set."""

_MORE_ELEMENTS = "larger batches, evaluation mode for this layer, or a norm over more elements, such as layer_norm"

CASES: tuple[tuple[Verdict, Callable[[Scene], bool], str], ...] = (
    (Verdict.NON_DIFFERENTIABLE, _is_layer, "return a gradient for this input from backward, in the order of forward"),
    (
        Verdict.TIMES_ZERO,
        _is_layer,
        "return what arrives times the derivative, or what arrives itself (straight through)",
    ),
    (Verdict.TIMES_ZERO, lambda scene: scene.type == "dropout", "a smaller p"),
    (Verdict.TIMES_ZERO, lambda scene: scene.type == "scale", "leave the term out, or give it a weight that is not 0"),
    (Verdict.NOT_SELECTED, normalises_one, _MORE_ELEMENTS),
    (Verdict.CANCELLED, normalises_one, _MORE_ELEMENTS),
    (Verdict.SATURATED, _chooses_of_one, "sigmoid for a single class, or softmax over the axis of the classes"),
    (Verdict.SATURATED, _feeds_a_loss_on_logits, "the loss takes logits: leave this one out before it"),
    (Verdict.SATURATED, _is_fed_large_numbers, "scale the inputs down: normalise the data, or a norm before it"),
)
"""Verdict, a condition on the operator that made a gradient zero, and what to do then; the first that holds counts."""


def advised(verdict: Verdict, scene: Scene) -> str:
    """What would change the verdict in the case at hand; empty where only the verdict is known."""
    return say(next((text for of, holds, text in CASES if of is verdict and holds(scene)), ""))
