"""``Print``, ``Assert``, ``py_func`` and ``static_pylayer``, in programs and on tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import user_functions
from gradtool.engine.core.errors import ExecutionError, KernelError, ModeError
from gradtool.engine.ir.verify import verify
from gradtool.engine.ops.library.effects import AssertionFailed

static = paddle.static
nn = paddle.static.nn

PRINTED = """\
Variable: {}
  - message: now
  - lod: {{}}
  - place: Place(cpu)
  - shape: [2]
  - layout: NCHW
  - dtype: float32
  - data: [{}]
"""


@pytest.fixture
def program() -> Iterator[Any]:
    paddle.enable_static()
    with static.program_guard(static.Program(), static.Program()):
        yield static.default_main_program()
    paddle.disable_static()


def data(name: str = "x", shape: tuple[int, ...] = (2,)) -> Any:
    v = static.data(name, shape, "float32")
    v.stop_gradient = False
    return v


def run(fetch: list[Any], **feed: Any) -> list[Any]:
    verify(static.default_main_program())
    return static.Executor().run(feed=feed, fetch_list=fetch)


ONES = np.ones(2, "float32")


class TestPrint:
    def test_values_and_gradients(self, program: Any, capsys: pytest.CaptureFixture[str]) -> None:
        x = data()
        h = static.Print(x * 2.0, message="now")
        (g,) = static.gradients(paddle.sum(h), [x])
        run([h, g], x=ONES)
        assert capsys.readouterr().out == PRINTED.format("tmp_0", "2 2") + PRINTED.format("print_0.tmp_0@GRAD", "1 1")
        assert [o.type for o in program.global_block().ops].count("print") == 2

    def test_the_forward_part_prints_though_nobody_reads_it(self, program: Any, capsys: Any) -> None:
        x = data()
        static.Print(x * 2.0)
        run([x * 3.0], x=ONES)
        assert "tmp_0" in capsys.readouterr().out

    def test_only_the_first_times(self, program: Any, capsys: Any) -> None:
        h = static.Print(data() * 2.0, first_n=2)
        for _ in range(3):
            run([h], x=ONES)
        assert capsys.readouterr().out.count("Variable: tmp_0") == 2

    @pytest.mark.parametrize(("phase", "shown"), [("forward", ["tmp_0"]), ("backward", ["print_0.tmp_0@GRAD"])])
    def test_one_phase(self, program: Any, capsys: Any, phase: str, shown: list[str]) -> None:
        x = data()
        h = static.Print(x * 2.0, print_phase=phase)
        run([h, *static.gradients(paddle.sum(h), [x])], x=ONES)
        lines = capsys.readouterr().out.splitlines()
        assert [line.removeprefix("Variable: ") for line in lines if line.startswith("Variable")] == shown

    def test_what_is_left_out(self, program: Any, capsys: Any) -> None:
        h = static.Print(
            data(shape=(4,)),
            summarize=3,
            print_tensor_name=False,
            print_tensor_type=False,
            print_tensor_shape=False,
            print_tensor_layout=False,
            print_tensor_lod=False,
        )
        run([h], x=np.arange(4, dtype="float32") / 3)
        assert capsys.readouterr().out == "  - place: Place(cpu)\n  - data: [0 0.333333 0.666667]\n"

    def test_in_a_loop(self, program: Any, capsys: Any) -> None:
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
        i, _ = nn.while_loop(lambda i, x: i < n, lambda i, x: [i + 1, static.Print(x) * 2.0], [i, data() * 1.0])
        run([i], x=ONES)
        assert [line for line in capsys.readouterr().out.splitlines() if "data" in line] == [
            "  - data: [1 1]",
            "  - data: [2 2]",
            "  - data: [4 4]",
        ]

    def test_arguments(self, program: Any) -> None:
        with pytest.raises(TypeError, match="must be Variable"):
            static.Print(3)
        with pytest.raises(ValueError, match="print_phase"):
            static.Print(data(), print_phase="foo")

    def test_on_tensors(self, dynamic: None, capsys: pytest.CaptureFixture[str]) -> None:
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        static.Print(x * 3.0, message="now").sum().backward()
        assert capsys.readouterr().out == PRINTED.format("tensor", "3 6") + PRINTED.format("tensor@GRAD", "1 1")
        assert x.grad.tolist() == [3.0, 3.0]


class TestAssert:
    def test_it_holds_or_not(self, program: Any, capsys: pytest.CaptureFixture[str]) -> None:
        x = data()
        op = nn.control_flow.Assert(paddle.max(x) < 2.0, [x], summarize=1)
        assert op.type == "assert"
        y = x * 2.0
        assert run([y], x=ONES)[0].tolist() == [2.0, 2.0]
        with pytest.raises(ValueError, match="must be true, but received false") as caught:
            run([y], x=ONES * 3)
        assert isinstance(caught.value, AssertionFailed)
        assert "test_printing_checking_and_calling.py" in str(caught.value)
        assert capsys.readouterr().out.splitlines()[0] == "Variable: x"

    def test_in_a_branch_that_is_not_taken(self, program: Any) -> None:
        x, p = data(), static.data("p", [1], "bool")

        def checked() -> Any:
            nn.control_flow.Assert(paddle.max(x) < 2.0, [x])
            return x * 2.0

        y = nn.cond(p, checked, lambda: x)
        assert run([y], x=ONES * 3, p=np.array([False]))[0].tolist() == [3.0, 3.0]
        with pytest.raises(AssertionFailed):
            run([y], x=ONES * 3, p=np.array([True]))

    def test_arguments(self, program: Any) -> None:
        x = data()
        for arguments in ((x,), (x > 0.0, x), (x > 0.0, [x], "4"), (x > 0.0, [x], 4, 3)):
            with pytest.raises(TypeError):
                nn.control_flow.Assert(*arguments)

    def test_on_tensors(self, dynamic: None, capsys: pytest.CaptureFixture[str]) -> None:
        x = paddle.to_tensor([1.0, 2.0])
        assert nn.control_flow.Assert(paddle.max(x) < 3.0, [x]) is None
        with pytest.raises(AssertionFailed):
            nn.control_flow.Assert(paddle.max(x) < 2.0, [x])
        assert "data: [1 2]" in capsys.readouterr().out


class TestPyFunc:
    def out(self, program: Any, shape: tuple[int, ...] = (2,), dtype: str = "float32") -> Any:
        return program.current_block().create_var(shape=shape, dtype=dtype)

    def test_several_inputs_and_outputs(self, program: Any) -> None:
        x, y = data(), data("y")
        outs = [self.out(program), self.out(program)]

        def backward(a: Any, b: Any, s: Any, p: Any, ds: Any, dp: Any) -> Any:
            assert dp is None
            return [ds * 2, ds * 3]

        s, _ = static.py_func(lambda a, b: [a + b, a * b], [x, y], outs, backward)
        grads = static.gradients(paddle.sum(s), [x, y])
        got = run([*outs, *grads], x=ONES, y=ONES * 4)
        assert [v.tolist() for v in got] == [[5, 5], [4, 4], [2, 2], [3, 3]]

    def test_what_backward_need_not_see(self, program: Any) -> None:
        x = data()
        seen: list[int] = []

        def backward(*arguments: Any) -> Any:
            seen.append(len(arguments))
            return arguments[-1] * 2

        h = x * 1.0
        y = static.py_func(lambda a: a * 2, h, self.out(program), backward, skip_vars_in_backward_input=h)
        (g,) = static.gradients(paddle.sum(y), [x])
        run([g], x=ONES)
        assert seen == [2]

    def test_without_a_backward_function_no_gradient_passes(self, program: Any) -> None:
        x = data()
        y = static.py_func(lambda a: a * 2, x * 1.0, self.out(program))
        assert static.gradients(paddle.sum(y * x), [x])[0] is not None
        assert static.gradients(paddle.sum(y), [x]) == [None]

    def test_looking_only(self, program: Any) -> None:
        seen: list[Any] = []
        x = data()
        assert static.py_func(lambda a: seen.append(a.tolist()), x * 2.0, None) is None
        run([x * 3.0], x=ONES)
        assert seen == [[2.0, 2.0]]

    def test_inputs_cannot_be_changed(self, program: Any) -> None:
        def spoil(a: Any) -> Any:
            a += 1
            return a

        y = static.py_func(spoil, data(), self.out(program))
        with pytest.raises(KernelError, match="read-only"):
            run([y], x=ONES)

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda a: [a, a], "2 results"),
            (lambda a: np.zeros((3,), "float32"), "declared as"),
            (lambda a: a.astype("complex64"), "declared as"),
        ],
    )
    def test_results_are_checked(self, program: Any, function: Any, message: str) -> None:
        y = static.py_func(function, data(), self.out(program))
        with pytest.raises(KernelError, match=message):
            run([y], x=ONES)

    def test_arguments(self, program: Any) -> None:
        x = data()
        with pytest.raises(TypeError, match="func must be a Python function"):
            static.py_func(3, x, self.out(program))
        with pytest.raises(TypeError, match="'X' in py_func"):
            static.py_func(lambda a: a, 3, self.out(program))
        with pytest.raises(TypeError, match="'Out' in py_func"):
            static.py_func(lambda a: a, x, 3)
        with pytest.raises(ValueError, match="not found in forward inputs"):
            static.py_func(lambda a: a, x, self.out(program), lambda a: a, skip_vars_in_backward_input=data("z"))
        with pytest.raises(ValueError, match="Output shapes of py_func"):
            static.py_func(lambda a: a, x, self.out(program, ()))

    def test_a_program_holds_numbers_and_reading_one_runs_nothing(self, program: Any) -> None:
        calls: list[int] = []
        y = static.py_func(lambda a: calls.append(1) or a, data(), self.out(program))
        parsed = static.Program.parse_from_string(str(program))
        assert calls == []
        number = program.global_block().ops[-1].attr("forward_callable_id")
        elsewhere = str(program).replace(f"forward_callable_id = {number},", "forward_callable_id = 123456,")
        unknown = static.Program.parse_from_string(elsewhere)
        with pytest.raises(ExecutionError, match="function 123456") as caught:
            static.Executor().run(unknown, feed={"x": ONES}, fetch_list=[y.name])
        assert "not stored" in str(caught.value)
        assert static.Executor().run(parsed, feed={"x": ONES}, fetch_list=[y.name])[0].tolist() == [1.0, 1.0]
        assert user_functions.call(number, [ONES])[0].tolist() == [1.0, 1.0]

    def test_on_tensors(self, dynamic: None) -> None:
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        out = paddle.zeros([2])
        y = static.py_func(np.tanh, x, out, lambda a, y, dy: dy * (1 - y * y))
        assert y is out
        y.sum().backward()
        assert np.allclose(x.grad.numpy(), 1 - np.tanh([1.0, 2.0]) ** 2)
        assert static.py_func(lambda a: None, x, None) is None
        assert static.py_func(np.tanh, x, paddle.zeros([2])).stop_gradient


class TestStaticPyLayer:
    def test_the_gradient_is_what_the_user_says(self, program: Any) -> None:
        x = data()
        y = nn.static_pylayer(paddle.exp, [x], lambda dy: 2 * paddle.exp(dy))
        (g,) = static.gradients([y], [x])
        got = run([y, g], x=ONES)
        assert np.allclose(got[0], np.e)
        assert np.allclose(got[1], 2 * np.e)
        assert [o.type for o in program.global_block().ops] == ["pylayer", "fill_any_like", "pylayer_grad"]
        text = str(program)
        assert "blocks = blocks[[1, 2]]" in text
        assert str(static.Program.parse_from_string(text)) == text
        assert program.clone(for_test=True).num_blocks == 2

    def test_several_inputs_and_results_some_without_a_gradient(self, program: Any) -> None:
        x, w = data(), data("w")

        def forward(a: Any, b: Any) -> Any:
            return [a * b, a + b]

        def backward(dp: Any, ds: Any) -> Any:
            return dp * w + ds, None

        p, _ = nn.static_pylayer(forward, [x, w], backward)
        gx, gw = static.gradients(paddle.sum(p), [x, w])
        assert gw is None
        assert run([gx], x=ONES, w=ONES * 5)[0].tolist() == [5.0, 5.0]

    def test_in_a_loop(self, program: Any) -> None:
        x = data()
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")

        def step(i: Any, h: Any) -> Any:
            return [i + 1, nn.static_pylayer(lambda a: a * 2.0, [h], lambda d: d * 3.0)]

        _, h = nn.while_loop(lambda i, h: i < n, step, [i, x * 1.0])
        (g,) = static.gradients(paddle.sum(h), [x])
        got = run([h, g], x=ONES)
        assert [v.tolist() for v in got] == [[8.0, 8.0], [27.0, 27.0]]

    def test_arguments(self, program: Any) -> None:
        x = data()
        before = str(program)
        for arguments, error in (
            ((paddle.exp, x), AssertionError),
            ((3, [x]), AssertionError),
            ((paddle.exp, [x], 3), AssertionError),
            ((paddle.exp, [x]), ValueError),
            ((paddle.exp, [x], lambda d: [d, d]), ValueError),
            ((paddle.exp, [x], lambda d: paddle.sum(d)), ValueError),
            ((paddle.exp, [x], lambda d: 3), TypeError),
        ):
            with pytest.raises(error):
                nn.static_pylayer(*arguments)
            assert str(program) == before

    def test_dynamic_mode_has_another_one(self, dynamic: None) -> None:
        with pytest.raises(ModeError, match="PyLayer"):
            nn.static_pylayer(paddle.exp, [paddle.ones([2])])


def test_branches_and_loops_on_tensors(dynamic: None) -> None:
    x = paddle.to_tensor(2.0, stop_gradient=False)
    calls: list[str] = []
    y = nn.cond(x > 1.0, lambda: calls.append("true") or x * 3.0, lambda: calls.append("false"))
    y.backward()
    assert (calls, float(x.grad)) == (["true"], 3.0)
    assert nn.cond(x > 5.0, lambda: x) is None
    with pytest.raises(TypeError, match="must be callable"):
        nn.cond(x > 1.0, 3)
    with pytest.raises(ValueError, match="one element"):
        nn.cond(paddle.ones([2]) > 0.0, lambda: x)
    with pytest.raises(TypeError, match="Variable"):
        nn.cond(True, lambda: x)
    with pytest.raises(ValueError, match="same arity"):
        nn.while_loop(lambda i: i < 3, lambda i: [i, i], [paddle.zeros([1])])
    i, total = nn.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * x), [paddle.zeros([1]), x * 1.0])
    assert (float(i), float(total)) == (3.0, 16.0)
    assert nn.switch_case(paddle.to_tensor([5]), {1: lambda: "one", 5: lambda: "five"}) == "five"


def test_where_the_names_are_found() -> None:
    import importlib

    part = importlib.import_module("gradtool.paddle.static.nn.control_flow")
    assert part is nn.control_flow
    assert part.Assert is paddle.fluid.layers.Assert
    assert part.while_loop is nn.while_loop is paddle.fluid.layers.while_loop
    assert part.cond is nn.cond is paddle.fluid.layers.cond
    assert static.py_func is nn.py_func is paddle.fluid.layers.py_func
    assert static.Print is part.Print
