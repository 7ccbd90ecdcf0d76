"""``paddle.base`` and ``paddle.fluid`` are the same objects under their former names."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import NotImplementedHere, UnsupportedError
from gradtool.paddle import _alias, base, fluid
from gradtool.paddle.framework import IgnoredFlagWarning

SAME = {
    "Program": paddle.static.Program,
    "Variable": paddle.static.Variable,
    "Executor": paddle.static.Executor,
    "Scope": paddle.static.Scope,
    "global_scope": paddle.static.global_scope,
    "scope_guard": paddle.static.scope_guard,
    "default_main_program": paddle.static.default_main_program,
    "default_startup_program": paddle.static.default_startup_program,
    "program_guard": paddle.static.program_guard,
    "name_scope": paddle.static.name_scope,
    "append_backward": paddle.static.append_backward,
    "gradients": paddle.static.gradients,
    "ParamAttr": paddle.ParamAttr,
    "CPUPlace": paddle.CPUPlace,
    "set_flags": paddle.set_flags,
    "get_flags": paddle.get_flags,
    "is_compiled_with_cuda": paddle.is_compiled_with_cuda,
}

old_packages = pytest.mark.parametrize("package", [base, fluid], ids=["base", "fluid"])


@old_packages
def test_names_stand_for_the_same_objects(package: Any) -> None:
    for name, value in SAME.items():
        assert getattr(package, name) is value, name


@old_packages
def test_modules_stand_for_the_same_objects(package: Any) -> None:
    assert package.framework.Program is package.executor.Executor.run.__globals__["Program"]
    assert package.framework.Parameter is paddle.framework.Parameter
    assert package.framework.Block is paddle.framework.Block
    assert package.framework.Operator is type(paddle.full([1], 1.0).op)
    assert package.backward.append_backward is paddle.static.append_backward
    assert package.backward.gradients is paddle.static.gradients
    assert package.core.Scope is paddle.static.Scope
    assert package.core.CPUPlace is paddle.CPUPlace
    assert package.param_attr.ParamAttr is paddle.ParamAttr
    assert package.unique_name.guard is paddle.utils.unique_name.guard
    assert not package.core.is_compiled_with_cuda()


@old_packages
def test_every_name_can_be_had(package: Any) -> None:
    modules = [m for m in vars(package).values() if isinstance(m, ModuleType) and m.__name__.startswith("gradtool.")]
    for module in (package, *modules):
        for name in dir(module):
            assert hasattr(module, name)


@old_packages
def test_a_program_of_the_old_kind_runs(package: Any) -> None:
    main, startup = package.Program(), package.Program()
    with package.program_guard(main, startup), package.unique_name.guard():
        x = paddle.static.data("x", [None, 3])
        w = main.global_block().create_parameter(
            name="w", shape=[3, 1], dtype="float32", initializer=None, trainable=True
        )
        block = main.global_block()
        out = block.create_var(
            name="out", dtype=package.core.VarDesc.VarType.FP32, type=package.core.VarDesc.VarType.LOD_TENSOR
        )
        block.append_op(type="mul", inputs={"X": [x], "Y": [w]}, outputs={"Out": [out]})
        loss = paddle.mean(out)
        (pair,) = package.backward.append_backward(loss, parameter_list=["w"])
        assert package.backward.calc_gradient(loss, out).name.endswith("out@GRAD")
    exe = package.Executor(package.CPUPlace())
    scope = package.core.Scope()
    with package.scope_guard(scope):
        scope.var("w").get_tensor().set(np.ones((3, 1), "float32"), package.CPUPlace())
        (slope,) = exe.run(main, feed={"x": np.full((2, 3), 2, "float32")}, fetch_list=[pair[1]])
    np.testing.assert_array_equal(slope, np.full((3, 1), 2))


def test_calc_gradient_returns_one_gradient_for_one_input() -> None:
    x = fluid.layers.data("x", [3], stop_gradient=False)
    y = fluid.layers.square(x)
    unrelated = fluid.layers.data("unrelated", [3], stop_gradient=False)
    assert fluid.backward.calc_gradient(y, x).name == "x@GRAD"
    assert fluid.backward.calc_gradient(y, unrelated) is None
    assert len(fluid.backward.calc_gradient(y, [x, y])) == 2
    assert fluid.gradients([y], unrelated) == [None]


@pytest.mark.parametrize(
    ("code", "static"),
    [
        ("import paddle.fluid as fluid; fluid.layers.data('x', [3])", True),
        ("from paddle import fluid; fluid.layers.fill_constant([1], 'float32', 0.0)", True),
        ("import paddle.fluid as fluid, paddle; paddle.nn.Linear(2, 3)", False),
        ("import paddle.fluid.layers, paddle; paddle.ones([2])", False),
        ("import paddle, paddle.fluid; paddle.in_dynamic_mode()", False),
        ("import paddle; paddle.disable_static(); import paddle.fluid", False),
        ("import paddle; paddle.enable_static(); import paddle.fluid; paddle.ones([2])", True),
        ("import paddle.base; paddle.base.default_main_program()", False),
    ],
)
def test_what_is_called_first_decides_the_mode_after_fluid(code: str, static: bool) -> None:
    with state.keep_state(), _alias.active():
        state.begin_anew()
        exec(code, {})
        assert bool(state.in_static_mode()) is static


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("dataset", "data sets of the old kind"),
        ("ParallelExecutor", "give the program to an Executor"),
        ("nonsense", "is not implemented in gradtool"),
    ],
)
@old_packages
def test_names_that_are_missing_say_so(package: Any, name: str, about: str) -> None:
    with pytest.raises(NotImplementedHere, match=about):
        getattr(package, name).QueueDataset()  # of version 3 there is a module


# -- modes, places and flags ----------------------------------------------------------------------------------------


def test_modes() -> None:
    assert not base.in_dygraph_mode()
    assert not base.framework.in_dynamic_or_pir_mode()
    assert not base.in_pir_mode()
    fluid.enable_dygraph(fluid.CPUPlace())
    assert base.in_dygraph_mode()
    assert paddle.in_dynamic_mode()
    fluid.disable_dygraph()
    assert state.in_static_mode()


def test_constants() -> None:
    assert base.framework.grad_var_name("w") == "w@GRAD"
    assert base.framework.GRAD_VAR_SUFFIX == "@GRAD"
    assert base.framework.EMPTY_VAR_NAME == "@EMPTY@"
    assert base.framework.convert_np_dtype_to_dtype_("int64") is paddle.int64
    assert base.core.VarDesc.VarType.FP32 is paddle.float32


def test_places() -> None:
    assert repr(paddle.CPUPlace()) == "Place(cpu)"
    assert paddle.CPUPlace() == base.core.CPUPlace()
    assert len({paddle.CPUPlace(), base.CPUPlace()}) == 1
    assert paddle.CPUPlace() != "cpu"
    assert paddle.static.cpu_places(2) == [paddle.CPUPlace()] * 2
    assert paddle.set_device("cpu") == paddle.set_device("CPU:0") == paddle.CPUPlace()
    assert (paddle.get_device(), paddle.device.get_device()) == ("cpu", "cpu")
    for name in ("cuda", "rocm", "xpu", "cinn"):
        assert getattr(paddle.device, f"is_compiled_with_{name}")() is False


def test_cpu_num_says_how_many_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CPU_NUM", raising=False)
    assert len(paddle.static.cpu_places()) == 1
    monkeypatch.setenv("CPU_NUM", "3")
    assert len(paddle.static.cpu_places()) == 3


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: paddle.XPUPlace(0), ValueError),
        (lambda: paddle.static.cuda_places(), AssertionError),
        (lambda: paddle.set_device("xpu"), ValueError),
        (lambda: paddle.set_device("npu:1"), UnsupportedError),
        (lambda: paddle.set_device("toaster"), ValueError),
        (lambda: paddle.set_device(1.5), TypeError),
    ],
)
def test_there_is_only_the_cpu(ask: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        ask()


def test_default_dtype() -> None:
    assert paddle.get_default_dtype() == "float32"
    paddle.set_default_dtype("float64")
    assert paddle.static.data("x", [2]).dtype is paddle.float64
    with pytest.raises(TypeError, match="received int32"):
        paddle.set_default_dtype("int32")
    assert paddle.get_default_dtype() == "float64"


def test_flags() -> None:
    assert paddle.get_flags("FLAGS_benchmark") == {"FLAGS_benchmark": False}
    try:
        base.set_flags({"FLAGS_benchmark": 1, "FLAGS_eager_delete_tensor_gb": 2})
        assert paddle.get_flags(["FLAGS_benchmark", "FLAGS_eager_delete_tensor_gb"]) == {
            "FLAGS_benchmark": True,
            "FLAGS_eager_delete_tensor_gb": 2.0,
        }
    finally:
        paddle.set_flags({"FLAGS_benchmark": False, "FLAGS_eager_delete_tensor_gb": 0.0})
    paddle.set_flags({"FLAGS_check_nan_inf": False})


@pytest.mark.parametrize(
    ("ask", "error", "about"),
    [
        (lambda: paddle.get_flags("nope"), ValueError, "nope cannot get"),
        (lambda: paddle.get_flags(3), TypeError, "list, tuple or string"),
        (lambda: paddle.set_flags({"nope": 1}), ValueError, "nope cannot set"),
        (lambda: paddle.set_flags({"benchmark": True}), ValueError, "did you mean 'FLAGS_benchmark'"),
        (lambda: paddle.set_flags(["FLAGS_benchmark"]), TypeError, "should be a dict"),
        (lambda: paddle.set_flags({"FLAGS_benchmark": "yes"}), TypeError, "of type bool"),
        (lambda: paddle.set_flags({"FLAGS_allocator_strategy": 3}), TypeError, "of type str"),
        (lambda: paddle.set_flags({"FLAGS_prim_all": True}), UnsupportedError, "can only be False"),
    ],
)
def test_flags_that_cannot_be_had(ask: Callable[[], object], error: type[Exception], about: str) -> None:
    with pytest.raises(error, match=about):
        ask()


def test_a_flag_that_is_done_otherwise_is_kept_with_a_warning() -> None:
    with pytest.warns(IgnoredFlagWarning, match="FLAGS_check_nan_inf is not followed: .* gradtool nan says"):
        paddle.set_flags({"FLAGS_check_nan_inf": 1})
    assert paddle.get_flags("FLAGS_check_nan_inf") == {"FLAGS_check_nan_inf": True}
    paddle.set_flags({"FLAGS_check_nan_inf": False})


def test_nothing_is_set_when_one_flag_is_wrong() -> None:
    with pytest.raises(ValueError, match="nope"):
        paddle.set_flags({"FLAGS_benchmark": True, "nope": 1})
    assert paddle.get_flags("FLAGS_benchmark") == {"FLAGS_benchmark": False}


# -- initializers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("initializer", "type_", "attributes"),
    [
        (fluid.initializer.Constant(2.0), "fill_constant", {"value": 2.0}),
        (fluid.initializer.ConstantInitializer(value=1.0, force_cpu=True), "fill_constant", {"force_cpu": True}),
        (fluid.initializer.Uniform(-0.5, 0.5, seed=7), "uniform_random", {"min": -0.5, "max": 0.5, "seed": 7}),
        (fluid.initializer.Normal(loc=1.0, scale=2.0), "gaussian_random", {"mean": 1.0, "std": 2.0, "seed": 0}),
        (fluid.initializer.TruncatedNormal(0.0, 2.0, 5), "truncated_gaussian_random", {"std": 2.0, "seed": 5}),
        (fluid.initializer.Xavier(), "uniform_random", {"max": (6 / 7) ** 0.5}),
        (fluid.initializer.Xavier(uniform=False), "gaussian_random", {"std": (2 / 7) ** 0.5}),
        (fluid.initializer.MSRA(), "uniform_random", {"max": (6 / 3) ** 0.5}),
        (fluid.initializer.MSRA(uniform=False, fan_in=8), "gaussian_random", {"std": 0.5}),
    ],
)
def test_initializers_take_the_old_arguments(initializer: Any, type_: str, attributes: dict[str, Any]) -> None:
    fluid.layers.create_parameter([3, 4], "float32", attr=fluid.ParamAttr(initializer=initializer))
    (op,) = fluid.default_startup_program().global_block().ops
    assert op.type == type_
    for name, value in attributes.items():
        assert op.attr(name) == pytest.approx(value), name


def test_a_parameter_starts_as_an_array() -> None:
    start = np.arange(6, dtype="float32").reshape(2, 3)
    w = fluid.layers.create_parameter(
        [2, 3], "float32", default_initializer=fluid.initializer.NumpyArrayInitializer(start)
    )
    fluid.Executor().run(fluid.default_startup_program())
    np.testing.assert_array_equal(np.array(w.get_value()), start)


def test_old_modules_can_be_imported_by_name() -> None:
    for package in ("base", "fluid"):
        for module in ("backward", "core", "executor", "framework", "initializer", "param_attr", "unique_name"):
            loaded = importlib.import_module(f"gradtool.paddle.{package}.{module}")
            assert loaded is getattr(getattr(paddle, package), module)
