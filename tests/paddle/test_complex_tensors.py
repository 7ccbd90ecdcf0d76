"""Complex tensors in both modes; tests/torch_values and tests/ops compare gradients of single operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import static
from gradtool.paddle.nn import functional as F


def T(data: Any, dtype: Any = None, **kw: Any) -> Any:
    return paddle.to_tensor(data, dtype, **kw)


@pytest.mark.usefixtures("dynamic")
class TestDynamic:
    def test_made(self) -> None:
        assert T(1 + 2j).dtype is paddle.complex64
        assert T(np.array([1j])).dtype is paddle.complex128
        assert paddle.zeros([2], "complex64").tolist() == [0j, 0j]
        assert paddle.full([1], 1 + 2j).dtype is paddle.complex128
        assert paddle.full_like(T([1j]), 2j).tolist() == [2j]
        assert paddle.assign(np.array([1j], "complex64")).dtype is paddle.complex64
        assert T([1.5], "complex64").tolist() == [1.5 + 0j]
        assert T([1 + 2j]).astype("float32").tolist() == [1.0]
        assert complex(T(1 + 2j)) == T(1 + 2j).item() == 1 + 2j

    @pytest.mark.parametrize(
        ("data", "text"),
        [
            ([1 + 2j, 3 - 1j], "[(1+2j), (3-1j)]"),
            ([-4 + 2j, 2 + 6j], "[(-4+2j),  (2+6j)]"),
            ([0.5 + 1j, 1.5 - 0.5j], "[(0.5+1j)  , (1.5-0.5j)]"),
            ([2j, 0.5j], "[2j  , 0.5j]"),
        ],
    )
    def test_printing(self, data: Any, text: str) -> None:
        assert repr(T(data)).endswith(f"stop_gradient=True,\n       {text})")

    def test_parts(self) -> None:
        z = T([3 + 4j, -2 + 0j])
        assert z.real().tolist() == [3.0, -2.0]
        assert z.imag().tolist() == [4.0, 0.0]
        assert z.conj().tolist() == [3 - 4j, -2 + 0j]
        assert z.abs().tolist() == [5.0, 2.0]
        np.testing.assert_allclose(z.angle().numpy(), np.angle(z.numpy()))
        assert z.as_real().tolist() == [[3.0, 4.0], [-2.0, 0.0]]
        assert z.as_real().as_complex().tolist() == z.tolist()
        assert z.is_complex()
        assert not z.is_floating_point()

    def test_angles_of_real_numbers(self) -> None:
        angles = paddle.angle(T([-1.0, 0.0, 2.0, float("nan")])).numpy()
        np.testing.assert_array_equal(angles, np.array([np.pi, 0, 0, np.nan], "float32"))

    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            ("z * 2j", [-4 + 2j, 2 + 6j]),
            ("r * 2j", [2j, 4j]),
            ("i * 1j", [1j, 2j]),
            ("1j - r", [-1 + 1j, -2 + 1j]),
            ("r / 1j", [-1j, -2j]),
            ("z + 1.5", [2.5 + 2j, 4.5 - 1j]),
            ("z + r", [2 + 2j, 5 - 1j]),
            ("r * z", [1 + 2j, 6 - 2j]),
            ("z + i", [2 + 2j, 5 - 1j]),
            ("z == z", [True, True]),
            ("r * np.array([1j, 2j], 'complex64')", [1j, 4j]),
            ("z**1j / (z * 1.0) ** 1j", [1, 1]),
            ("paddle.matmul(z, r)", 7 + 0j),
            ("z @ r", 7 + 0j),
        ],
    )
    def test_arithmetic_with_numbers_and_real_tensors(self, expression: str, expected: Any) -> None:
        names = {"z": T([1 + 2j, 3 - 1j]), "r": T([1.0, 2.0]), "i": T([1, 2]), "np": np, "paddle": paddle}
        result = eval(expression, names)
        assert result.dtype in (paddle.complex64, paddle.bool_)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)

    @pytest.mark.parametrize(
        ("x", "y", "kind"), [("complex64", "float64", "complex128"), ("float32", "complex64", "complex64")]
    )
    def test_the_more_precise_parts_win(self, x: str, y: str, kind: str) -> None:
        assert (T([1.0], x) * T([1.0], y)).dtype.name == kind

    def test_a_real_leaf_gets_a_real_gradient(self) -> None:
        z, r = T([1 + 2j, 3 - 1j], stop_gradient=False), T([2.0, 3.0], stop_gradient=False)
        (z * r).abs().sum().backward()
        assert (z.grad.dtype, r.grad.dtype) == (paddle.complex64, paddle.float32)
        np.testing.assert_allclose(r.grad.numpy(), np.abs(z.numpy()), rtol=1e-6)

    def test_the_convention(self) -> None:
        """For L = |z|²: ∂L/∂Re z + i·∂L/∂Im z = 2z, in the direction in which L grows."""
        z = T([1 + 2j], stop_gradient=False)
        paddle.real(z * z.conj()).sum().backward()
        assert z.grad.tolist() == [2 + 4j]

    @pytest.mark.parametrize("create_graph", [False, True])
    def test_differences_in_both_directions(self, create_graph: bool) -> None:
        rng = np.random.default_rng(3)
        start = rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3))

        def loss(z: Any) -> Any:
            w = paddle.exp(z * (0.5 - 1j)) / (z * z + 2.5) - paddle.sin(z).conj()
            w = paddle.matmul(w, paddle.transpose(w, [1, 0])) + paddle.prod(z)
            return (paddle.abs(w) + paddle.angle(w)).sum()

        z = T(start, stop_gradient=False)
        (gradient,) = paddle.grad(loss(z), z, create_graph=create_graph)
        for i in np.ndindex(start.shape):
            parts = []
            for step in (1e-6, 1e-6j):
                ahead, behind = start.copy(), start.copy()
                ahead[i] += step
                behind[i] -= step
                parts.append((loss(T(ahead)) - loss(T(behind))).item() / 2e-6)
            np.testing.assert_allclose(gradient.numpy()[i], complex(*parts), rtol=1e-6)

    def test_hooks_layers_and_in_place_writes(self) -> None:
        z = T([1 + 2j, 3j], stop_gradient=False)
        y = z * z
        seen = []
        y.register_hook(lambda g: seen.append(g.dtype))
        y[0] = 5j
        y.abs().sum().backward()
        assert seen == [paddle.complex64]
        np.testing.assert_allclose(z.grad.numpy(), [0, 6j], atol=1e-6)

    @pytest.mark.parametrize(
        "call",
        [
            lambda z: F.relu(z),
            lambda z: F.softmax(z),
            lambda z: paddle.sort(z),
            lambda z: paddle.max(z),
            lambda z: paddle.clip(z, 0.0, 1.0),
            lambda z: paddle.sign(z),
            lambda z: paddle.floor(z),
            lambda z: z < z,
            lambda z: paddle.maximum(z, z),
            lambda z: F.gelu(z),
        ],
    )
    def test_operators_without_a_right_gradient_refuse(self, call: Any) -> None:
        with pytest.raises(TypeError, match="does not take complex numbers"):
            call(T([1 + 2j, 3j]))

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda r, i: paddle.real(r), TypeError, "X must be complex64 or complex128, but received float32"),
            (lambda r, i: paddle.as_real(r), TypeError, "X must be complex64"),
            (lambda r, i: paddle.complex(r, r.astype("float64")), TypeError, "X is float32 and Y is float64"),
            (lambda r, i: paddle.complex(i, i), TypeError, "X must be float32 or float64, but received int64"),
            (lambda r, i: paddle.as_complex(r), ValueError, r"the last dimension of X \[3\] must be 2"),
            (lambda r, i: paddle.angle(i), TypeError, "angle: X must hold floating-point numbers"),
            (lambda r, i: paddle.full([1], 1j, "float32"), TypeError, "1j is no float32"),
            (lambda r, i: r.__setitem__(0, 1j), TypeError, "the value is complex, and '.*' is float32"),
            (lambda r, i: r.__setitem__(0, T(1j)), TypeError, "the value is complex"),
            (lambda r, i: paddle.scale(T([1j]), T([1j])), TypeError, "ScaleTensor must be real"),
            (lambda r, i: float(T(1j)), TypeError, "complex"),
        ],
    )
    def test_nothing_is_lost_silently(self, call: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            call(T([1.0, 2.0, 3.0]), T([1, 2, 3]))

    def test_real_tensors_made_complex_in_place(self) -> None:
        x = T([1.0])
        assert x.add_(T([1j])) is x
        assert (x.dtype, x.tolist()) == (paddle.complex64, [1 + 1j])


def program(kind: str = "complex64") -> Any:
    z = static.data("z", [3], kind)
    z.stop_gradient = False
    return z


def test_programs_have_paddles_operators() -> None:
    z = program()
    loss = paddle.sum(paddle.abs(paddle.as_real(paddle.conj(z)) + paddle.real(z * 2j)[:1]))
    static.gradients([loss], [z])
    types = [op.type for op in z.block.ops]
    forward = ["conj", "as_real", "assign_value", "elementwise_mul", "real", "slice", "elementwise_add", "abs"]
    assert types[: len(forward)] == forward
    assert [t for t in types if t in ("real_grad", "as_complex", "conj")] == ["conj", "real_grad", "as_complex", "conj"]


def test_a_program_computes_what_dynamic_mode_does() -> None:
    values = np.array([1 + 2j, -0.5 + 0.3j, 2 - 1j], "complex64")

    def loss(z: Any) -> Any:
        return paddle.sum(paddle.abs(paddle.exp(z) * z / (z + 2.5) + paddle.log(z) * (1 - 2j)))

    z = program()
    out = loss(z)
    results = static.Executor().run(feed={"z": values}, fetch_list=[out, *static.gradients([out], [z])])
    paddle.disable_static()
    try:
        t = T(values, stop_gradient=False)
        result = loss(t)
        (gradient,) = paddle.grad(result, t)
    finally:
        paddle.enable_static()
    np.testing.assert_array_equal(results[0], result.numpy())
    np.testing.assert_array_equal(results[1], gradient.numpy())


def test_the_text_of_a_program_holds_complex_constants() -> None:
    z = program()
    paddle.full([2], 1 - 2.5j, "complex64")
    paddle.assign(np.array([1j, -2, complex("nan+infj"), 1e-20 - 3e5j]))
    _ = z * -2j
    source = z.block.program
    again = static.Program.parse_from_string(str(source))
    assert str(again) == str(source)
    arrays = static.Executor().run(again, feed={"z": np.ones(3, "complex64")}, fetch_list=["assign_0.tmp_0"])
    np.testing.assert_array_equal(arrays[0], [1j, -2, complex("nan+infj"), 1e-20 - 3e5j])


def test_a_refused_operator_leaves_the_program_as_it_was() -> None:
    z = program()
    for call in (lambda: F.relu(z), lambda: z < z, lambda: paddle.real(paddle.real(z))):
        with pytest.raises(TypeError, match="complex"):
            call()
    assert [op.type for op in z.block.ops] == ["real"]
