"""Tables in little room: what is left out, shortened, or goes on below."""

from __future__ import annotations

import pytest

from gradtool.viz.fitting import abbreviate, fit_table, wrap
from gradtool.viz.text import cells
from gradtool.viz.views.view import Table, View, to_text

HEADINGS = ["name", "shape", "status", "source"]
ROWS = [
    ["model.encoder.layers.3.weight", "3×3", "cut: stop_gradient of h, models/net.py:38", "models/net.py:12"],
    ["w", "100000×256", "ok", "models/net.py:9"],
]
ORDER = ["shape", "status…", "source…", "name…", "source"]


def shown(room: int | None, order: list[str] = ORDER, **how: object) -> list[str]:
    view = View("kind", {}, [Table(HEADINGS, list(ROWS), order=order, **how)], ["gradtool why w model.py"])  # type: ignore[arg-type]
    return to_text(view, room).splitlines()[:-1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("room", range(30, 130))
def test_lines_are_no_longer_than_the_room(room: int) -> None:
    assert max(map(cells, shown(room))) <= room


def test_columns_go_in_the_order_that_is_declared() -> None:
    left = [fit_table(HEADINGS, ROWS, ORDER, room) for room in (120, 90, 60, 40, 25)]
    assert [f.left_out for f in left] == [[], ["shape"], ["shape"], ["shape"], ["shape", "source"]]
    assert [f.rows[0][1 if f.left_out else 2] for f in left[:3]] == [
        "cut: stop_gradient of h, models/net.py:38",
        "cut: stop_gradient of h, …",
        "cut: …",
    ]
    assert [f.rows[0][-1] for f in left[:4]] == [
        "models/net.py:12",
        "models/net.py:12",
        "models/net.py:12",
        "…/net.py:12",
    ]
    assert [f.rows[0][0] for f in left[2:]] == ["model.encoder.layers.3.weight", "model.….3.weight", "….weight"]


def test_what_is_left_out_is_said() -> None:
    assert " no room for: shape (a wider terminal," in "\n".join(shown(80))
    assert shown(None) == shown(200)
    assert "no room for" not in "\n".join(shown(None))


def test_a_row_that_cannot_be_shortened_becomes_a_paragraph() -> None:
    assert shown(42, order=[])[:4] == [
        " model.encoder.layers.3.weight",
        "   shape 3×3",
        "   status cut: stop_gradient of h,",
        "     models/net.py:38",
    ]


@pytest.mark.parametrize(
    ("text", "longest", "short"),
    [
        ("model.encoder.layers.3.weight", 29, "model.encoder.layers.3.weight"),
        ("model.encoder.layers.3.weight", 28, "model.….layers.3.weight"),
        ("model.encoder.layers.3.weight", 5, "….weight"),
        ("a/b/c/train.py:3", 13, "…/train.py:3"),
        ("train.py:3", 4, "train.py:3"),
        ("one_word", 3, "one_word"),
        ("3.1415927", 4, "3.1415927"),
        ("add, relu, mul", 10, "add, …"),
        ("a.cd", 2, "a.cd"),
    ],
)
def test_words_and_numbers_stay_whole(text: str, longest: int, short: str) -> None:
    assert abbreviate(text, longest) == short


def test_lines_are_broken_between_words() -> None:
    assert [*wrap("  loss ← mean.0 ← relu.0 ← fc.w_0", 20)] == ["  loss ← mean.0 ←", "    relu.0 ← fc.w_0"]
    assert [*wrap("short", 20)] == ["short"]
    assert [*wrap("x" * 30 + " y", 20)] == ["x" * 30, "  y"]
    assert [*wrap("a  b   " + "c" * 20, 10)] == ["a  b", "  " + "c" * 20]


def test_commands_that_have_no_room_stand_one_below_the_other() -> None:
    view = View("kind", {}, ["text"], ["gradtool why w model.py", "gradtool nan model.py"])
    assert to_text(view, 30).splitlines()[1:] == ["next: gradtool why w model.py", "      gradtool nan model.py"]
    assert to_text(view, 80).splitlines()[1:] == [view.next_line]


def test_colours_say_what_a_judged_cell_means() -> None:
    table = Table(["name", "status"], [["ok", "ok"], ["b", "cut"]], judged="status", tones={0: "good", 1: "bad"})
    view = View("kind", {}, [table, "1 finding in ok"], marks={"1 finding": "bad"})
    lines = to_text(view, 40, colours=True).splitlines()
    assert lines[1] == " ok    \x1b[32mok\x1b[0m"
    assert lines[2] == " b     \x1b[31mcut\x1b[0m"
    assert lines[3] == "\x1b[31m1 finding\x1b[0m in ok"
