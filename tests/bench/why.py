"""Asking why: an answer on a large program, and what a journal costs.

python -m tests.bench why
python -m tests.bench why --sizes 20k 200k
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from tests.bench.measuring import number, timed

LIMIT = 50.0
"""Milliseconds that an answer on 20,000 operators may take."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench why", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=["2k", "20k", "200k"], help="operators of the program")
    parser.add_argument("--runs", type=int, default=7, help="runs of each measurement")
    options = parser.parse_args()
    sizes = [number(s) for s in options.sizes]
    print(f"{'mode':<10}{'operators':<12}{'answer ms':>12}{'the first':>12}{'us per op':>12}")
    for case in (static, dynamic):
        for size in sizes:
            case(size, options.runs)
    print(f"target: at most {LIMIT:g} ms on 20,000 operators")
    journal(options.runs)


def static(size: int, runs: int) -> None:
    """One question about the first parameter of a chain of pairs of operators, detached half way."""
    from gradtool import paddle

    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        w = paddle.static.create_parameter([2, 3], "float32")
        answer("static", size, runs, *chain(paddle, w, size))


def dynamic(size: int, runs: int) -> None:
    """The same of tensors, with a second parameter that shares the loss."""
    import gradtool
    from gradtool import paddle

    paddle.disable_static()
    with gradtool.watching():
        w, v = (paddle.create_parameter([2, 3], "float32") for _ in range(2))
        w, loss = chain(paddle, w, size)
        answer("dynamic", size, runs, w, loss + paddle.mean(v))


def answer(mode: str, size: int, runs: int, w: Any, loss: Any) -> None:
    import gradtool

    verdicts, seconds = [], []
    why = gradtool.why  # imported here, and not in the first answer
    for _ in range(runs):
        told, took = timed(lambda: why(loss, w)[0])
        verdicts.append(told.verdict.name)
        seconds.append(took * 1e3)
    assert set(verdicts) == {"DETACHED"}
    median = statistics.median(seconds)
    print(f"{mode:<10}{size:<12}{median:>12.1f}{seconds[0]:>12.1f}{median / size * 1e3:>12.2f}")


def chain(paddle: Any, w: Any, size: int) -> tuple[Any, Any]:
    """A parameter that is read by every second operator of the first half, and a loss behind both halves."""
    h = w
    for half in range(2):
        for _ in range(size // 4):
            h = paddle.tanh(h) + w if not half else paddle.tanh(h) * 0.5
        h = h if half else h.detach()
    return w, paddle.mean(h)


def journal(runs: int) -> None:
    """Operators on small tensors, with a journal and without."""
    import gradtool
    from gradtool import paddle

    paddle.disable_static()
    w = paddle.to_tensor([[0.1] * 4] * 4, stop_gradient=False)

    def work() -> None:
        h = w
        for _ in range(2000):
            h = paddle.tanh(h + w)
        h.sum().backward()

    work()
    plain = min(timed(work)[1] for _ in range(runs)) / 4000 * 1e6
    with gradtool.watching():
        work()
        watched = min(timed(work)[1] for _ in range(runs)) / 4000 * 1e6
    print(f"dynamic mode, forward and backward: {plain:.2f} us per operator, {watched:.2f} while watching")


if __name__ == "__main__":
    main()
