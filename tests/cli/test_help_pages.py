"""First pages of help are short and plain, whole ones have everything; forms are chosen by an option; old names."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from gradtool.cli import commands, former_names
from gradtool.cli.configuration import options
from gradtool.cli.main import main
from gradtool.cli.rare_options import RareOption
from tests.cli.conftest import Run, Write

MOST = 15
"""Options and forms on a first page."""

TYPED = [name for name in commands.every() if name != commands.OF_A_MODEL]

VERBS = frozenset(
    (
        *(
            "Add",
            "Append",
            "Apply",
            "Ask",
            "Begin",
            "Call",
            "Change",
            "Check",
            "Choose",
            "Compare",
            "Compute",
            "Continue",
        ),
        *("Convert", "Count", "Cut", "Differentiate", "Draw", "Evaluate", "Exit", "Explain", "Feed", "Find", "Give"),
        *("Hold", "Ignore", "Keep", "Let", "List", "Look", "Make", "Measure", "Omit", "Open", "Pass", "Print", "Put"),
        *(
            "Read",
            "Record",
            "Return",
            "Run",
            "Search",
            "Seed",
            "Show",
            "Skip",
            "Start",
            "Step",
            "Stop",
            "Store",
            "Take",
            "Test",
        ),
        *("Treat", "Use", "Watch", "Write"),
    )
)
"""Words that begin what helps say of commands and options."""

OPTIONS = [
    pytest.param(name, option, id=f"{name} {option.opts[-1]}")
    for name in commands.every()
    for option in commands.load(name).params
    if isinstance(option, click.Option) and not option.hidden
]


def rows(text: str, heading: str) -> list[str]:
    """The names in a section of a help."""
    section = text.partition(f"\n{heading}")[2].partition("\n\n")[0]
    return re.findall(r"^  (-\S+|[A-Za-z]\S*)", section, re.MULTILINE)


@pytest.mark.parametrize("name", commands.every())
def test_a_first_page_has_few_options_and_says_how_to_see_all(name: str, gradtool: Run) -> None:
    words = ["model.py"] if name == commands.OF_A_MODEL else name.split()
    first, whole = gradtool(*words, "--help"), gradtool(*words, "--help", "all")
    assert (first.code, whole.code) == (0, 0)
    listed, forms = rows(first.out, "Options:"), rows(first.out, "Forms")
    assert len(listed) + len(forms) <= MOST
    typed = "gradtool MODEL" if name == commands.OF_A_MODEL else f"gradtool {name}"
    rare = [p for p in commands.load(name).params if isinstance(p, RareOption)]
    last = " ".join(first.out.split())
    assert last.endswith(f"All options, also those that every command has: {typed} --help all") is bool(rare)
    for param in commands.load(name).params:
        if isinstance(param, click.Option) and not param.hidden:
            assert max(param.opts, key=len) in whole.out
    assert "All options" not in whole.out


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_option_says_what_it_does(name: str, option: click.Option) -> None:
    told = option.help or ""
    assert told.split()[0].rstrip(",") in VERBS, told
    assert told.partition("  [")[0].endswith("."), told
    assert all(len(sentence.split()) <= 25 for sentence in re.split(r"[.;:] ", told)), told


@pytest.mark.parametrize("name", commands.every())
def test_a_command_says_what_it_does(name: str) -> None:
    for told in (commands.summary(name), commands.load(name).help or ""):
        assert told.split()[0].rstrip(",") in VERBS, told
    plain = " ".join(part for part in (commands.load(name).help or "").split("\n\n") if "\b" not in part)
    sentences = re.split(r"(?<=[.:;])\s", " ".join(plain.split()))
    assert [s for s in sentences if len(s.split()) > 25] == []


def test_the_first_group_of_the_help_has_twelve_commands(gradtool: Run) -> None:
    told = gradtool("--help").out
    assert rows(told, "Commands:") == ["MODEL", *commands.FIRST]
    assert len(commands.FIRST) == 12
    assert rows(told, "More commands:") == ["sweep", "report", "gradients", "self"]
    assert rows(gradtool("self", "--help").out, "Commands:") == [
        *("cache", "completion", "config", "man", "samples", "version")
    ]
    assert gradtool("self").out == gradtool("self", "--help").out


# -- forms ------------------------------------------------------------------------------------------------------------


def test_a_form_is_chosen_by_its_option_wherever_it_stands(gradtool: Run, model: Write) -> None:
    file = model("")
    ways = (("graph", "--pairs", file), ("graph", file, "--pairs"))
    assert gradtool(*ways[0]).out == gradtool(*ways[1]).out
    assert gradtool("graph", file, "--where=mean_0.tmp_0").out == gradtool("graph", "--where", "mean_0.tmp_0", file).out


def test_two_forms_exclude_each_other(gradtool: Run) -> None:
    done = gradtool("graph", "--text", "--pairs", "model.py")
    assert done.code == 2
    assert "--pairs and --text exclude each other" in done.err


@pytest.mark.parametrize("name", [name for name in TYPED if " " in name])
def test_no_option_of_a_command_has_the_name_of_a_form(name: str) -> None:
    head, _, form = name.partition(" ")
    command = commands.load(head)
    assert all(form not in option.opts for option in command.params)
    assert options.section(name)[-1] not in options.command_options(head, command)


def test_forms_take_no_option_of_their_command(gradtool: Run) -> None:
    done = gradtool("stats", "--memory", "model.py", "--worst", "3")
    assert done.code == 2
    assert "No such option '--worst'" in done.err
    assert "gradtool stats --memory --help" in done.err


def test_an_unknown_word_behind_self_has_near_names(gradtool: Run) -> None:
    done = gradtool("self", "sample")
    assert done.code == 2
    assert "unknown command of gradtool self 'sample'" in done.err
    assert "closest: samples" in done.err


# -- names that are no commands any more ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", former_names.MOVED)
def test_a_name_that_is_no_command_any_more_names_the_new_spelling(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main([name, "model.py"])
    printed = capsys.readouterr()
    assert (left.value.code, printed.out) == (2, "")
    assert printed.err.startswith(f"error: there is no command {name!r}\n  hint  gradtool {former_names.MOVED[name]}\n")
    assert name not in commands.names()


def test_what_is_named_instead_is_there() -> None:
    for spelling in former_names.MOVED.values():
        name, rest = spelling.split()[0], spelling.split()[1:]
        assert name == "MODEL" or commands.choose_form(name, rest)[0] in commands.every()
