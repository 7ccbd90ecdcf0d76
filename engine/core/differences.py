"""Intended differences from Paddle: one table, and notes of the entries that a run has met.

A public function that is about to give something else than Paddle would calls :func:`meet`. The first time, a warning
says so on stderr; commands put what was met into their JSON. ``docs/differences.md`` lists the table, and a test holds
the two together (``python -m tests.docs.differences`` writes the list anew).
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Final, NamedTuple

from .state import in_static_mode


class DifferenceWarning(UserWarning):
    """The program has met something that gradtool does otherwise than Paddle, on purpose."""


class Difference(NamedTuple):
    """One entry.

    Attributes:
        text: the difference and its reason, as Markdown.
        seen: how a program learns of it: ``note`` where the run says so (:func:`meet`), ``error`` and ``warning`` where
            that is the difference itself, ``file`` where it is a file of another kind, else why the run says nothing.
        said: what the run says; the text where nothing stands here.
    """

    text: str
    seen: str
    said: str = ""


BOTH = "to see it, a run would have to compute what Paddle computes, too"
ALWAYS = "it is so in every program, and changes no number of it"

DIFFERENCES: Final[dict[str, Difference]] = {
    # Values
    "ignored labels smoothed": Difference(
        "`cross_entropy(ignore_index=…, label_smoothing=…)` leaves ignored labels out of the loss and of its "
        "mean, as without smoothing and as PyTorch does; Paddle forgets `ignore_index` where labels are smoothed.",
        "note",
        "cross_entropy leaves ignored labels out although labels are smoothed; Paddle counts them",
    ),
    "variance of whole numbers": Difference(
        "The variance and the standard deviation of whole numbers are float32 numbers; Paddle cuts off the mean, "
        "and the variance.",
        "note",
        "the variance of whole numbers is computed in float32; Paddle cuts off their mean, and the result",
    ),
    "NaN in distances": Difference(
        "NaN among the operands of `dist`, `pdist` and `logcumsumexp` stays NaN; Paddle's kernels lose it in a "
        "comparison. `unique` takes all NaNs for one value and counts them.",
        BOTH,
    ),
    "equal elements": Difference(
        "Which of several equal elements `topk`, `kthvalue`, `median` with `mode='min'` and `sort` name follows a"
        " sort that keeps their order; Paddle's does not.",
        BOTH,
    ),
    "small numbers": Difference(
        "Floats are equal if they are the same number; Paddle takes those for equal that differ by less than "
        "1e-8.",
        BOTH,
    ),
    "types of programs": Difference(
        "Static programs give the types that dynamic mode of 3.3.1 gives: floats of whole numbers (`exp`, `clip` "
        "with a bound between them), int64 for running sums and ranks, the wider of two floats. 3.1.1 declares the "
        "type of the operand.",
        ALWAYS,
    ),
    "values of programs": Difference(
        "Static programs compute what dynamic mode of both versions computes, where 3.1.1's static mode does not: "
        "`instance_norm` with a scale alone or a bias alone; the range of `histogram_bin_edges`; `diag` and `diagflat` "
        "with a gradient; sizes that are known when the program runs (`diff`, `take`, `cosine_similarity`).",
        "note",
        "a static program computes this as dynamic mode does; static mode of Paddle 3.1.1 gives something else",
    ),
    "numbers that are NaN": Difference(
        "`softmax` of a single number that is NaN and `sinc` of infinity are NaN. A Cholesky factor of what is not "
        "finite is NaN as a whole. The gradient of `cholesky_solve` is that of the triangle that it reads; "
        "Paddle says 1, 1, the first columns, and a gradient that differences do not support.",
        BOTH,
    ),
    # Gradients
    "gradients of solutions": Difference(
        "The solution of `linalg.lstsq` and `linalg.eigvals` have gradients; in Paddle what lies before them gets"
        " none, in silence. So do the tails of `adaptive_log_softmax_with_loss`.",
        "note",
        "gradients flow through lstsq and eigvals; in Paddle they end there",
    ),
    "ties": Difference(
        "`logaddexp` is one operator, with its derivatives of every order also where both operands are equal, and"
        " `median` one in both modes; Paddle composes them of `maximum`, `abs` and `topk`. `grid_sample` with "
        "`border` or `reflection` has no slope at the border itself, where Paddle reads a pixel beyond it.",
        BOTH,
    ),
    "layer_norm without scale": Difference(
        "The gradient of `layer_norm` by its input contains the scale also where that is frozen, and the third "
        "derivative of `silu` is one; Paddle's are not ([where Paddle's gradient is not the "
        "derivative](paddle.md)).",
        BOTH,
    ),
    "orders": Difference(
        "Every differentiable operator has gradients of every order, branches and loops included.",
        "Paddle refuses where gradtool computes",
    ),
    "written twice": Difference(
        "These get the mathematically right gradient: variables that are written twice, arrays of tensors "
        "(`array_write`) whose index is counted on, and targets that depend on each other.",
        BOTH,
    ),
    "loops": Difference(
        "What was given to `while_loop` still is the value before the loop; a loop variable that starts "
        "as a constant passes gradients if the body computes it from something that needs them; a loop without "
        "iterations gives gradients of zeros, not None.",
        BOTH,
    ),
    "recompute": Difference(
        "`recompute` with `use_reentrant=True` is recorded like any other call if an input needs a gradient. "
        "So `paddle.grad` of a parameter in it is the gradient; Paddle gives None.",
        BOTH,
    ),
    "not in place": Difference(
        "`PyLayer` checks the shape of what `backward` returns, and an input that `mark_not_inplace` names gets "
        "its gradient when it is returned; in Paddle 3.1.1 and 3.3.1 none comes.",
        "note",
        "an input that mark_not_inplace names gets its gradient when it is returned; in Paddle none comes",
    ),
    "boxes": Difference(
        "`yolo_loss` of trained boxes alone has `stop_gradient`, since no gradient reaches them.",
        BOTH,
    ),
    # Programs and backward
    "losses": Difference(
        "A loss that is no Tensor raises an error that is both an `AssertionError`, as documented, and a "
        "`TypeError`, as Paddle really raises. A loss of more than one element is an error.",
        "error",
    ),
    "unknown names": Difference(
        "An unknown name in `parameter_list` or `no_grad_set` gives a warning with near names; on the command "
        "line it is an error.",
        "warning",
    ),
    "a None in a list": Difference(
        "`gradients` returns `[None]` for a single input that does not matter, not `[]`.",
        ALWAYS,
    ),
    "composed functions": Difference(
        "Some fifty functions append other operators than in 3.1.1 (statistics, linear algebra, tests for infinity): "
        "several where Paddle has one, or one where it has several. Gradient operators read only what their formula "
        "needs. Values and gradients are the same.",
        ALWAYS,
    ),
    "backward again": Difference(
        "Called again on the same program, `append_backward` reuses the operators that already compute the same "
        "gradients. The six calls of the documentation's example, one after another, return exactly the "
        "documented names.",
        ALWAYS,
    ),
    "failed calls": Difference("A call that fails leaves the program as it was.", ALWAYS),
    "recomputation": Difference(
        "Recomputation leaves no scratch blocks behind, moves batch statistics once a step, and calls callbacks.",
        BOTH,
    ),
    # Training
    "plateaus": Difference(
        "`ReduceOnPlateau` as a callback (`callbacks.ReduceLROnPlateau`) changes the rate that the next step "
        "takes; in Paddle 3.3.1 it says so and training goes on with the old one.",
        "note",
        "ReduceLROnPlateau changes the rate that the next step takes; in Paddle training goes on with the old one",
    ),
    "mixed precision": Difference(
        "Mixed precision (`paddle.amp`) has the effect that Paddle gives it on accelerators; on a CPU Paddle "
        "leaves everything in float32 and says so.",
        "note",
        "auto_cast computes in narrow numbers, as Paddle does on accelerators; on a CPU Paddle casts nothing",
    ),
    "workers": Difference(
        "Workers of a `DataLoader` are processes when a script runs by itself; where gradtool runs it they take "
        "turns in its process, with the same batches and random numbers. Nothing runs twice, and errors "
        "come as they are.",
        ALWAYS,
    ),
    "functions as programs": Difference(
        "Functions marked by `paddle.jit.to_static` run as Python, with `full_graph=True` too; programs are made "
        "of them when they are asked for ([functions as programs](jit.md)). `jit.save` writes gradtool's own "
        "files.",
        ALWAYS,
    ),
    # Files
    "files": Difference(
        "`paddle.save` and the functions that save programs write safetensors and JSON, no pickles and protocol "
        "buffers, unless `format=\"paddle\"` asks for Paddle's; `fluid.io.save_params` and its like write one file "
        "instead of one per variable. What is fed and fetched is kept next to an inference program, not as "
        "operators in it.",
        "file",
    ),
    "files of Paddle": Difference(
        "What Paddle has saved is read as plain data, programs and values of every version ([programs and "
        "parameters of Paddle itself](paddle_files.md)): a pickle that names anything but arrays and containers "
        "is refused, and nothing in it runs. Checkpoints of bfloat16 stay that with `return_numpy`.",
        "error",
    ),
}  # fmt: skip
"""The table, by names."""

_met: dict[str, None] = {}


def meet(name: str) -> None:
    """Note that the program meets an entry of the table, and warn the first time, of the user's line."""
    if name in _met:
        return
    _met[name] = None
    text = f"unlike Paddle: {message(name)}"
    frame = _user_frame()
    try:
        warnings.warn_explicit(text, DifferenceWarning, frame.f_code.co_filename, frame.f_lineno)
    except DifferenceWarning:  # who makes errors of warnings must not get one where Paddle has none
        print(text, file=sys.stderr)


def meet_in_programs(name: str) -> None:
    """:func:`meet` an entry that is one in static mode alone."""
    if in_static_mode():
        meet(name)


def _user_frame() -> FrameType:
    """The frame that called this package, the outermost one where nobody else did."""
    package = __name__.partition(".")[0]
    frame = sys._getframe(1)
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in (package, "contextlib"):
            break
        frame = frame.f_back
    return frame


def message(name: str) -> str:
    """Return the message of an entry that a run has met."""
    entry = DIFFERENCES[name]
    return entry.said or entry.text


def list_differences() -> list[dict[str, str]]:
    """Return what was met since :func:`forget`, in order, as JSON holds it."""
    return [{"name": name, "text": message(name)} for name in _met]


def forget() -> None:
    """Begin anew: a command says what its own run has met."""
    _met.clear()


def markdown_list() -> str:
    """The table as the list of ``docs/differences.md``."""
    return "".join(_item(entry) for entry in DIFFERENCES.values())


def _item(entry: Difference) -> str:
    """An entry of the list, in lines of the width of the page."""
    from textwrap import fill

    text = entry.text + (" *(A run that meets it says so.)*" if entry.seen == "note" else "")
    return fill(f"- {text}", 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
