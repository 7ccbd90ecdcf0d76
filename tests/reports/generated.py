"""Scripts of backward passes, drawn at random, in Paddle's words and in PyTorch's, and their gradients by plain NumPy.

A script computes results of three leaves, runs backward from some of them once or several times (with gradients that
are given or not, from one root or several, on one line or on several), and prints ``.grad``. The gradients are known
from forward differentiation: next to each result stands its Jacobian by each leaf.

``python -m tests.reports.generated`` records the PyTorch scripts where torch is installed, after comparing what torch
computes with these gradients.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

RUNS = Path(__file__).parent / "generated"
LEAVES = ("a", "b", "c")
SIZE = 3
COUNT = 12
"""Scripts that are recorded."""

_UNARY = {
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "exp": (np.exp, np.exp),
    "sin": (np.sin, np.cos),
}


@dataclass
class Result:
    """A value with its Jacobian by each leaf."""

    value: np.ndarray
    slopes: dict[str, np.ndarray]


@dataclass
class Call:
    """A backward call: its roots, and the gradient given at each, None for ones."""

    roots: list[str]
    given: list[np.ndarray | None]
    line: int = 0


@dataclass
class Script:
    """A script in both frameworks.

    Attributes:
        lines: what computes the results, in words that both frameworks understand.
        calls: in their order.
        gradients: by call, what it gives to each leaf.
    """

    lines: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    gradients: list[dict[str, np.ndarray]] = field(default_factory=list)

    def total(self) -> dict[str, np.ndarray]:
        """Return the sum of what all calls give."""
        names = {name for gave in self.gradients for name in gave}
        return {n: sum(gave[n] for gave in self.gradients if n in gave) for n in sorted(names)}

    def text(self, framework: str) -> str:
        """Return the script in the words of ``paddle`` or ``torch``."""
        make = _PADDLE if framework == "paddle" else _TORCH
        lines = [f"import {framework}", *(line.replace("FRAMEWORK", framework) for line in self.lines)]
        lines = [make(line) for line in lines]
        for i, call in enumerate(self.calls):
            retain = ", retain_graph=True" if i < len(self.calls) - 1 else ""
            given = [None if g is None else f"{make(f'constant({g.tolist()})')}" for g in call.given]
            if len(call.roots) == 1 and (framework == "paddle" or given[0]):
                lines.append(f"{call.roots[0]}.backward({given[0]}{retain})")
            else:
                ones = [g or make(f"constant({[1.0] * SIZE})") for g in given]
                lines.append(f"{framework}.autograd.backward([{', '.join(call.roots)}], [{', '.join(ones)}]{retain})")
            call.line = len(lines)
        return "\n".join(lines) + "\n"


def _PADDLE(line: str) -> str:
    line = line.replace("leaf(", "paddle.to_tensor(stop_gradient=False, data=")
    return line.replace("constant(", "paddle.to_tensor(")


def _TORCH(line: str) -> str:
    line = line.replace("leaf(", "torch.tensor(requires_grad=True, data=")
    return line.replace("constant(", "torch.tensor(")


def drawn(seed: int) -> Script:
    """Return the script of that number."""
    rng = np.random.default_rng(seed)
    script, results = Script(), {}
    zeros = {n: np.zeros((SIZE, SIZE)) for n in LEAVES}
    for name in LEAVES:
        value = rng.uniform(-1, 1, SIZE).round(2)
        script.lines.append(f"{name} = leaf({value.tolist()})")
        results[name] = Result(value, {**zeros, name: np.eye(SIZE)})
    for k in range(int(rng.integers(3, 7))):
        name = f"r{k}"
        one, other = rng.choice([*results], 2)
        x, y = results[one], results[other]
        kind = rng.choice([*_UNARY, "add", "mul"])
        if kind in _UNARY:
            function, slope = _UNARY[kind]
            script.lines.append(f"{name} = FRAMEWORK.{kind}({one})")
            slopes = {n: slope(x.value)[:, None] * x.slopes[n] for n in LEAVES}
            results[name] = Result(function(x.value), slopes)
        elif kind == "add":
            script.lines.append(f"{name} = {one} + {other} * 0.5")
            slopes = {n: x.slopes[n] + 0.5 * y.slopes[n] for n in LEAVES}
            results[name] = Result(x.value + y.value * 0.5, slopes)
        else:
            script.lines.append(f"{name} = {one} * {other}")
            slopes = {n: y.value[:, None] * x.slopes[n] + x.value[:, None] * y.slopes[n] for n in LEAVES}
            results[name] = Result(x.value * y.value, slopes)
    made = [n for n in results if n not in LEAVES]
    for _ in range(int(rng.integers(1, 4))):
        roots = list(dict.fromkeys(rng.choice(made, int(rng.integers(1, 3)))))
        given = [None if rng.random() < 0.3 else rng.uniform(-1, 1, SIZE).round(2) for _ in roots]
        script.calls.append(Call(roots, given))
        pairs = [(results[r], np.ones(SIZE) if g is None else g) for r, g in zip(roots, given, strict=True)]
        gave = {n: sum(g @ r.slopes[n] for r, g in pairs) for n in LEAVES}
        script.gradients.append({n: g for n, g in gave.items() if any(r.slopes[n].any() for r, _ in pairs)})
    return script


def main() -> int:
    """Record the scripts in PyTorch; the exit code is 1 where torch computes something else."""
    from gradtool.engine.loading.loader import run_model
    from gradtool.engine.recorders.recorded import archive
    from gradtool.engine.request.request import Request

    RUNS.mkdir(exist_ok=True)
    for seed in range(COUNT):
        script, file = drawn(seed), RUNS / f"script_{seed}.py"
        file.write_text(script.text("torch"), "utf-8")
        names: dict[str, object] = {}
        exec(compile(script.text("torch"), str(file), "exec"), names)
        for name, expected in script.total().items():
            if not np.allclose(names[name].grad.numpy(), expected, rtol=1e-4, atol=1e-5):  # type: ignore[attr-defined]
                print(f"{file.name}: {name}.grad is {names[name].grad}, not {expected}")  # type: ignore[attr-defined]
                return 1
        request = Request.create(str(file), journal=True, unfinished=True, full_stacks=True)
        with archive.record_into(str(RUNS / f"run_{seed}.torchrun"), str(RUNS)), run_model(request):
            pass
        file.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
