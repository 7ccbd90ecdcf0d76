"""The truth about each script of the reports, and what ``check`` finds: ``python -m tests.reports.truths``.

Truths were seen in plain PyTorch 2.13.0 or in Paddle 3.3.1; the last column is the answer of today.
``torch_limit_cut`` never ends and has no recorded run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.request.request import Request

from . import HERE, model

PAGE = HERE / "README.md"

TRUTHS = {
    "paddle_grad_tensors": "`.grad` is 0.3 and 0.03: gradients were given to backward",
    "paddle_label_argument": "kl_div gives no gradient to its label, one to its input",
    "paddle_ok_finetune": "right: ordinary fine-tuning with batch norm",
    "paddle_pylayer_counts": "the script raises where Paddle does: a gradient for an input with stop_gradient",
    "paddle_pylayer_data": "no tensor input of the PyLayer needs a gradient, so it passes none",
    "paddle_recompute_data": "no tensor input of recompute needs a gradient, so it passes none",
    "paddle_startup_before_minimize": "the startup program ran before minimize added to it",
    "paddle_static_trained": "right",
    "paddle_teacher_statistics": "the frozen teacher's batch norm moves with each batch",
    "paddle_two_losses": "the embedding is in no optimizer and never moves",
    "torch_accumulates": "right: `.grad` is 1, 11, 111",
    "torch_all_frozen": "nothing trains",
    "torch_converged_lbfgs": "right: LBFGS has converged, and its steps move nothing",
    "torch_dynamo_optimize": "right",
    "torch_frozen_then_thawed": "a line freezes the weight while it trains, the last line undoes that",
    "torch_function_slots": "right: the gradient is 1, 2, 3",
    "torch_graph_grows": "`total` keeps the graphs of all steps",
    "torch_hundred_steps": "right",
    "torch_in_place": "right: the result does not depend on it",
    "torch_item_is_no_cut": "right: the number is printed only",
    "torch_layerwise_detached": "right: layer by layer training",
    "torch_leaf": "right: the gradient of w is 3",
    "torch_mask_after_last_pass": "right: -inf in the mask of an evaluation is meant",
    "torch_nan_without_backward": "the loss is NaN, and no backward call is made",
    "torch_norm_scale_zero": "a scale of zeros stops everything below",
    "torch_rsub_refused": "right; the form of its loss becomes infinite later",
    "torch_teacher_statistics": "the frozen teacher's batch norm moves with each batch",
    "torch_topk": "right: the chosen elements get gradients",
    "torch_unbatched": "right",
    "torch_uninitialised_memory": "the loss is the mean of nothing; dropout's buffer, filled with NaN, is no birth",
    "torch_updates_by_hand": "right",
}


_NOTES = ("GT901",)


def answer(name: str) -> str:
    """Return what ``check`` finds in a script: codes with names, subjects and lines."""
    path = model(name)
    found = [f for f in findings(Request(str(path)), path.name, Selection()) if f.code not in _NOTES]
    lines = [f"{f.code} {f.subject}" + (f" at line {f.spot.line}" if f.spot else "") for f in found]
    return "; ".join(dict.fromkeys(lines)) or "nothing"


def rows(page: Path = PAGE) -> dict[str, tuple[str, str]]:
    """Return the table of a page: by script, its truth and what is found."""
    lines = [line.strip("|\n ").split(" | ") for line in page.read_text("utf-8").splitlines() if line.startswith("| `")]
    return {name.strip("`"): (truth, said) for name, truth, said in lines}


def write() -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Scripts of public reports\n"
    yield "The smallest script of a class each. `python -m tests.reports.truths` writes this table.\n"
    yield "| script | truth | `gradtool check` finds |\n|--|--|--|"
    for name, truth in TRUTHS.items():
        yield f"| `{name}` | {truth} | {answer(name)} |"


if __name__ == "__main__":
    PAGE.write_text("\n".join(write()) + "\n", "utf-8")
