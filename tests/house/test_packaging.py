"""The list of packages fits the tree, and importing gradtool loads next to nothing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gradtool

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = {
    "gradtool": "engine/tool",
    "gradtool.paddle": "engine/paddle",
    "gradtool.engine": "engine",
    "gradtool.cli": "cli",
    "gradtool.viz": "viz",
}
"""Package -> folder, longest folder first wins."""


def package_of(folder: Path) -> str:
    """The import name of a folder of the tree."""
    relative = folder.relative_to(ROOT).as_posix()
    package, home = max(
        ((p, h) for p, h in FOLDERS.items() if relative == h or relative.startswith(h + "/")), key=lambda e: len(e[1])
    )
    return package + relative[len(home) :].replace("/", ".")


def test_every_package_of_the_tree_is_listed() -> None:
    there = {package_of(init.parent) for top in ("cli", "engine", "viz") for init in ROOT.glob(f"{top}/**/__init__.py")}
    listed = SETTINGS["tool"]["setuptools"]["packages"]
    assert sorted(there) == sorted(listed)
    assert len(set(listed)) == len(listed)


def test_every_folder_with_code_is_a_package() -> None:
    for top in ("cli", "engine", "viz"):
        for file in ROOT.glob(f"{top}/**/*.py"):
            assert (file.parent / "__init__.py").exists(), file


def test_folders_are_mapped_as_the_settings_say() -> None:
    assert SETTINGS["tool"]["setuptools"]["package-dir"] == FOLDERS


def left_behind(root: Path) -> list[Path]:
    """The files beside the Python files that no pattern of the package data takes along."""
    patterns = SETTINGS["tool"]["setuptools"]["package-data"]
    taken = {f for package, globs in patterns.items() for glob in globs for f in (root / home(package)).glob(glob)}
    files = [f for top in ("cli", "engine", "viz") for f in (root / top).rglob("*") if f.is_file()]
    return [f for f in files if f.suffix not in (".py", ".pyc") and f not in taken]


def home(package: str) -> str:
    """The folder of a package."""
    mapped = max((p for p in FOLDERS if package == p or package.startswith(p + ".")), key=len)
    return FOLDERS[mapped] + package[len(mapped) :].replace(".", "/")


def test_whatever_is_no_python_goes_along() -> None:
    assert not left_behind(ROOT)


def test_a_new_schema_goes_along_and_a_new_kind_of_file_is_seen(tmp_path: Path) -> None:
    for name in ("cli/schemas/novelty.json", "viz/page/novelty.mjs", "engine/novelty.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert left_behind(tmp_path) == [tmp_path / "engine/novelty.txt"]


def test_the_type_marker_goes_along() -> None:
    assert (ROOT / "engine/tool/py.typed").exists()
    assert SETTINGS["tool"]["setuptools"]["package-data"]["gradtool"] == ["py.typed"]


def test_versions_agree() -> None:
    assert gradtool.__version__ == SETTINGS["project"]["version"]


def loaded(code: str) -> set[str]:
    """The top-level modules in a fresh interpreter after *code*."""
    code += "\nimport sys; print(*{n.partition('.')[0] for n in sys.modules})"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(process.stdout.split())


def test_import_gradtool_loads_no_library() -> None:
    assert not loaded("import gradtool") & {"numpy", "click", "rich", "graphviz", "nbformat", "numba", "cupy"}


BACKWARD = """
from gradtool import paddle
paddle.enable_static()
loss = paddle.mean(paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 2))
paddle.static.append_backward(loss)
"""


@pytest.mark.parametrize(
    "code",
    [
        BACKWARD,
        "import gradtool.paddle.fluid as fluid; fluid.layers.relu(fluid.layers.data('x', [3]))",
        "from gradtool import paddle; paddle.static.Executor().run(paddle.static.Program())",
    ],
)
def test_the_engine_loads_numpy_only(code: str) -> None:
    modules = loaded(code)
    assert "numpy" in modules
    assert not modules & {"click", "rich", "graphviz", "nbformat", "numba", "cupy"}


def test_gradtool_is_imported_under_its_name_only(tmp_path: Path) -> None:
    copy = tmp_path / "someone"
    copy.mkdir()
    (copy / "__init__.py").write_text((ROOT / "engine/tool/__init__.py").read_text())
    process = subprocess.run(
        [sys.executable, "-c", "import someone"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert process.returncode == 1
    assert "this package is imported as 'gradtool', not as 'someone'" in process.stderr
