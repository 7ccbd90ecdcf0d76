"""The debugger: what recording costs beside a plain run, and what a long timeline costs per operator.

python -m tests.bench debug
python -m tests.bench debug --sizes 20k 100k

Plain and recorded runs of one forward and backward pass take turns; shown are the median and the minimum of the
processor's time, and what the others take more. ``told`` is a run that somebody watches and forgets, ``kept`` one whose
arrays somebody holds: what events cost, and what memory costs that is not used again at once. ``recorded`` is the
recorder itself, ``numbered`` also what follows when somebody asks (or the optimizer writes): a number for every array.
Of static programs, ``kept`` is the plan alone, ``recorded`` the whole timeline with names and kernels.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.bench.measuring import ROOT, number

TARGET = 15.0
"""Per cent that recording may add on the transformer samples."""

Model = tuple[Callable[[], None], Any]
"""A forward and backward pass, and the layer whose gradients it fills."""

WIDTHS = ((16, 12, 8), (64, 32, 4), (128, 64, 4), (256, 64, 4))
"""Width, length and batch of the decoder."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench debug", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=["2k", "20k", "100k"], help="operators of the long timelines")
    parser.add_argument("--runs", type=int, default=15, help="runs of each kind")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "samples"), str(ROOT / "samples" / "models")]
    recording(options.runs)
    lengths([number(s) for s in options.sizes])


# -- recording --------------------------------------------------------------------------------------------------------


def recording(runs: int) -> None:
    print(f"{'':<34}{'ops':>6}{'plain ms':>16}" + "".join(f"{k:>14}" for k in ("told", "kept", "recorded", "numbered")))
    for title, step, model in (
        *decoders(),
        ("gpt 128 wide, 64 long", *gpt()),
        ("recompute, 32 wide, 8 long", *recomputed()),
    ):
        dynamic(title, step, model, runs)
    for title, program in static_programs():
        static(title, program, runs)
    print(f"target: recording adds at most {TARGET:g} %")


def decoders() -> list[tuple[str, Callable[[], None], Any]]:
    import eager_decoder as sample  # type: ignore[import-not-found]
    import numpy as np

    from gradtool import paddle

    paddle.disable_static()
    rows = []
    for width, length, batch in WIDTHS:
        sample.WIDTH, sample.LENGTH = width, length
        model = sample.Decoder()
        words = np.random.default_rng(0).integers(0, sample.WORDS, (2, batch, length))
        text, following = map(paddle.to_tensor, words)

        def step(model: Any = model, text: Any = text, following: Any = following, width: int = width) -> None:
            sample.WIDTH = width
            sample.loss_of(model, text, following).backward()

        rows.append((f"decoder {width} wide, {length} long", step, model))
    return rows


def gpt() -> Model:
    import gpt as sample  # type: ignore[import-not-found]
    import numpy as np

    from gradtool import paddle

    paddle.disable_static()
    config = sample.Config(width=128, length=64)
    model = sample.GPT(config)
    words = paddle.to_tensor(np.random.default_rng(0).integers(0, config.words, (4, 64)))

    def step() -> None:
        scores = model(words)
        paddle.nn.functional.cross_entropy(scores.reshape([-1, config.words]), words.reshape([-1, 1])).backward()

    return step, model


def recomputed() -> Model:
    import recomputed_transformer as sample  # type: ignore[import-not-found]

    from gradtool import paddle

    paddle.disable_static()
    model = sample.Sorter()
    rows = {n: paddle.to_tensor(a) for n, a in sample.batch(32, 0).items()}

    def step() -> None:
        scores, _ = model(rows["digits"], recomputing=True)
        paddle.nn.functional.cross_entropy(scores, rows["sorted"]).backward()

    return step, model


def dynamic(title: str, step: Callable[[], None], model: Any, runs: int) -> None:
    from gradtool.engine.core import watch
    from gradtool.engine.runs.recorder import Recorder

    def used(action: Callable[[], Any]) -> float:
        for p in model.parameters():
            p.clear_gradient(False)
        return processor(action)

    def plain() -> float:
        return used(step)

    def told() -> float:
        with watch.watch(lambda event: None):
            return used(step)

    def kept() -> float:
        held: list[Any] = []
        with watch.watch(held.append):
            return used(step)

    def recorded() -> float:
        recorder = Recorder()
        with recorder.record():
            return used(step)

    def numbered() -> float:
        recorder = Recorder()

        def both() -> None:
            step()
            recorder.settle()

        with recorder.record():
            return used(both)

    recorder = Recorder()
    with recorder.record():
        step()
    assert recorder.last is not None
    table(title, len(recorder.calls) + len(recorder.last.events), (plain, told, kept, recorded, numbered), runs)


def static_programs() -> list[tuple[str, Any]]:
    import recomputed_transformer as sample  # type: ignore[import-not-found]

    from gradtool import paddle

    paddle.enable_static()
    cases = []
    for width, length, count in ((32, 8, 32), (128, 64, 4), (256, 64, 4)):
        sample.WIDTH, sample.LENGTH = width, length
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            loss, _ = sample.network()
            pairs = paddle.static.append_backward(loss)
        scope = paddle.static.Scope()
        executor = paddle.static.Executor()
        with paddle.static.scope_guard(scope):
            executor.run(startup)
        feed = sample.batch(count, 0)
        cases.append((f"static transformer {width} wide, {length} long", (main, scope, executor, feed, loss, pairs)))
    return cases


def static(title: str, subject: Any, runs: int) -> None:
    from gradtool import paddle
    from gradtool.engine.runs import of_program

    main, scope, executor, feed, loss, pairs = subject
    gradients = {p.name: g for p, g in pairs}
    fetch = [loss, *gradients.values()]
    with paddle.static.scope_guard(scope), executor.hold(main, feed, fetch) as (plan, registers):

        def plain() -> float:
            return processor(lambda: executor.run(main, feed=feed, fetch_list=fetch))

        def kept() -> float:
            return processor(lambda: plan.run(list(registers)))

        def recorded() -> float:
            return processor(lambda: of_program.record(main, plan, registers, gradients, loss=loss))

        ops = sum(len(b.ops) for b in main.blocks)
        table(title, ops, (plain, None, kept, recorded, None), runs)


def processor(action: Callable[[], Any]) -> float:
    """Milliseconds of the processor."""
    gc.collect()
    start = time.process_time()
    action()
    return (time.process_time() - start) * 1e3


def table(title: str, ops: int, kinds: tuple[Callable[[], float] | None, ...], runs: int) -> None:
    measurements: list[list[float]] = [[] for _ in kinds]
    for kind in kinds:
        if kind is not None:
            kind()
    for _ in range(runs):
        for times, kind in zip(measurements, kinds, strict=True):
            if kind is not None:
                times.append(kind())
    plain = statistics.median(measurements[0]), min(measurements[0])
    text = f"{title:<34}{ops:>6}{plain[0]:>9.1f}{plain[1]:>7.1f}"
    for times in measurements[1:]:
        ratios = (
            [(f(times) / p - 1) * 100 for f, p in zip((statistics.median, min), plain, strict=True)] if times else []
        )
        text += f"{ratios[0]:>+8.0f}{ratios[1]:>+5.0f}%" if ratios else f"{'':>14}"
    print(text, flush=True)


# -- long timelines -------------------------------------------------------------------------------------------------


def lengths(sizes: list[int]) -> None:
    print(
        f"{'us per operator':<18}{'entries':>8}"
        + "".join(f"{c:>10}" for c in ("record", "session", "spread", "stale", "step", "list"))
    )
    for mode, make in (("dynamic", long_tape), ("static", long_program)):
        for size in sizes:
            line, seconds = make(size)
            n = len(line.entries)
            columns = [seconds, *parts(line)]
            print(f"{mode:<18}{n:>8}" + "".join(f"{s / n * 1e6:>10.2f}" for s in columns), flush=True)


def parts(line: Any) -> list[float]:
    """Seconds for a session, an edit of the first value, what is stale then, steps through all of it, and a listing."""
    from gradtool.viz.debugger import show
    from gradtool.viz.debugger.session import Session

    sessions: list[Any] = []
    first = line.entries[0].inputs[0]
    array = line.store.get(first) * 0.5
    times = [processor(lambda: sessions.append(Session(line)))]
    session = sessions[0]
    session.branch.cursor = 0
    times.append(processor(lambda: session.branch.edit(first, array, "")))
    times.append(processor(session.branch.stale))

    def step_through() -> None:
        while session.current is not None:
            show.states(session, [session.current])
            session.step()

    times.append(processor(step_through))
    times.append(processor(lambda: show.states(session, line.entries)))
    return [ms / 1e3 for ms in times]


def long_tape(size: int) -> tuple[Any, float]:
    from gradtool import paddle
    from gradtool.engine.runs import of_tape
    from gradtool.engine.runs.recorder import Recorder

    paddle.disable_static()
    w = paddle.to_tensor([[0.1] * 4] * 4, stop_gradient=False)

    def record() -> Any:
        recorder = Recorder()
        with recorder.record():
            h = w
            for _ in range(size // 4):
                h = paddle.tanh(h + w)
            h.sum().backward()
        return of_tape.timeline(recorder, named={w: "w"})

    tapes: list[Any] = []
    spent = processor(lambda: tapes.append(record()))
    return tapes[0], spent / 1e3


def long_program(size: int) -> tuple[Any, float]:
    from gradtool import paddle
    from gradtool.engine.runs import of_program

    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        w = paddle.static.create_parameter([4, 4], "float32")
        h = w
        for _ in range(size // 4):
            h = paddle.tanh(h + w)
        loss = h.sum()
        gradients = {p.name: g for p, g in paddle.static.append_backward(loss)}
        executor = paddle.static.Executor()
        executor.run(paddle.static.default_startup_program())
        program = paddle.static.default_main_program()
        with executor.hold(program, {}, [loss, *gradients.values()]) as (plan, registers):
            timelines: list[Any] = []
            spent = processor(
                lambda: timelines.append(of_program.record(program, plan, registers, gradients, loss=loss))
            )
            return timelines[0], spent / 1e3


if __name__ == "__main__":
    main()
