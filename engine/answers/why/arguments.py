"""The arguments of operators that get no gradient: sentences derived from the definitions of operators.

A definition says which inputs its rule gives gradients for, and through which results gradients come back. Slots have
the names that programs of Paddle have; :data:`NAMES` has the names of the public functions where these differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ...core.records import dataclass
from ...ops.opdef import OpDef


@dataclass(frozen=True, slots=True)
class PublicFunction:
    """The public function of an operator.

    Attributes:
        function: its name.
        slots: by slot, what its argument or result is called.
        instead: by slot of an argument that gets no gradient, how to write the function so that it gets one.
    """

    function: str
    slots: Mapping[str, str]
    instead: Mapping[str, str] = field(default_factory=dict)


_OUT = "write it out: "

NAMES: Mapping[str, PublicFunction] = {
    "kldiv_loss": PublicFunction(
        "kl_div",
        {"X": "input", "Target": "label"},
        {"Target": f"{_OUT}(label * (label.log() - input)).mean()"},
    ),
    "bce_loss": PublicFunction(
        "binary_cross_entropy",
        {"X": "input", "Label": "label"},
        {"Label": f"{_OUT}-(label * input.log() + (1 - label) * (1 - input).log()).mean()"},
    ),
    "sigmoid_cross_entropy_with_logits": PublicFunction(
        "binary_cross_entropy_with_logits",
        {"X": "logit", "Label": "label", "pos_weight": "pos_weight"},
        {"Label": f"{_OUT}(F.softplus(logit) - label * logit).mean()"},
    ),
    "softmax_with_cross_entropy": PublicFunction(
        "cross_entropy",
        {"Logits": "input", "Label": "label", "Softmax": "softmax", "Loss": "loss"},
        {"Label": f"{_OUT}-(label * F.log_softmax(input)).sum(-1).mean()"},
    ),
    "cross_entropy": PublicFunction("cross_entropy", {"X": "input", "Label": "label"}),
    "cross_entropy2": PublicFunction("cross_entropy", {"X": "input", "Label": "label"}),
    "nll_loss": PublicFunction("nll_loss", {"X": "input", "Label": "label", "Weight": "weight"}),
    "log_loss": PublicFunction(
        "log_loss",
        {"Predicted": "input", "Labels": "label"},
        {"Labels": f"{_OUT}-(label * (input + 1e-4).log() + (1 - label) * (1 - input + 1e-4).log())"},
    ),
    "hinge_loss": PublicFunction("hinge_loss", {"Logits": "input", "Labels": "label"}),
    "label_smooth": PublicFunction("label_smooth", {"X": "label", "PriorDist": "prior_dist"}),
    "warpctc": PublicFunction("ctc_loss", {"Logits": "log_probs", "Label": "labels"}),
    "warprnnt": PublicFunction("rnnt_loss", {"input": "input", "label": "label"}),
    "hierarchical_sigmoid": PublicFunction(
        "hsigmoid_loss", {"X": "input", "W": "weight", "Bias": "bias", "Label": "label"}
    ),
    "yolov3_loss": PublicFunction(
        "yolo_loss", {"X": "x", "GTBox": "gt_box", "GTLabel": "gt_label", "GTScore": "gt_score"}
    ),
    "lerp": PublicFunction("lerp", {"X": "x", "Y": "y", "Weight": "weight"}, {"Weight": f"{_OUT}x + weight * (y - x)"}),
    "clip": PublicFunction(
        "clip",
        {"X": "x", "Min": "min", "Max": "max"},
        {"Min": f"{_OUT}paddle.maximum(x, min)", "Max": f"{_OUT}paddle.minimum(x, max)"},
    ),
    "pow": PublicFunction("pow", {"X": "x", "FactorTensor": "y"}),
    "scale": PublicFunction(
        "scale",
        {"X": "x", "ScaleTensor": "scale", "BiasTensor": "bias"},
        {"ScaleTensor": f"{_OUT}x * scale", "BiasTensor": f"{_OUT}x + bias"},
    ),
    "batch_norm": PublicFunction(
        "batch_norm",
        {"X": "x", "Scale": "weight", "Bias": "bias", "Mean": "running_mean", "Variance": "running_var"},
    ),
    "spectral_norm": PublicFunction("spectral_norm", {"Weight": "weight", "U": "u", "V": "v"}),
    "stft": PublicFunction("stft", {"X": "x", "Window": "window"}),
    "gammaincc": PublicFunction("gammaincc", {"x": "x", "y": "y"}),
    "expand_as_v2": PublicFunction("expand_as", {"X": "x", "Y": "y"}),
    "reduce_as": PublicFunction("reduce_as", {"x": "x", "target": "target"}),
    "crop": PublicFunction("crop", {"X": "x", "Y": "shape"}),
    "fill_diagonal_tensor": PublicFunction("fill_diagonal_tensor", {"X": "x", "Y": "y"}),
    "psroi_pool": PublicFunction("psroi_pool", {"X": "x", "ROIs": "boxes", "RoisNum": "boxes_num"}),
    "roi_align": PublicFunction("roi_align", {"X": "x", "ROIs": "boxes", "RoisNum": "boxes_num"}),
    "roi_pool": PublicFunction("roi_pool", {"X": "x", "ROIs": "boxes", "RoisNum": "boxes_num"}),
    "nce": PublicFunction(
        "nce", {"Input": "input", "Weight": "weight", "Bias": "bias", "SampleWeight": "sample_weight"}
    ),
    "lookup_table_v2": PublicFunction("embedding", {"W": "weight", "Ids": "x"}),
    "lookup_table": PublicFunction("embedding", {"W": "weight", "Ids": "x"}),
    "gather": PublicFunction("gather", {"X": "x", "Index": "index"}),
    "top_k_v2": PublicFunction("topk", {"X": "x", "Out": "values", "Indices": "indices"}),
    "top_k": PublicFunction("topk", {"X": "x", "Out": "values", "Indices": "indices"}),
    "argsort": PublicFunction("sort", {"X": "x", "Out": "values", "Indices": "indices"}),
    "kthvalue": PublicFunction("kthvalue", {"X": "x", "Out": "values", "Indices": "indices"}),
    "mode": PublicFunction("mode", {"X": "x", "Out": "values", "Indices": "indices"}),
    "max_pool2d_with_index": PublicFunction("max_pool2d", {"X": "x", "Out": "out", "Mask": "mask"}),
    "max_pool3d_with_index": PublicFunction("max_pool3d", {"X": "x", "Out": "out", "Mask": "mask"}),
}
"""By type of operator; of the others the type and the slots themselves are names."""


@dataclass(frozen=True, slots=True)
class MissingGradient:
    """An input that an operator gives no gradient to though it gives one to others, or a result of that kind.

    Attributes:
        sentence: what it does, in one sentence.
        advice: how to write it otherwise; empty where that is not known.
    """

    sentence: str
    advice: str = ""


def refuse_argument(op: OpDef, places: Sequence[int]) -> MissingGradient | None:
    """Return what *op* does with its inputs at *places*; None where it has no rule, or gives them gradients.

    Args:
        places: indices of input slots.
    """
    if op.rule is None or not op.rule.wrt:
        return None
    without = [i for i in dict.fromkeys(places) if i not in op.rule.wrt]
    if not without:
        return None
    names = NAMES.get(op.type, PublicFunction(op.name, {}))
    given = [_name(names, op.inputs[i].name) for i in op.rule.wrt]
    lost = [_name(names, op.inputs[i].name) for i in without]
    plural = "s" if len(lost) > 1 else ""
    text = (
        f"{names.function} gives no gradient to its argument{plural} {_join_names(lost)}, only to {_join_names(given)}"
    )
    return MissingGradient(text, next((a for i in without if (a := names.instead.get(op.inputs[i].name))), ""))


def refuse_result(op: OpDef, place: int) -> MissingGradient | None:
    """Return what *op* does with its result at *place*; None where gradients come back through all or none of them."""
    if op.rule is None:
        return None
    taken = [r.place for r in op.rule.reads if r.kind == "dout"]
    if not taken or place in taken or place >= len(op.outputs):
        return None
    names = NAMES.get(op.type, PublicFunction(op.name, {}))
    given = _join_names([_name(names, op.outputs[i].name) for i in taken])
    text = f"{names.function} passes no gradient through its result {_name(names, op.outputs[place].name)}, "
    return MissingGradient(f"{text}only through {given}", f"compute with {given} of {names.function}")


def places_of(slots: Sequence[Any], count: int) -> list[int]:
    """Return the slot of each of *count* operands laid flat; a list slot holds what the others leave."""
    spare = count - sum(not s.many for s in slots)
    places: list[int] = []
    for i, s in enumerate(slots):
        places += [i] * (max(spare, 0) if s.many else 1)
        spare = 0 if s.many else spare
    return places[:count]


def _name(names: PublicFunction, slot: str) -> str:
    return names.slots.get(slot, slot.lower())


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
