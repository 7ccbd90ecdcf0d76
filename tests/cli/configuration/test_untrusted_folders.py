"""Configuration files in folders that somebody has downloaded: they name no host, no program, and nothing outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradtool.cli import commands, configuration
from gradtool.cli.configuration import options, permitted
from gradtool.cli.configuration.permitted import Harmless, Inside, Never
from gradtool.engine.files import confined_paths
from tests.cli.conftest import WITHOUT_A_MODEL, Run, named

MODEL = """\
import paddle
x = paddle.rand([2, 3])
net = paddle.nn.Linear(3, 1)
loss = net(x).mean()
loss.backward()
"""

STATIC = """\
import paddle
paddle.enable_static()
x = paddle.static.data("x", [2, 3])
loss = paddle.mean(paddle.static.nn.fc(x, 1))
"""

EVERY = [
    (command, setting) for command, settings in options.options_by_command().items() for setting in settings.values()
]

FOLDERS = frozenset({"dump", "tensorboard", "golden", "cache-dir"})
"""Options that name folders."""

MORE = {
    "report": ["--md", "r.md"],
    "dot": [],
    "html": [],
    "ipynb": [],
    "md": [],
    "tensorboard": ["--steps", "1"],
    "baseline": ["--write-baseline"],
    "golden": ["--update", "--select", "GT4"],
    "cache-dir": ["--jobs", "1"],
}
"""What else a command has to be given, so that it writes where its option says."""


def label(pair: Any) -> str:
    return f"{pair[0]}.{pair[1].key}" if isinstance(pair, tuple) else str(pair)


def written(folder: Path, text: str, name: str = "gradtool.toml") -> None:
    (folder / name).write_text(text, encoding="utf-8")


def table_of(command: str) -> str:
    """The table of a command in a file, as TOML has it."""
    return ".".join(options.section(command))


def words(command: str, key: str, folder: Path) -> list[str]:
    """A call of a command that writes where its option says."""
    (folder / "m.py").write_text(STATIC if command in ("gradients", "export") else MODEL, encoding="utf-8")
    if command in WITHOUT_A_MODEL:
        return [command, *WITHOUT_A_MODEL[command]]
    if command == "graph --where":
        return ["graph", "--where", "loss", "m.py"]
    if command == "flow":
        return ["flow", "m.py", "--from", "x", "--to", "loss"]
    if command == "debug":
        return ["debug", "m.py", "--batch"]
    more = MORE.get("report", []) if command == "report" and key == "output" else MORE.get(key, [])
    if (command, key) == ("diff", "write-golden"):
        return ["diff", "m.py", "m.py"]
    return [*named(command, "m.py"), *more]


ENDINGS = {"html": ".html", "ipynb": ".ipynb", "md": ".md", "write-golden": ".gt.txt", "results": ".jsonl"}


def ending(command: str, key: str) -> str:
    """How the name ends of a file that an option takes."""
    if key == "output":
        return {"export": ".pdmodel", "graph": ".dot"}.get(command, ".txt")
    return ENDINGS.get(key, "")


# -- which options a file sets ----------------------------------------------------------------------------------------


def test_each_option_of_each_command_has_a_class() -> None:
    assert {label(pair) for pair in EVERY if pair[1].use is permitted.UNKNOWN} == set(), "add it to permitted.CLASSES"
    assert {label(pair) for pair in EVERY if not isinstance(pair[1].use, Harmless | Inside | Never)} == set()


def test_what_names_a_file_or_a_folder_is_no_harmless_text() -> None:
    harmless = [(command, setting) for command, setting in EVERY if isinstance(setting.use, Harmless)]
    options_of = {command: {p.name: p for p in commands.load(command).params} for command, _ in harmless}
    metavars = {label(pair): getattr(options_of[pair[0]][pair[1].name], "metavar", None) or "" for pair in harmless}
    assert {name for name, text in metavars.items() if text.startswith(("FILE", "DIR", "FORM=FILE", "GLOB"))} == set()


def test_the_table_has_no_class_of_an_option_that_is_not_there() -> None:
    there = {key for command, setting in EVERY for key in (setting.key, f"{command}.{setting.key}")}
    assert {*permitted.CLASSES} <= there


def test_an_option_without_a_class_is_set_by_no_file() -> None:
    assert permitted.class_of("why", "an-option-of-tomorrow") is permitted.UNKNOWN
    assert isinstance(permitted.UNKNOWN, Never)


REFUSED = [(command, setting) for command, setting in EVERY if setting.refusal is not None]


@pytest.mark.parametrize("pair", REFUSED, ids=label)
def test_what_no_file_sets_is_refused_with_file_key_and_reason(
    gradtool: Run, folder: Path, pair: tuple[str, options.OptionSetting]
) -> None:
    command, setting = pair
    value = '["evil.py"]' if isinstance(setting.node, options.ListSchema) else '"tcp://127.0.0.1:9"'
    written(folder, f"[{table_of(command)}]\n{setting.key} = {value}\n")
    written(folder, "from pathlib import Path\nPath('ran').touch()\n", "evil.py")
    done = gradtool(*words(command, setting.key, folder))
    assert done.code == 2
    assert f"gradtool.toml:2: {table_of(command)}.{setting.key}: {setting.refusal}" in done.err
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("key", sorted({setting.key for _, setting in REFUSED} - {"models", "watch", "scripts"}))
def test_it_is_refused_outside_of_tables_too(gradtool: Run, folder: Path, key: str) -> None:
    written(folder, f"{key} = true\n")
    (folder / "m.py").write_text(MODEL, encoding="utf-8")
    done = gradtool("why", "m.py")
    assert done.code == 2
    assert f"gradtool.toml:1: {key}: " in done.err


PATHS = [(command, setting) for command, setting in EVERY if setting.path_form is not None]
OUTSIDE = ("../x", "/etc/passwd", "http://127.0.0.1:9/x.npz", "s3://bucket/x.npz", "sub/../../x", "link/x", "dangling")


@pytest.mark.sampled(3, "pair")
@pytest.mark.parametrize("value", OUTSIDE)
@pytest.mark.parametrize("pair", PATHS, ids=label)
def test_a_path_lies_below_the_folder(
    gradtool: Run,
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    pair: tuple[str, options.OptionSetting],
    value: str,
) -> None:
    command, setting = pair
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (folder / "link").symlink_to(elsewhere)
    (folder / "dangling").symlink_to(elsewhere / "new")
    value = f"json={value}" if setting.path_form and setting.path_form.form == "form" else value
    entry = [value] if isinstance(setting.node, options.ListSchema) else value
    written(folder, f"[{table_of(command)}]\n{setting.key} = {entry!r}\n")
    done = gradtool(*words(command, setting.key, folder))
    assert done.code == 2
    assert f"gradtool.toml:2: {setting.key}: " in done.err
    assert "outside the folder of gradtool.toml" in done.err or "is no path below the folder" in done.err
    assert [*elsewhere.iterdir()] == []


def test_a_glob_of_a_file_reaches_no_link_to_elsewhere(
    gradtool: Run, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tmp_path_factory.mktemp("elsewhere") / "secret.npz").write_bytes(b"")
    (folder / "a.npz").symlink_to(tmp_path_factory.getbasetemp() / "elsewhere0" / "secret.npz")
    (folder / "m.py").write_text(MODEL, encoding="utf-8")
    for pattern in ("*.npz", "../*.npz", "/tmp/*.npz"):
        written(folder, f'[sweep]\nover = ["{pattern}"]\n')
        done = gradtool("sweep", "nan", "m.py")
        assert done.code == 2
        assert "outside the folder of gradtool.toml" in done.err


@pytest.mark.parametrize(
    "text",
    [
        'target = "../m.py"',
        'target = "link/m.py:build"',
        'target = "m.py"\nfeed = "../x.npz"',
        'target = "dangling.py"',
    ],
)
def test_models_of_the_gate_lie_below_the_folder(
    gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "link").symlink_to(folder)
    (inner / "dangling.py").symlink_to(folder / "m.py")
    for at in (folder, inner):
        (at / "m.py").write_text(MODEL, encoding="utf-8")
    written(inner, f"[[models]]\n{text}\n")
    monkeypatch.chdir(inner)
    done = gradtool("check")
    assert done.code == 2
    assert "outside the folder of gradtool.toml" in done.err


def test_no_file_makes_a_saved_program_a_module(gradtool: Run, folder: Path) -> None:
    (folder / "net").mkdir()
    written(folder / "net", "", "__init__.py")
    written(folder / "net", "from pathlib import Path\nPath('ran').touch()\n", "pdmodel.py")
    written(folder, "{}", "net.pdmodel")
    written(folder, '[[models]]\ntarget = "net.pdmodel"\nmodule = true\n')
    assert gradtool("check", "net.pdmodel").code != 0
    assert not (folder / "ran").exists()


# -- links ------------------------------------------------------------------------------------------------------------

WRITES = [
    (command, setting) for command, setting in PATHS if setting.path_form is not None and setting.path_form.writes
]


@pytest.fixture
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a file that nobody may change."""
    home = tmp_path_factory.mktemp("home")
    (home / "bashrc").write_text("mine", encoding="utf-8")
    yield home
    assert [path.name for path in home.iterdir()] == ["bashrc"]
    assert (home / "bashrc").read_text(encoding="utf-8") == "mine"


def test_all_combinations_are_there() -> None:
    assert len(WRITES) >= 31
    expected = {"output", "dot", "dump", "html", "out", "cache-dir", "baseline", "golden", "results", "write-golden"}
    assert expected <= {setting.key for _, setting in WRITES}


@pytest.mark.sampled(3, "when")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("pair", WRITES, ids=label)
def test_no_link_is_followed(
    gradtool: Run,
    folder: Path,
    target: Path,
    monkeypatch: pytest.MonkeyPatch,
    pair: tuple[str, options.OptionSetting],
    when: str,
) -> None:
    """Neither one that lies there when paths are compared, nor one that comes between that and opening."""
    command, setting = pair
    name = f"x{ending(command, setting.key)}"
    (folder / name).symlink_to(target if setting.key in FOLDERS else target / "bashrc")
    form = "json=" if setting.key == "out" else ""
    value = f"{form}{name}"
    written(folder, f"[{table_of(command)}]\n{setting.key} = {[value] if setting.key == 'out' else value!r}\n")
    call = words(command, setting.key, folder)
    if when == "after":
        monkeypatch.setattr(confined_paths, "resolve", lambda path, folder: os.path.abspath(path))
    done = gradtool(*call)
    if when == "before":
        assert done.code == 2
        assert f"{setting.key}: {name} is a link that leads outside the folder of gradtool.toml" in done.err
    elif setting.key != "cache-dir":  # without a cache everything is checked
        assert done.code in (2, 4), done.err
        assert "link" in done.err or "holds the rows of a sweep already" in done.err


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pair", WRITES, ids=label)
def test_without_a_link_it_is_written(gradtool: Run, folder: Path, pair: tuple[str, options.OptionSetting]) -> None:
    """What keeps links out lets the others in; also in a folder that is there, and through a link within the folder."""
    command, setting = pair
    (folder / "real").mkdir()
    (folder / "sub").symlink_to("real")
    value = ("json=" if setting.key == "out" else "") + f"sub/x{ending(command, setting.key)}"
    written(folder, f"[{table_of(command)}]\n{setting.key} = {[value] if setting.key == 'out' else value!r}\n")
    done = gradtool(*words(command, setting.key, folder))
    assert done.code in (0, 1), done.err
    assert Path(value).name in [path.name for path in (folder / "real").iterdir()]


def test_files_that_nobody_has_named_are_no_links(gradtool: Run, folder: Path, target: Path) -> None:
    (folder / "m.py").write_text(MODEL, encoding="utf-8")
    (folder / "gradtool-baseline.json").symlink_to(target / "bashrc")
    (folder / ".gradtool_cache").symlink_to(target)
    assert gradtool("check", "m.py", "--jobs", "1").code == 0
    done = gradtool("check", "m.py", "--write-baseline")
    assert done.code != 0


def test_files_that_belong_to_the_one_that_is_named_are_no_links(gradtool: Run, folder: Path, target: Path) -> None:
    (folder / "x.pdparams").symlink_to(target / "bashrc")
    written(folder, '[export]\noutput = "x.pdmodel"\n')
    done = gradtool(*words("export", "output", folder))
    assert done.code == 2
    assert "a symbolic link there leads elsewhere" in done.err
    assert not (folder / "x.pdmodel").exists()


def test_a_link_on_the_command_line_is_followed(
    gradtool: Run, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "x"
    (folder / "m.py").write_text(MODEL, encoding="utf-8")
    (folder / "x").symlink_to(elsewhere)
    assert gradtool("why", "m.py", "-o", "x").code == 0
    assert elsewhere.exists()


# -- whose file it is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gradtool.toml", "pyproject.toml"])
@pytest.mark.parametrize("owner", ["file", "link"])
def test_files_of_other_users_do_not_count(
    gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, owner: str
) -> None:
    shared = folder / "shared"
    inner = shared / "mine"
    inner.mkdir(parents=True)
    shared.chmod(0o777)
    (inner / "m.py").write_text(MODEL, encoding="utf-8")
    written(folder, "seed = 7\n")
    text = "seed = 1\n" if name == "gradtool.toml" else "[tool.gradtool]\nseed = 1\n"
    if owner == "link":
        written(folder, text, "theirs.toml")
        (shared / name).symlink_to(folder / "theirs.toml")
    else:
        written(shared, text, name)
    monkeypatch.chdir(inner)
    given(monkeypatch, shared / name, 4242)
    done = gradtool("self", "config", "why", "--format", "tsv")
    assert "\t7\t" in done.out  # the next one upwards counts
    assert done.err.count(f"note: {shared / name} belongs to another user and is ignored") == 1
    assert "\t1\t" in gradtool("self", "config", "why", "--format", "tsv", "--config", str(shared / name)).out
    given(monkeypatch, shared / name, 0)
    done = gradtool("self", "config", "why", "--format", "tsv")
    assert "\t1\t" in done.out
    assert done.err == ""


def given(monkeypatch: pytest.MonkeyPatch, path: Path, user: int) -> None:
    """Have a file belong to a user, who is not the one that runs the test."""
    if os.geteuid() == 0:
        os.lchown(path, user, -1)
        return
    real = {"stat": os.stat, "lstat": os.lstat}

    def status(name: str) -> Any:
        def asked(at: Any, **more: Any) -> os.stat_result:
            told = real[name](at, **more)
            if os.path.abspath(os.fsdecode(at)) != str(path):
                return told
            return os.stat_result((*told[:4], user, *told[5:]))

        return asked

    for name in real:
        monkeypatch.setattr(configuration.os, name, status(name))


def test_a_foreign_file_that_says_nothing_of_gradtool_is_not_mentioned(
    gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(folder, "[tool.ruff]\n", "pyproject.toml")
    given(monkeypatch, folder / "pyproject.toml", 4242)
    assert gradtool("self", "config", "why").err == ""
