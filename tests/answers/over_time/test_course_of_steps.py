"""Which passes and updates make up a step."""

from __future__ import annotations

from gradtool.engine.answers.over_time.array_size import Extent
from gradtool.engine.answers.over_time.history import Track, TrainingStep, Update
from gradtool.engine.answers.over_time.training_steps import Course

ONE = Extent(1.0, 0, 0, 1)


def track(name: str) -> Track:
    return Track(name, (1,))


def passed(course: Course, *tracks: Track) -> None:
    """A backward pass that gives to *tracks*."""
    course.began(course.last + 1, (), None)
    for t in tracks:
        course.note_arrival(t, ONE)


def updated(course: Course, *tracks: Track) -> None:
    update = Update("SGD", ())
    for point in course.note_update(tracks, update, update).values():
        point.weight, point.update = 1.0, 0.1


def told(steps: list[TrainingStep]) -> list[tuple[list[int], int, list[str]]]:
    """Of each step its passes, how many updates, and whose gradients it has."""
    return [([p.number for p in s.passes], len(s.updates), sorted(t.name for t in s.points)) for s in steps]


def test_an_update_takes_the_passes_before_it() -> None:
    course, w = Course(), track("w")
    for _ in range(2):
        passed(course, w)
        passed(course, w)
        updated(course, w)
    steps = course.finish()
    assert told(steps) == [([1, 2], 1, ["w"]), ([3, 4], 1, ["w"])]
    assert [s.points[w].passes for s in steps] == [2, 2]


def test_updates_of_different_parameters_share_a_step() -> None:
    course, g, d = Course(), track("g"), track("d")
    for _ in range(2):
        passed(course, d)
        updated(course, d)
        course.note_clear(d)
        passed(course, g, d)
        updated(course, g)
        course.note_clear(g)
        course.note_clear(d)
    assert told(course.finish()) == [([1, 2], 2, ["d", "g"]), ([3, 4], 2, ["d", "g"])]


def test_an_update_is_not_torn_apart_by_a_parameter_that_comes_later() -> None:
    course, head, body = Course(), track("head"), track("body")
    passed(course, head)
    updated(course, head)
    passed(course, body, head)
    updated(course, body, head)
    assert told(course.finish()) == [([1], 1, ["head"]), ([2], 1, ["body", "head"])]


def test_gradients_that_nothing_takes_stand_in_the_step_of_their_pass() -> None:
    course, w, loose = Course(), track("w"), track("loose")
    for _ in range(3):
        passed(course, w, loose)
        updated(course, w)
    steps = course.finish()
    assert told(steps) == [([i], 1, ["loose", "w"]) for i in (1, 2, 3)]
    assert [s.points[loose].backward for s in steps] == [1, 2, 3]
    assert steps[0].points[loose].weight is None
    assert w.listed
    assert not loose.listed


def test_without_updates_a_step_is_a_pass() -> None:
    course, w = Course(), track("w")
    passed(course, w)
    passed(course, w)
    assert told(course.finish()) == [([1], 0, ["w"]), ([2], 0, ["w"])]


def test_passes_at_the_end_are_a_step_without_an_update() -> None:
    course, w = Course(), track("w")
    passed(course, w)
    updated(course, w)
    passed(course, w)
    assert told(course.finish()) == [([1], 1, ["w"]), ([2], 0, ["w"])]


def test_what_one_source_does_again_is_another_step() -> None:
    course, a, b = Course(), track("a"), track("b")
    for t in (a, b):
        passed(course, t)
        update = Update("", (), hand=True)
        course.note_update([t], update, "script")
        course.note_update([t], update, "script")
    assert told(course.finish()) == [([1], 1, ["a"]), ([2], 1, ["b"])]


def test_a_model_that_is_trained_after_another_has_steps_of_its_own() -> None:
    course, folds = Course(), [track("first"), track("second")]
    for fold in folds:
        for _ in range(3):
            passed(course, fold)
            updated(course, fold)
    assert told(course.finish()) == [([i + 1], 1, ["first" if i < 3 else "second"]) for i in range(6)]


def test_one_that_takes_its_turn_less_often_is_in_a_step_of_the_other() -> None:
    course, critic, generator = Course(), track("critic"), track("generator")
    for k in range(6):
        passed(course, critic)
        updated(course, critic)
        if k % 3 == 2:
            passed(course, generator)
            updated(course, generator)
    steps = course.finish()
    assert [p.number for s in steps for p in s.passes] == list(range(1, 9))
    assert sum("critic" in t for _, _, names in told(steps) for t in names) == 6
    assert all(sum(n == "critic" for n in names) <= 1 for _, _, names in told(steps))
