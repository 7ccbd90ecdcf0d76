"""``paddle.profiler``: which steps are measured, and what is written of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradtool.paddle import profiler
from gradtool.paddle.profiler import ProfilerState, make_scheduler

C, R, M, L = (
    ProfilerState.CLOSED,
    ProfilerState.READY,
    ProfilerState.RECORD,
    ProfilerState.RECORD_AND_RETURN,
)


def test_rounds_follow_each_other_until_their_number_is_reached() -> None:
    state = make_scheduler(closed=1, ready=1, record=2, repeat=2, skip_first=1)
    assert [state(i) for i in range(11)] == [C, C, R, M, L, C, R, M, L, C, C]
    assert [make_scheduler(closed=0, ready=0, record=1)(i) for i in range(3)] == [L, L, L]
    with pytest.raises(AssertionError, match="record 1 or more"):
        make_scheduler(closed=1, ready=1, record=0)


def test_measured_steps_hold_the_parts_that_have_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds: list[int] = []

    def ready(p: profiler.Profiler) -> None:
        rounds.append(p.step_num)
        profiler.export_chrome_tracing(str(tmp_path), worker_name="w")(p)

    with profiler.Profiler(scheduler=(1, 3), on_trace_ready=ready) as p:
        for _ in range(5):
            with profiler.RecordEvent("forward"):
                pass
            p.step(num_samples=4)
        assert "samples/s" in p.step_info()
        assert p.step_info() == ""
        p.summary(sorted_by=profiler.SortedKeys.CPUMax)
    assert rounds == [3]
    events = profiler.load_profiler_result(str(tmp_path / "w_round_0.paddle_trace.json"))["traceEvents"]
    assert [e["name"] for e in events] == ["forward", "ProfileStep#1", "forward", "ProfileStep#2"]
    assert all(e["dur"] >= 0 for e in events)
    told = capsys.readouterr().out
    assert "forward" in told
    assert "gradtool stats --time MODEL" in told
    json.dumps(events)


def test_nothing_is_written_before_something_is_measured() -> None:
    with pytest.raises(ValueError, match="no round of steps"):
        profiler.Profiler().export("x.json")
    event = profiler.RecordEvent("part")
    event.end()  # without a begin it is nothing
    with pytest.raises(AssertionError, match="two steps"):
        profiler.Profiler(scheduler=(3, 3))


def test_the_profiler_of_version_1_measures_between_two_calls(capsys: pytest.CaptureFixture[str]) -> None:
    from gradtool.paddle.fluid import profiler as old

    with old.profiler("CPU", "total"), profiler.RecordEvent("part"):
        pass
    assert "part" in capsys.readouterr().out
