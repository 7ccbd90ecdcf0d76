"""Differences that stay, with the reason for each.

A row says which differences it takes (patterns of the kind, of the function, of what Paddle or gradtool said, of the
program) and has one program that shows it. Paddle's answers to those programs are recorded (``decided.json``),
so that a row whose difference is gone fails a test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .comparing import Difference


@dataclass(frozen=True)
class Decision:
    """One reason. Every pattern must match; an empty one matches anything."""

    reason: str
    evidence: str
    example: str
    kind: str = ""
    function: str = ""
    theirs: str = ""
    ours: str = ""
    program: str = ""

    def takes(self, text: str, gap: Difference) -> bool:
        """Whether a difference is of this kind."""
        pairs = (
            (self.kind, gap.kind),
            (self.function, gap.function),
            (self.theirs, gap.theirs),
            (self.ours, gap.ours),
            (self.program, text),
        )
        return all(not pattern or re.search(pattern, part, re.DOTALL) for pattern, part in pairs)


def eager(*lines: str) -> str:
    return "\n".join(["# eager", *lines])


def static(*lines: str) -> str:
    return "\n".join(["# static", *lines])


DECISIONS = (
    Decision(
        reason="gradients of any order",
        evidence="Paddle has no operator for this second derivative; gradtool has every one",
        kind="accepted|refused elsewhere",
        theirs="doesn't have any grad op|has no double grad|_grad(_grad)? operator\\.",
        example=eager(
            'x0 = tensor("float32", [2], [1.5, -0.5], grad=True)',
            "v0 = paddle.max(x0)",
            'grad(["v0"], ["x0"], order=2)',
        ),
    ),
    Decision(
        reason="16 bits on the CPU",
        evidence="Paddle has the kernel for GPUs only; gradtool computes in float32 and rounds, as its reference",
        kind="accepted|refused elsewhere",
        theirs=r"kernel with key \(CPU, [^,]*, (float16|bfloat16)\)|data_type\[(::phi::dtype::)?b?float16",
        example=eager('x0 = tensor("float16", [2], [1.5, -0.5], grad=True)', "v0 = paddle.tanh(x0)", 'backward("v0")'),
    ),
    Decision(
        reason="Paddle's process dies",
        evidence="a segmentation fault, a division by zero of integers in C++, or no end",
        kind="accepted|refused elsewhere",
        theirs="^(crash|hang): ",
        example=eager(
            'x0 = tensor("float32", [1, 0], [], grad=True)',
            'x1 = tensor("int64", [], [0])',
            "v0 = paddle.gather(x0, x1, axis=1)",
            'backward("v0")',
        ),
    ),
    Decision(
        reason="static programs take what dynamic mode takes",
        evidence="values, types and refusals are those of dynamic mode in Paddle 3.3.1, in both modes; static mode of "
        "3.1.1 has not yet the kernel, the promotion or the shape, and declares the logarithm of int32 as int32",
        kind="accepted",
        theirs=r"^NotImplementedError: In user code|^TypeError: The data type of 'x' in \w+ must be|"
        r"Type promotion only support|^AssertionError: All elements in shape of expand",
        program="^# static",
        example=static('x0 = tensor("int64", [2], [1, 2])', "v0 = paddle.asin(x0)", 'gradients(["v0"], ["x0"])'),
    ),
    Decision(
        reason="in place without a gradient",
        evidence="Paddle leaves the tensor at its old place on the tape: of floor_divide_(2x, y) it says dx = 2, as if "
        "the operator were the identity; the derivative is 0 wherever there is one",
        kind="stop_gradient|grads|ending",
        program=r"(floor_divide|(greater|less)(_equal|_than)?|equal|logical_\w+|bitwise_\w+|invert)_\(",
        example=eager(
            'x0 = tensor("float32", [2], [2.5, -1.5], grad=True)',
            "c1 = x0 * 2",
            "v0 = c1.floor_divide_(c1 * 3)",
            'backward("v0")',
        ),
    ),
)


def reason_of(text: str, gap: Difference) -> str:
    """Why a difference stays; empty where nothing is decided."""
    return next((d.reason for d in DECISIONS if d.takes(text, gap)), "")
