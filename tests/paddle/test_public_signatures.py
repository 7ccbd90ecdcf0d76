"""Parameters and defaults of public functions, classes and methods are Paddle's.

``record_signatures.py`` wrote them down. What 3.3.1 added (``out``, ``device``, ``inplace``, …) may be missing: then
the parameters are those of 3.1.1.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from gradtool import paddle
from tests.paddle.record_signatures import OUT, signatures

RECORDED: dict[str, dict[str, str]] = json.loads(OUT.read_text(encoding="utf-8"))
PACKAGES = sorted({name.partition(".")[0] if "." in name else "" for names in RECORDED.values() for name in names})
"""The first parts of the names; of functions of ``paddle`` itself none."""


@cache
def ours() -> dict[str, str]:
    """Return the parameters of everything public, by name: looked up once, where a test first wants them."""
    return signatures(paddle)


BACKEND = "says what computes, a choice of ours"
BUILT = "built by the engine's functions, not by users"
LAYOUT = "None stands for the layout with the channels first, as the layer's number of dimensions names it"
HANDS_ON = "hands its arguments on"
ONE_BY_ONE = "takes numbers one by one too, as Paddle does by a decorator"
BOTH_ORDERS = "takes the arguments of 3.1.1, and those of 3.3.1, where inplace comes before one of them"
LENIENT = "a parameter that Paddle demands has a default"
LAYOUTS = (
    "BatchNorm1D BatchNorm2D BatchNorm3D CircularPad1D CircularPad1d CircularPad2D CircularPad2d CircularPad3D "
    "CircularPad3d ConstantPad1D ConstantPad1d ConstantPad2D ConstantPad2d ConstantPad3D ConstantPad3d Conv1D Conv1d "
    "Conv2D Conv2d Conv3D Conv3d Dropout2D Dropout3D InstanceNorm1D InstanceNorm2D InstanceNorm3D MaxUnPool1D "
    "MaxUnPool2D MaxUnPool3D MaxUnpool1d MaxUnpool2d MaxUnpool3d Pad1D Pad2D Pad3D ReflectionPad1D ReflectionPad1d "
    "ReflectionPad2D ReflectionPad2d ReflectionPad3D ReflectionPad3d ReplicationPad1D ReplicationPad1d "
    "ReplicationPad2D ReplicationPad2d ReplicationPad3D ReplicationPad3d ZeroPad1D ZeroPad1d ZeroPad2D ZeroPad2d "
    "ZeroPad3D ZeroPad3d"
)
SIZES = "takes sizes one by one, as Paddle's does by a decorator"

DIFFERENCES = {
    **dict.fromkeys([f"nn.{name}" for name in LAYOUTS.split()], LAYOUT),
    "DataParallel.state_dict": "keep_vars as in every layer",
    "Tensor": BUILT,
    "Tensor.contiguous": "takes anything, as all tensors are in one piece",
    "Tensor.fill_": LENIENT,
    "Tensor.item": "the arguments have a name of their own",
    "Tensor.new_empty": SIZES,
    "Tensor.new_ones": SIZES,
    "Tensor.new_zeros": SIZES,
    "Tensor.normal_": HANDS_ON,
    "Tensor.numpy": "names the argument that Paddle takes without saying so",
    "Tensor.to": "names what **kwargs may hold",
    "Tensor.uniform_": HANDS_ON,
    "Tensor.view": SIZES,
    "Tensor.zero_": LENIENT,
    "autograd.no_grad": "says what is wrong with @no_grad without parentheses",
    "base.Executor": BACKEND,
    "base.Variable": BUILT,
    "base.Variable.backward": "as a Tensor's, for a program that is built as if it ran",
    "base.Variable.clear_gradient": "as a Tensor's",
    "base.Program.switch_name_generator_guard": LENIENT,
    "base.Program.to_string": LENIENT,
    "base.Variable.to_string": LENIENT,
    "base.executor.Executor": BACKEND,
    "base.framework.Block": BUILT,
    "base.framework.Block.append_op": "Paddle's hands on whatever comes",
    "base.framework.Block.create_parameter": "Paddle's hands on whatever comes",
    "base.framework.Block.create_var": "Paddle's hands on whatever comes",
    "base.framework.Block.to_string": LENIENT,
    "base.framework.Operator": BUILT,
    "base.framework.Operator.to_string": LENIENT,
    "base.framework.Parameter": BUILT,
    "base.framework.Variable": BUILT,
    "base.framework.convert_np_dtype_to_dtype_": "is the function that names every type",
    "base.unique_name.switch": "names of Paddle's own layers are not checked",
    "linalg.matrix_norm": "the same dimensions, in a tuple, which nobody can change by accident",
    "framework.Block": BUILT,
    "framework.Parameter": BUILT,
    "framework.load": "names the one setting that **configs may hold",
    "load": "names the one setting that **configs may hold",
    "nn.Dropout": BOTH_ORDERS,
    "nn.functional.dropout": BOTH_ORDERS,
    "nn.MultiHeadAttention.gen_cache": "the class is gradtool's",
    "nn.Parameter": "names what **kwargs may hold",
    "no_grad": "says what is wrong with @no_grad without parentheses",
    "randint": "the default shape is a tuple, which nobody can change",
    "sigmoid": "3.1.1 did not have it; out is not taken",
    "static.Executor": BACKEND,
    "utils.assert_same_structure": "skip_if is for Paddle's own loops",
    **dict.fromkeys(
        ["Tensor.permute", "Tensor.repeat", "Tensor.swapaxes", "permute", "swapaxes", "swapdims"], ONE_BY_ONE
    ),
    "static.Variable": BUILT,
}
"""Name -> why its parameters are not Paddle's."""


def forwards(parameters: str) -> bool:
    """Whether whatever comes is handed on to a function whose parameters are compared."""
    return parameters.endswith(("*args, **named", "*inputs", "*inputs, **named")) and "name=None" not in parameters


def listed(name: str, parameters: str) -> list[str]:
    """The parameters, without the signs between them, and without what a method calls its object."""
    parts = [p for p in parameters.split(", ") if p not in ("*", "/")]
    owner, _, method = name.rpartition(".")
    return parts[1:] if method and owner in ours() else parts


SECOND_HOMES = ("nn.layer.", "base.dygraph.base.", "common_ops_import.", "framework.random.")
"""Modules that have what other packages have; ``test_old_modules.py`` says so."""


def compared() -> list[str]:
    """Return the names that are here and in Paddle, but for those that hand on whatever comes."""
    return [
        name
        for name, parameters in ours().items()
        if any(name in r for r in RECORDED.values()) and not (forwards(parameters) or name.startswith(SECOND_HOMES))
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_parameters_and_defaults(package: str) -> None:
    names = [n for n in compared() if (n.partition(".")[0] if "." in n else "") == package]
    accepted = {n: [r[n] for r in RECORDED.values() if n in r] for n in names}
    others = [n for n in names if listed(n, ours()[n]) not in [listed(n, text) for text in accepted[n]]]
    differences = sorted(DIFFERENCES.keys() & set(names))
    assert sorted(others) == differences, [(n, ours()[n], accepted[n]) for n in {*others} ^ {*differences}]


def test_most_names_are_compared() -> None:
    assert len(compared()) > 700
    assert DIFFERENCES.keys() <= set(compared())
