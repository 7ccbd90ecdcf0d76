"""Why an operator gives a zero gradient although one arrives: what its values say.

One table says what kind of zero an operator can make; the numbers in the explanation are those of the forward pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.records import dataclass
from ...core.spec import dtype as dtype_of
from ...core.vocabulary import title
from .advice import advise
from .scene import NORMS, ZeroScene, first_of, normalises_one
from .verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Killer:
    """The cause of a zero gradient.

    Attributes:
        share: how much of it, in percent, where the verdict is about a share.
        said: the explanation, with numbers.
        culprit: position among what the call read of the operand that is zero, if that is the cause.
        advice: what would change it, where the case says more than the verdict.
        certain: whether other values near these would get nothing either.
    """

    verdict: Verdict
    said: str
    share: float | None = None
    culprit: int | None = None
    advice: str = ""
    certain: bool = False

    @property
    def label(self) -> str:
        """``zero: dead relu 100 %``."""
        share = "" if self.share is None else f" {self.share:.3g} %"
        return f"{self.verdict.text}{share}"


def killer(scene: ZeroScene) -> Killer:
    """Return what made the gradient zero (or None) in *scene*, and what to do about it."""
    cause = _killer(scene)
    return replace(cause, advice=advise(cause.verdict, scene))


def _killer(scene: ZeroScene) -> Killer:
    if scene.type in _BRANCHES:
        return _BRANCHES[scene.type]
    if not scene.given:
        own = scene.type.startswith("PyLayer_")
        what = title(scene.type).removeprefix("PyLayer_")
        said = f"{what}.backward returned None" if own else f"{what} gives this input no gradient"
        return Killer(Verdict.NON_DIFFERENTIABLE, said)
    if scene.type.startswith("PyLayer_"):
        return Killer(Verdict.TIMES_ZERO, f"{title(scene.type).removeprefix('PyLayer_')}.backward returned zeros")
    return (_KINDS.get(scene.type) or _OF_TORCH.get(scene.type, _other))(scene)


def zero_factor(scene: ZeroScene) -> Killer | None:
    """Return what multiplies by zero in *scene* whatever arrives; None if nothing does."""
    if scene.type == "scale":
        return (
            None
            if float(scene.attrs.get("scale", 1.0))
            else replace(_scale(scene), advice=advise(Verdict.TIMES_ZERO, scene))
        )
    for i, slot in enumerate(scene.operands):
        other = first_of(scene.inputs, slot)
        if slot != scene.slot and other is not None and not np.any(other):
            return Killer(Verdict.TIMES_ZERO, f"the other operand ({slot}) is 0 everywhere", culprit=i)
    return None


def constant(scene: ZeroScene) -> Killer | None:
    """Return the cause of a zero at an operator whose result is the same whatever it reads; None of others."""
    return killer(scene) if _has_one_share(scene, first_of(scene.outputs, "Out", "Softmax")) else None


def explain_cancelling(scene: ZeroScene) -> Killer:
    """Return the cause where the terms that *scene* adds up cancel."""
    return Killer(Verdict.CANCELLED, f"what arrives at {scene.type} adds up to 0")


def underflow(type_: str) -> Killer:
    """Return the cause where a product is smaller than any number of its type."""
    return Killer(Verdict.VANISHED, f"it became smaller than any number that its type holds, at {type_}")


def explain_hook() -> Killer:
    """Return the cause where a hook has returned zeros."""
    return Killer(
        Verdict.TIMES_ZERO,
        "a hook on it returned zeros",
        advice="have the hook return what it is given, changed, or None",
    )


def explain_nothing(type_: str) -> Killer:
    """Return the cause of a zero at an operator that reads no elements."""
    return Killer(Verdict.NOT_SELECTED, f"nothing is left: what {type_} reads has no elements")


def not_run(type_: str) -> Killer:
    """Return the cause of a zero at an operator whose block did not run."""
    if type_ == "while":
        return Killer(Verdict.PRUNED, "its loop was not entered")
    return Killer(Verdict.PRUNED, "its condition did not hold, so this branch did not run")


def cancels(type_: str) -> bool:
    """Return whether the gradient of such an operator is a difference that can leave nothing but rounding errors."""
    return type_ in _DIFFERENCES


def _range(a: Any) -> str:
    return f"in [{float(np.min(a)):.3g}, {float(np.max(a)):.3g}]" if a is not None and np.size(a) else ""


def _percent(mask: Any) -> float:
    return 100.0 * float(np.mean(mask)) if np.size(mask) else 0.0


def _relu(scene: ZeroScene) -> Killer:
    out, x = first_of(scene.outputs, "Out"), first_of(scene.inputs, "X")
    values = out if out is not None else x
    dead = 100.0 if values is None else _percent(values <= 0)
    top = float(scene.attrs.get("threshold", 6.0)) if scene.type == "relu6" else np.inf
    if values is not None and dead < 100.0 and _percent((values <= 0) | (values >= top)) == 100.0 and dead < 50.0:
        return Killer(Verdict.CLIPPED, f"every input is outside (0, {top:g})", 100.0)
    inside = f", inputs {_range(x)}" if x is not None else ""
    if dead == 100.0:
        far = _is_far_below(_reach(x, scene), np.size(values))
        return Killer(Verdict.DEAD_RELU, f"every output of {scene.type} is 0{inside}", dead, certain=far)
    return Killer(
        Verdict.DEAD_RELU,
        f"{dead:.3g} % of the outputs of {scene.type} are 0, where gradients arrive all{inside}",
        dead,
    )


def _clip(scene: ZeroScene) -> Killer:
    x = first_of(scene.inputs, "X")
    if x is None:
        x = first_of(scene.outputs, "Out")
    low, high = (scene.attrs.get(a) for a in ("min", "max")) if "min" in scene.attrs else (None, None)
    if low is None:
        low, high = scene.attrs.get("t_min"), scene.attrs.get("t_max")
    limits = f" [{low:g}, {high:g}]" if low is not None and high is not None else " its range"
    said = f"every input of {scene.type} is outside{limits}: {_range(x)}".rstrip(": ")
    return Killer(Verdict.CLIPPED, said, 100.0, certain=_is_far(x, low, high))


def _reach(x: Any, scene: ZeroScene) -> tuple[float | None, float | None]:
    """Return the least and the greatest input, as far as they are known."""
    if x is not None and np.size(x):
        return float(np.min(x)), float(np.max(x))
    return scene.reach or (None, None)


def _is_far_below(reach: tuple[float | None, float | None], count: int) -> bool:
    """Return whether several values are all below 0, and nowhere near it for how little they differ."""
    low, high = reach
    return low is not None and high is not None and count >= _SEVERAL and -high >= _FAR_OFF * (high - low)


_SEVERAL = 16
"""Elements from which on all of them at their limit are no accident."""

_FAR_OFF = 10.0
"""Times what values differ by, or are, from which on a limit is out of their reach."""


def _stays_out(count: int, low: float | None, high: float | None) -> bool:
    """Return whether flat outputs are no accident: they are many, or no input is anywhere near where they are not."""
    return count >= _SEVERAL or max(low or -np.inf, -(high or np.inf)) >= _OUT_OF_REACH


_OUT_OF_REACH = 100.0
"""A single input that far from 0 is where no step brings sigmoid or tanh back from."""


def _is_limit(limit: float | None) -> bool:
    """Return whether a limit is a number that somebody gave, and not the largest of its type."""
    return limit is not None and abs(limit) < 1e30


def _is_far(x: Any, low: float | None, high: float | None) -> bool:
    """Return whether no value is anywhere near the range between two limits."""
    if x is None or not np.size(x) or not np.isfinite(x).all():
        return False
    if np.size(x) == 1 and not (_is_limit(low) and _is_limit(high)):
        return False  # a bound that a term of the loss begins below, as free bits are
    least, most = float(np.min(x)), float(np.max(x))
    # How far the nearest value is from the range, on whichever side it is.
    off = max(-np.inf if low is None else low - most, -np.inf if high is None else least - high)
    return bool(off >= _FAR_OFF * max(most - least, abs(least), abs(most)))


def _explain_saturation(scene: ZeroScene) -> Killer:
    out, x = first_of(scene.outputs, "Out", "Softmax", "Y"), first_of(scene.inputs, "X", "Logits")
    if scene.type in SHARES:
        if _has_one_share(scene, out):
            return Killer(Verdict.SATURATED, f"{scene.type} over an axis of one element is constant")
        if out is not None and scene.type == "softmax" and float(np.max(out)) < 1.0:
            return Killer(Verdict.CANCELLED, "the outputs of softmax sum to 1 whatever its inputs are")
    low, high = _reach(x, scene)
    out = out if np.size(out) else None
    facts = [] if out is None else [f"outputs {_range(out)}"]
    facts += [] if low is None else [f"inputs in [{low:.3g}, {high:.3g}]"]
    flat = None if out is None else FLAT_OUTPUTS.get(scene.type)
    facts += [] if flat is None or out is None else [f"{_percent(flat(out)):.3g} % of the outputs saturated"]
    whole = flat is not None and out is not None and bool(flat(out).all()) and _stays_out(np.size(out), low, high)
    return Killer(Verdict.SATURATED, f"{scene.type} is flat there: {', '.join(facts)}".rstrip(": "), certain=whole)


def _has_one_share(scene: ZeroScene, out: Any) -> bool:
    axis = int(scene.attrs.get("axis", -1))
    return scene.type in SHARES and out is not None and bool(out.ndim) and out.shape[axis] == 1


FLAT_OUTPUTS: dict[str, Callable[[Any], Any]] = {
    "tanh": lambda out: np.abs(out) == 1,
    **dict.fromkeys(("sigmoid", "softmax"), lambda out: (out == 0) | (out == 1)),
}
"""Where an operator has reached its limits, by what it gives."""


def _explain_norm(scene: ZeroScene) -> Killer:
    scale = first_of(scene.inputs, "Scale")
    if scene.slot == "X" and scale is not None and scale.size and not np.any(scale):
        said = f"the scale of {scene.type} is 0 everywhere"
        return Killer(Verdict.TIMES_ZERO, said, culprit=list(scene.operands).index("Scale"))
    if normalises_one(scene):
        if scene.type == "batch_norm":
            said = "batch_norm over one element per channel returns its bias: there is nothing to normalise"
            return Killer(Verdict.NOT_SELECTED, said)
        return Killer(Verdict.CANCELLED, f"{scene.type} of one element, less its mean, is 0 whatever it is")
    return Killer(
        Verdict.CANCELLED,
        f"what {scene.type} gives has the same sum whatever its input is, and only that counts",
    )


def _product(scene: ZeroScene) -> Killer:
    """One factor is zero: another operand, or the gradient's own (the square of zero)."""
    mine = scene.slot
    for i, slot in enumerate(scene.operands):
        other = first_of(scene.inputs, slot)
        if slot != mine and other is not None and not np.any(other):
            return Killer(Verdict.TIMES_ZERO, f"the other operand ({slot}) is 0 everywhere", culprit=i)
    own = first_of(scene.inputs, mine)
    for i, slot in enumerate(scene.operands):
        other = first_of(scene.inputs, slot)
        if slot != mine and other is not None:
            zero = _percent(other == 0)
            if zero > 0:
                said = f"the other operand ({slot}) is 0 in {zero:.3g} % of its elements, where gradients arrive"
                return Killer(Verdict.TIMES_ZERO, said, culprit=i)
    if own is not None and not np.any(own):
        return Killer(Verdict.TIMES_ZERO, f"the input of {scene.type} is 0 everywhere")
    return Killer(Verdict.TIMES_ZERO, f"{scene.type} multiplies by 0 there")


def _explain_mask(scene: ZeroScene) -> Killer:
    """A product of two tensors, one of which may be what PyTorch's dropout keeps."""
    if title(scene.type) == "dropout":
        return Killer(Verdict.TIMES_ZERO, "dropout dropped everything")
    return _product(scene)


def _scale(scene: ZeroScene) -> Killer:
    return Killer(Verdict.TIMES_ZERO, "the factor of scale is 0", certain=not float(scene.attrs.get("scale", 1.0)))


def _dropout(scene: ZeroScene) -> Killer:
    p = float(scene.attrs.get("dropout_prob", 0.0))
    return Killer(Verdict.TIMES_ZERO, f"dropout with p = {p:g} dropped everything")


def _explain_selection(scene: ZeroScene) -> Killer:
    said = f"{scene.type} takes no element of it on the way to the loss"
    for i, slot in enumerate(scene.operands):
        mask = first_of(scene.inputs, slot) if slot in ("Condition", "Mask") else None
        if mask is not None and np.size(mask) and (np.all(mask) or not np.any(mask)):
            holds = "everywhere" if np.all(mask) else "nowhere"
            return Killer(Verdict.NOT_SELECTED, f"{said}: its condition holds {holds}", culprit=i)
    return Killer(Verdict.NOT_SELECTED, said)


def _explain_write(scene: ZeroScene) -> Killer:
    if scene.slot == "Before":
        return Killer(Verdict.NOT_SELECTED, "the loss reads no other place of the array than the one written here")
    said = "the loss does not read the place of the array that it is written to, before another tensor is written there"
    return Killer(Verdict.NOT_SELECTED, said)


def _steps(scene: ZeroScene) -> Killer:
    said = f"{scene.type} is constant between its steps: its gradient is 0 everywhere"
    return Killer(Verdict.NON_DIFFERENTIABLE, said, certain=True)


def _explain_division(scene: ZeroScene) -> Killer:
    """PyTorch's ``div``, which rounds where it is told to."""
    return _steps(scene) if scene.attrs.get("rounding_mode") else _product(scene)


def _explain_hook(scene: ZeroScene) -> Killer:
    return Killer(Verdict.TIMES_ZERO, "a backward hook of the module gives zeros in place of what arrives")


def _explain_draws(scene: ZeroScene) -> Killer:
    return Killer(
        Verdict.NON_DIFFERENTIABLE,
        f"{scene.type} draws its elements: its gradient in the probabilities is 0 everywhere",
    )


def _cast(scene: ZeroScene) -> Killer:
    source = scene.attrs.get("in_dtype")
    whole = source is not None and dtype_of(source).numpy.kind in "iu"
    return Killer(Verdict.INTEGER, "cast to integers: what arrives is rounded to 0", certain=whole)


def _other(scene: ZeroScene) -> Killer:
    return Killer(Verdict.TIMES_ZERO, f"the gradient of {scene.type} is 0 for these values")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


JOINS = _names("concat stack reshape2 transpose2 squeeze2 unsqueeze2")
"""Operators that pass all elements on: if one's gradient is zero, somebody else left it out."""

SELECTS = _names(
    "gather gather_nd slice strided_slice split index_select masked_select reduce_max reduce_min reduce_amax "
    "reduce_amin max_pool2d_with_index pool2d top_k_v2 take_along_axis tril_triu unstack unbind"
)
"""Operators that leave elements out."""

FIXED = JOINS | _names("slice strided_slice split unstack unbind")
"""Operators that choose by places that the text of the program gives, and not by values."""

_BRANCHES = {"select_input": Killer(Verdict.PRUNED, "the result of another branch was taken")}


_LIMITS = _names("clip brelu")
"""Operators that give a limit for what is beyond it."""

_STEPS = _names("floor ceil round sign trunc elementwise_heaviside")
"""Operators that are constant between their steps."""

CONSTANT_NEARBY = _LIMITS | _STEPS | _names("cast scale relu tanh sigmoid")
"""Operators that can be flat at all values near those that they read, whatever arrives."""

SHARES = _names("softmax log_softmax softmax_with_cross_entropy")
"""Operators whose results share what there is along an axis."""

_SATURATING = _names(
    "sigmoid tanh softmax log_softmax softmax_with_cross_entropy erf exp expm1 logsigmoid silu swish gelu elu selu "
    "celu mish softplus softsign tan sigmoid_cross_entropy_with_logits bce_loss fused_softmax_mask_upper_triangle"
)
PRODUCTS = _names(
    "elementwise_mul elementwise_div elementwise_pow matmul_v2 mul bmm dot einsum conv2d depthwise_conv2d conv3d "
    "conv2d_transpose conv3d_transpose pow square huber_loss addmm abs p_norm frobenius_norm squared_l2_norm"
)
BOUNDED = {"sigmoid": (0.0, 1.0), "tanh": (-1.0, 1.0), "softmax": (0.0, 1.0), "hard_sigmoid": (0.0, 1.0)}
"""Operators that are flat far out, and the limits of what they give."""
FACTORS = _names("scale elementwise_mul matmul_v2 mul bmm dot")
_CHOICES = _names(
    "where lookup_table_v2 masked_fill elementwise_max elementwise_min set_value scatter index_put put_along_axis "
    "nll_loss pad pad3d"
)
_DIFFERENCES = NORMS | SHARES

_OF_TORCH: dict[str, Callable[[ZeroScene], Killer]] = {
    "div": _explain_division,
    "aten.bernoulli": _explain_draws,
    "BackwardHookFunctionBackward": _explain_hook,
}
"""Operators and nodes that PyTorch alone has."""

_KINDS: dict[str, Callable[[ZeroScene], Killer]] = {
    **dict.fromkeys(_names("relu relu6 leaky_relu prelu thresholded_relu"), _relu),
    **dict.fromkeys(_names("clip brelu hard_sigmoid hard_swish hard_shrink softshrink clip_by_norm"), _clip),
    **dict.fromkeys(_SATURATING, _explain_saturation),
    **dict.fromkeys(NORMS, _explain_norm),
    **dict.fromkeys(PRODUCTS, _product),
    "elementwise_mul": _explain_mask,
    **dict.fromkeys(SELECTS | JOINS | _CHOICES, _explain_selection),
    **dict.fromkeys(_STEPS | {"argsort"}, _steps),
    "scale": _scale,
    "dropout": _dropout,
    "cast": _cast,
    "write_to_array": _explain_write,
}
