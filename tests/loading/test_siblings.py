"""Modules beside a model are the model's own: two models in one process share none, and none is left behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import gradtool
from tests.cli.conftest import Run

EAGER = """
import paddle
from {module} import WIDTH
w = paddle.create_parameter([WIDTH], "float32")
loss = (w * 2).sum()
"""
STATIC = """
import paddle
paddle.enable_static()
from {module} import WIDTH
w = paddle.create_parameter([WIDTH], "float32")
loss = paddle.sum(w * 2)
"""


@pytest.fixture(params=[EAGER, STATIC], ids=["eager", "static"])
def text(request: pytest.FixtureRequest) -> str:
    text: str = request.param
    return text


def widths(path: str) -> list[int]:
    return [row["shape"] for row in gradtool.load(path).backward().data["parameters"]]


def project(folder: Path, text: str, width: int, module: str = "nets") -> str:
    """A model with a module beside it; in a package if the module's name has a dot."""
    home = folder / f"project_{width}"
    package, _, name = f"{module}".rpartition(".")
    (home / package).mkdir(parents=True)
    if package:
        (home / package / "__init__.py").write_text("")
    (home / package / f"{name}.py").write_text(f"WIDTH = {width}\n")
    (home / "train.py").write_text(text.format(module=module))
    return str(home / "train.py")


@pytest.mark.parametrize("module", ["nets", "parts.nets"])
def test_two_models_have_their_own_modules(folder: Path, text: str, module: str) -> None:
    first, second = project(folder, text, 3, module), project(folder, text, 5, module)
    assert [widths(first), widths(second), widths(first)] == [[[3]], [[5]], [[3]]]
    assert module not in sys.modules
    assert module.partition(".")[0] not in sys.modules


def test_a_model_sees_its_modules_as_they_are_now(folder: Path, text: str) -> None:
    path = project(folder, text, 3)
    assert widths(path) == [[3]]
    Path(path).with_name("nets.py").write_text("WIDTH = 2 + 2\n")
    assert widths(path) == [[4]]


@pytest.mark.usefixtures("own_modules")
def test_what_the_process_had_imported_stands_there_again(
    folder: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "nets.py").write_text("WIDTH = 7\n")
    monkeypatch.syspath_prepend(str(folder))
    import nets  # type: ignore[import-not-found]

    assert widths(project(folder, text, 3)) == [[3]]
    assert sys.modules["nets"] is nets
    (folder / "train.py").write_text(text.format(module="nets"))
    nets.WIDTH = 11  # the process's own: a model begins with what the file says
    assert widths("train.py") == [[7]]
    assert sys.modules["nets"] is nets
    assert nets.WIDTH == 11


@pytest.mark.usefixtures("own_modules")
def test_installed_packages_stay(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "site" / "installed_once").mkdir(parents=True)
    (folder / "site" / "installed_once" / "__init__.py").write_text("WIDTH = 3\nfrom . import part\n")
    (folder / "site" / "installed_once" / "part.py").write_text("")
    monkeypatch.syspath_prepend(str(folder / "site"))
    assert widths(project(folder, text, 6, "nets")) == [[6]]
    (folder / "train.py").write_text(text.format(module="installed_once"))
    assert widths("train.py") == [[3]]
    assert {"installed_once", "installed_once.part"} <= sys.modules.keys()


def test_modules_from_folders_that_a_script_adds_go_with_it(folder: Path, text: str) -> None:
    (folder / "library").mkdir()
    (folder / "library" / "shelf.py").write_text("WIDTH = 2\n")
    (folder / "scripts").mkdir()
    added = f"import sys\nsys.path.append({str(folder / 'library')!r})\n"
    (folder / "scripts" / "train.py").write_text(added + text.format(module="shelf"))
    assert widths("scripts/train.py") == [[2]]
    assert "shelf" not in sys.modules


def test_a_module_of_a_package_runs_within_its_package(gradtool: Run, folder: Path, text: str) -> None:
    (folder / "figures").mkdir()
    (folder / "figures" / "__init__.py").write_text("import paddle\nTIMES = []\n")
    (folder / "figures" / "sizes.py").write_text("from . import TIMES\nTIMES.append(1)\nWIDTH = 3 * len(TIMES)\n")
    (folder / "figures" / "train.py").write_text(text.format(module=".sizes"))
    for words in (["-m", "figures.train"], ["figures.train"]):
        done = gradtool("backward", *words, "--format", "json")
        assert json.loads(done.out)["parameters"][0]["shape"] == [3], done.err
    assert "figures" not in sys.modules


def test_an_error_in_a_package_is_told_with_its_line(gradtool: Run, folder: Path, text: str) -> None:
    (folder / "figures").mkdir()
    (folder / "figures" / "__init__.py").write_text("import no_such_module\n")
    (folder / "figures" / "train.py").write_text(text)
    done = gradtool("backward", "-m", "figures.train")
    assert done.code == 3
    assert 'figures/__init__.py", line 1, in <module>\n      import no_such_module' in done.err
    assert "figures" not in sys.modules


@pytest.mark.parametrize("words", [["-m", "figures"], ["-m", "figures.__main__"], ["figures"]])
def test_a_package_is_its_main_module(gradtool: Run, folder: Path, text: str, words: list[str]) -> None:
    (folder / "figures").mkdir()
    (folder / "figures" / "__init__.py").write_text("")
    (folder / "figures" / "sizes.py").write_text("WIDTH = 3\n")
    module = "figures.sizes" if "-m" in words else "sizes"
    (folder / "figures" / "__main__.py").write_text(text.format(module=module))
    done = gradtool("backward", *words, "--format", "json")
    assert json.loads(done.out)["parameters"][0]["shape"] == [3], done.err


def test_a_package_without_a_main_module_is_no_model(gradtool: Run, folder: Path) -> None:
    (folder / "figures").mkdir()
    (folder / "figures" / "__init__.py").write_text("")
    done = gradtool("backward", "-m", "figures")
    assert (done.code, "figures: a package without __main__.py" in done.err) == (2, True)
