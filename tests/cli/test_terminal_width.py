"""Every command on terminals of four widths: lines fit, no word is broken; piped, nothing is left out."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from gradtool.viz.text import cells
from tests.sampling import sampled

Write = Callable[[str], str]
Run = Callable[..., Any]

LONG = """\
import paddle


class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.a_projection_with_a_long_name = paddle.nn.Linear(6, 6)
        self.inner = paddle.nn.LayerList([paddle.nn.Linear(6, 6) for _ in range(2)])

    def forward(self, x):
        h = paddle.nn.functional.relu(self.a_projection_with_a_long_name(x))
        return self.inner[1](self.inner[0](h) * 1e-20).detach() + h * 123456789.0


model_of_this_file = paddle.nn.LayerDict({"encoder_of_the_first_kind": Block(), "decoder_of_the_second_kind": Block()})
x = paddle.ones([2, 6])
for block in model_of_this_file.values():
    x = block(x)
loss = (x - x.mean(axis=-1, keepdim=True)).square().sum()
loss.backward()
"""

WORDS = [
    *(
        ("backward",),
        ("why",),
        ("stats",),
        ("stats", "--by", "layer", "--histogram"),
        ("stats", "--by", "op"),
        ("nan",),
    ),
    *(
        ("stats --memory",),
        ("graph --text",),
        ("graph --pairs",),
        ("graph --where=relu",),
        ("graph --where=matmul_v2",),
    ),
    *(("gradcheck",), ("backward", "--list"), ("stats", "--steps", "1")),
    *(("checkup",), ("stats --time", "--repeats", "1")),
]


def shown(
    words: tuple[str, ...], width: int, gradtool: Run, monkeypatch: pytest.MonkeyPatch, *options: str
) -> list[str]:
    """What a terminal of that width shows, without colours."""
    monkeypatch.setenv("COLUMNS", str(width))
    with monkeypatch.context() as patch:
        patch.setattr(type(sys.stdout), "isatty", lambda stream: stream is sys.stdout, raising=False)
        done = gradtool(*words, *options)
    assert done.code in (0, 1), done.err
    return str(done.out).splitlines()


ON_TERMINALS = [(words, width) for words in WORDS for width in (60, 80, 100, 120)]


@pytest.mark.parametrize(
    ("words", "width"),
    [pytest.param(*case, id=str(case)) for case in sampled(ON_TERMINALS, str, 4, lambda case: " ".join(case[0]))],
)
def test_every_command_fits(
    words: tuple[str, ...], width: int, gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = model(LONG)
    _fits((words[0], file, *words[1:]), width, gradtool, monkeypatch)


STATIC = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x_with_a_long_name", [4, 3])
hidden = paddle.tanh(paddle.static.nn.fc(x, 3, name="a_projection_with_a_long_name"))
loss = paddle.mean(paddle.static.nn.fc(hidden, 1, name="another_projection"))
"""


@pytest.mark.sampled(3, "words")
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("words", [("gradients",), ("gradients", "--run"), ("backward", "--run")], ids=" ".join)
def test_tables_of_programs_fit(
    words: tuple[str, ...], width: int, gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fits((words[0], model(STATIC), *words[1:]), width, gradtool, monkeypatch)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_list_of_operators_fits(width: int, gradtool: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _fits(("explain --ops",), width, gradtool, monkeypatch)


def _fits(words: tuple[str, ...], width: int, gradtool: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assert that what a command shows fits, and that no word of it is broken."""
    piped = str(gradtool(*words).out)
    lines = shown(words, width, gradtool, monkeypatch, "--color", "never")
    body = lines[: next((i for i, line in enumerate(lines) if line.startswith("next: ")), None)]
    for line in body:
        assert cells(line) <= width or len(line.split()) == 1, line
    if words[0] == "stats --time":
        return  # other numbers each time
    whole = set(piped.split())
    for word in " ".join(line for line in body if not line.startswith((" no room for", "   "))).split():
        parts = [p for p in word.split("…") if p]
        assert word in whole or all(any(p in w for w in whole) for p in parts), word
        assert "…" in word or word in whole, word


def test_commands_to_go_on_with_are_whole(gradtool: Run, model: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    file = model(LONG)
    piped = str(gradtool("backward", file).out).splitlines()[-1].removeprefix("next: ").split(" · ")
    lines = shown(("backward", file), 60, gradtool, monkeypatch, "--color", "never")
    assert [line.removeprefix("next:").strip() for line in lines[-len(piped) :]] == piped


COLOURS = [
    ({}, (), False, False),
    ({}, (), True, True),
    ({"TERM": "dumb"}, (), True, False),
    ({"NO_COLOR": "1"}, (), True, False),
    ({"FORCE_COLOR": "1"}, (), False, True),
    ({"FORCE_COLOR": "0"}, (), False, False),
    ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), True, False),
    ({"NO_COLOR": "1"}, ("--color", "always"), False, True),
    ({"FORCE_COLOR": "1"}, ("--color", "never"), True, False),
]


@pytest.mark.parametrize(("environment", "options", "terminal", "coloured"), COLOURS)
def test_who_gets_colours(
    environment: dict[str, str],
    options: tuple[str, ...],
    terminal: bool,
    coloured: bool,
    gradtool: Run,
    model: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file = model(LONG)
    command = ("backward", file)
    lines = (
        shown(command, 200, gradtool, monkeypatch, *options)
        if terminal
        else gradtool(*command, *options).out.splitlines()
    )
    text = "\n".join(lines)
    assert ("\x1b[" in text) is coloured
    assert (
        re.sub(r"\x1b\[\d+m", "", text).rstrip() == gradtool("backward", file, "--color", "never").out.rstrip()
        or terminal
    )


def test_findings_are_red_notes_yellow_and_what_is_right_green(gradtool: Run, model: Write) -> None:
    file = model(
        "import paddle\nlost, kept = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)\nfrozen = paddle.nn.Linear(2, 2)\n"
        "for p in frozen.parameters():\n    p.trainable = False\n"
        "loss = kept(lost(frozen(paddle.ones([1, 2]))).detach()).sum()\n"
    )
    out = gradtool("backward", file, "--color", "always").out
    assert "\x1b[31mcut: detached" in out
    assert "\x1b[32mok\x1b[0m" in out
    assert "\x1b[31m1 finding\x1b[0m" in out
    assert "\x1b[2mfrozen: trainable=False, set at model.py:5\x1b[0m" in out
    assert "\x1b[31mverdict: DETACHED\x1b[0m" in gradtool("why", file, "--color", "always").out
    assert "\x1b[32mCLEAN\x1b[0m" in gradtool("nan", file, "--color", "always").out
    assert "\x1b[32mok\x1b[0m" in gradtool("stats", file, "--color", "always").out
