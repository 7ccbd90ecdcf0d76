"""Import statements of public models resolve: ``import_lines.txt`` has those of Paddle 1.8 to 3.3."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gradtool.engine.core.errors import NotImplementedHere
from gradtool.paddle import _alias, _old_paths

LINES = Path(__file__).with_name("import_lines.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("family", sorted({line.split()[1].split(".")[1] for line in LINES if "." in line.split()[1]}))
def test_what_public_models_import_is_there(family: str) -> None:
    with _alias.active():
        for line in LINES:
            if line.split()[1].partition(".")[2].partition(".")[0] == family:
                exec(line, {})


def test_lines_that_import_from_the_package_itself() -> None:
    with _alias.active():
        for line in LINES:
            if "." not in line.split()[1]:
                exec(line, {})


def test_every_module_of_the_table_can_be_imported_and_asked() -> None:
    for path in _old_paths.HOMES:
        __import__(path)
        module = sys.modules[path]
        for name in [*dir(module)][:5]:
            assert hasattr(module, name), f"{path}.{name}"
        assert not hasattr(module, "nonsense")


def test_a_module_does_not_take_the_place_of_a_function_of_its_name() -> None:
    import gradtool.paddle.amp.auto_cast
    import gradtool.paddle.distributed.fleet.recompute.recompute
    import gradtool.paddle.incubate.nn.functional.fused_bias_act
    import gradtool.paddle.incubate.nn.functional.fused_linear
    import gradtool.paddle.tensor.einsum

    assert callable(gradtool.paddle.amp.auto_cast)
    assert callable(gradtool.paddle.incubate.nn.functional.fused_bias_act)
    assert callable(gradtool.paddle.incubate.nn.functional.fused_linear)
    assert gradtool.paddle.tensor.einsum is gradtool.paddle.einsum  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("from paddle.fluid.dygraph.nn import TreeConv", "its arguments of version 1 are not here"),
        ("from paddle.fluid.layers.control_flow import StaticRNN", "write a loop with paddle.static.nn.while_loop"),
        ("from paddle.fluid.contrib.slim import quantization", "quantised models"),
        ("from paddle._C_ops import matmul", "kernels by their names"),
        ("import paddle.tensorrt", "running exported models"),
        ("from paddle.fluid.nothing import x", r"paddle\.fluid\.nothing is not implemented"),
    ],
)
def test_what_is_not_there_is_refused_with_its_reason(line: str, about: str) -> None:
    with _alias.active(), pytest.raises(ImportError, match=about):
        exec(line, {})


def test_an_attribute_that_is_not_there_is_refused_as_well() -> None:
    from gradtool.paddle.fluid.layers import control_flow

    with pytest.raises(NotImplementedHere, match=r"paddle\.fluid\.layers\.control_flow\.Switch is not"):
        control_flow.Switch  # noqa: B018
