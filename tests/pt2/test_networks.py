"""Networks in the shape of public ones, and modules of many operators: values and gradients as torch computed them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.executor.scope import Scope, global_scope, scope_guard
from gradtool.engine.importers.pt2 import reading
from gradtool.engine.loading.from_python import load
from gradtool.paddle.utils import unique_name

SAVED = Path(__file__).parent / "saved"
NETWORKS = (
    "bert", "densenet", "efficientnet", "gpt", "gru", "lenet",
    "lstm", "mobilenet", "resnet", "squeezenet", "unet", "vit",
)  # fmt: skip
MODULES = (
    "activations", "binary", "detached", "elementwise", "losses", "making", "masks", "normalizations", "picking",
    "products", "recurrent", "reductions", "shapes", "sized", "windows", "written",
)  # fmt: skip
EXPORTED_ONLY = ("detached", "masks")
FORMS = [
    (name, form) for name in MODULES for form in ("exported", "core") if form != "core" or name not in EXPORTED_ONLY
]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    with scope_guard(Scope()), unique_name.guard():
        yield
    paddle.disable_static()


@pytest.fixture(scope="module")
def networks() -> dict[str, Any]:
    with np.load(SAVED / "networks.npz") as file:
        return dict(file)


@pytest.fixture(scope="module")
def modules() -> dict[str, Any]:
    with np.load(SAVED / "operators.npz") as file:
        return dict(file)


def part(recorded: dict[str, Any], begin: str) -> dict[str, Any]:
    """What was recorded under names that begin so, without that."""
    return {key.removeprefix(begin): value for key, value in recorded.items() if key.startswith(begin)}


def test_all_that_was_recorded_is_tested(networks: dict[str, Any], modules: dict[str, Any]) -> None:
    assert sorted({key.partition("/")[0] for key in networks}) == list(NETWORKS)
    assert sorted({key.partition("/")[0] for key in modules}) == list(MODULES)


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_of_networks_are_those_that_were_recorded(
    networks: dict[str, Any], name: str, tmp_path: Path
) -> None:
    path, feed = tmp_path / f"{name}.pt2", tmp_path / "feed.npz"
    path.write_bytes(networks[f"{name}/model"].tobytes())
    np.savez(feed, **{fed(path): networks[f"{name}/x"]}, label=networks[f"{name}/label"])
    model: Any = load(str(path), loss_fn="mse")
    table = model.backward(run=True, feed=str(feed))
    expected = part(networks, f"{name}/gradient/")
    gradients = {row.name: table.arrays[row.subject] for row in table.rows}
    assert sorted(gradients) == sorted(expected)
    for key in sorted(expected):
        np.testing.assert_allclose(gradients[key], expected[key], rtol=2e-3, atol=2e-6, err_msg=key)


def fed(path: Path) -> str:
    """The name of the one input of an archive."""
    with scope_guard(Scope()):
        program = reading.read(path.read_bytes(), path.name).program
    return next(v.name for v in program.global_block().vars.values() if v.is_data)


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_values_and_gradients_of_modules_are_those_that_were_recorded(
    modules: dict[str, Any], name: str, form: str
) -> None:
    program, outputs, *_ = reading.read(modules[f"{name}/{form}"].tobytes(), "model.pt2")
    paddle.enable_static()
    results = [program.global_block().vars[n] for n in outputs]
    with paddle.static.program_guard(program):
        pairs = paddle.static.append_backward(results[-1])
    data = next(v.name for v in program.global_block().vars.values() if v.is_data)
    values = paddle.static.Executor().run(
        program, feed={data: modules[f"{name}/x"]}, fetch_list=[*results, *(gradient for _, gradient in pairs)]
    )
    expected = [modules[f"{name}/y/{i}"] for i in range(len(part(modules, f"{name}/y/")))]
    assert len(results) == len(expected)
    for i, (value, wanted) in enumerate(zip(values, expected, strict=False)):
        close(value, wanted, f"output {i}, {outputs[i]}")
    gradients = {p.name: value for (p, _), value in zip(pairs, values[len(results) :], strict=True)}
    recorded = part(modules, f"{name}/gradient/")
    assert sorted(gradients) == sorted(recorded)
    for key, wanted in recorded.items():
        close(gradients[key], wanted, key)
    for key, wanted in part(modules, f"{name}/after/").items():
        close(global_scope().values[key], wanted, key)


def close(value: Any, wanted: Any, what: str) -> None:
    """Compare as many digits as the type of the elements has."""
    rough = {"float16": 2e-3, "bfloat16": 8e-3}.get(value.dtype.name, 5e-5)
    assert list(value.shape) == list(wanted.shape), what
    np.testing.assert_allclose(value.astype(wanted.dtype), wanted, rtol=rough, atol=rough / 2, err_msg=what)
