"""What one process holds that trains one model: prints JSON with megabytes of its resident set.

Runs in any interpreter that has the engine: ``python -m tests.bench.memory_process ENGINE MODEL STEPS``. The engine is
``gradtool``, ``torch`` or ``paddle`` in dynamic mode, or ``static`` for a program of gradtool. The model is one of
``python -m tests.bench step``, of the zoo (gradtool and Paddle), or of ``python -m tests.bench recommenders``.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from tests.bench.measuring import largest_resident
from tests.bench.recommender_models import MODELS as RECOMMENDERS
from tests.bench.step_engines import ENGINES, Paddle
from tests.bench.step_models import MODELS
from tests.zoo.measured import NAMES, loaded

Step = Callable[[], Any]


def dynamic(engine: str, package: Any, model: str) -> Step:
    """A step in dynamic mode."""
    if model in MODELS:
        return ENGINES[engine](package).step(*MODELS[model](np.random.default_rng(7)))
    return RECOMMENDERS[model](package) if model in RECOMMENDERS else of_the_zoo(engine, package, model)


def of_the_zoo(engine: str, package: Any, model: str) -> Step:
    """A step of a model whose file imports Paddle."""
    alias: Any = nullcontext()
    if engine == "gradtool":
        from gradtool.paddle import _alias

        alias = _alias.active()
    with alias:
        module = loaded(model)
        net = module.network()

    def step() -> None:
        losses = module.loss(net)
        for loss in losses.values() if isinstance(losses, dict) else [losses]:
            loss.backward()
        for parameter in net.parameters():
            parameter.clear_gradient()

    return step


def static(package: Any, model: str) -> tuple[Step, float]:
    """A step of a program, and how many megabytes its plan says that are alive at most, parameters beside."""
    paddle = package
    paddle.enable_static()
    params, data, loss = MODELS[model](np.random.default_rng(7))
    assign = paddle.nn.initializer.Assign
    given = {
        k: paddle.create_parameter(list(v.shape), str(v.dtype), name=k, default_initializer=assign(v))
        for k, v in params.items()
    }
    fed = {k: paddle.static.data(k, list(v.shape), str(v.dtype)) for k, v in data.items()}
    value = loss(Paddle(paddle), given, fed)
    pairs = paddle.static.append_backward(value, parameter_list=list(given.values()))
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    main, fetch = paddle.static.default_main_program(), [value, *(g for _, g in pairs)]
    alive = exe.peak(main, feed=data, fetch_list=fetch).nbytes / 2**20
    return lambda: exe.run(main, feed=data, fetch_list=fetch), alive


def main() -> None:
    engine, model, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    known = [*MODELS, *RECOMMENDERS, *NAMES]
    if model not in known:
        sys.exit(f"no model {model!r}; there are {', '.join(known)}")
    package = importlib.import_module("gradtool.paddle" if engine in ("static", "gradtool") else engine)
    held: dict[str, Any] = {"version": package.__version__, "imported": largest_resident()}
    if engine == "static":
        step, held["plan"] = static(package, model)
    else:
        step = dynamic(engine, package, model)
    for _ in range(steps):
        step()
    print(json.dumps({**held, "peak": largest_resident()}))


if __name__ == "__main__":
    main()
