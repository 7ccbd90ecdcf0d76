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
    answers([number(s) for s in options.sizes], options.runs)
    journal(options.runs)


def answers(sizes: list[int], runs: int) -> None:
    """One question about the first parameter of a chain of pairs of operators, detached half way."""
    import gradtool as paddle

    paddle.enable_static()
    print(f"{'operators':<12}{'answer ms':>12}{'us per op':>12}")
    for size in sizes:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            w, loss = chain(paddle, size)
            found, seconds = [], []
            for _ in range(runs):
                answer, took = timed(lambda loss=loss, w=w: paddle.why(loss, w)[0])  # type: ignore[misc]
                found.append(answer.verdict.name)
                seconds.append(took)
            assert set(found) == {"DETACHED"}
            median = statistics.median(seconds)
            print(f"{size:<12}{median * 1e3:>12.1f}{median / size * 1e6:>12.2f}")
    print(f"target: at most {LIMIT:g} ms on 20,000 operators")


def chain(paddle: Any, size: int) -> tuple[Any, Any]:
    """A parameter that is read by every second operator of the first half, and a loss behind both halves."""
    w = paddle.static.create_parameter([2, 3], "float32")
    h = w
    for half in range(2):
        for _ in range(size // 4):
            h = paddle.tanh(h) + w if not half else paddle.tanh(h) * 0.5
        h = h if half else h.detach()
    return w, paddle.mean(h)


def journal(runs: int) -> None:
    """Operators on small tensors, with a journal and without."""
    import gradtool as paddle

    paddle.disable_static()
    w = paddle.to_tensor([[0.1] * 4] * 4, stop_gradient=False)

    def work() -> None:
        h = w
        for _ in range(2000):
            h = paddle.tanh(h + w)
        h.sum().backward()

    work()
    plain = min(timed(work)[1] for _ in range(runs)) / 4000 * 1e6
    with paddle.watching():
        work()
        watched = min(timed(work)[1] for _ in range(runs)) / 4000 * 1e6
    print(f"dynamic mode, forward and backward: {plain:.2f} us per operator, {watched:.2f} while watching")


if __name__ == "__main__":
    main()
