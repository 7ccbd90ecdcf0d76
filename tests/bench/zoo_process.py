"""Trains the models of ``python -m tests.bench zoo`` in one engine.

Runs in any interpreter that has the engine: ``python -m tests.bench.zoo_process gradtool|paddle``. It reads a line of
JSON at a time: ``{"model": …, "steps": …}`` makes the model, and answers with the losses of so many steps;
``{"runs": …}`` runs as many steps, and answers with the seconds of the shortest.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from tests.bench.step_engines import best
from tests.bench.zoo_models import row
from tests.zoo.measured import loaded, set_weights


def step_of(engine: str, package: Any, model: str) -> Callable[[], Any]:
    """A step of training that gives the loss: forward, backward, the optimizer's, and no gradients afterwards."""
    made = row(model)
    package.seed(1)
    alias: Any = nullcontext()
    if engine == "gradtool":
        from gradtool.paddle import _alias

        alias = _alias.active()
    with alias:
        module = loaded(made.file)
        net = made.network(module)
        set_weights(list(net.named_parameters()))
        loss_of = made.loss(module)
        optimizer = made.optimizer(package.optimizer, net.parameters())

    def step() -> Any:
        losses = loss_of(net)
        loss = sum(losses.values()) if isinstance(losses, dict) else losses
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


def main() -> None:
    engine = sys.argv[1]
    package = importlib.import_module("gradtool.paddle" if engine == "gradtool" else engine)
    print(json.dumps({"version": package.__version__}), flush=True)
    step: Callable[[], Any] = list
    for line in sys.stdin:
        asked = json.loads(line)
        if "model" in asked:
            step = step_of(engine, package, asked["model"])
            answer: dict[str, Any] = {"losses": [float(step()) for _ in range(asked["steps"])]}
        else:
            answer = {"best": best(step, asked["runs"])}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
