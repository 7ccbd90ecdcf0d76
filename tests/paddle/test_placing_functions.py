"""Filling by a mask and along an axis, repeating, distinct elements, stacking, empty tensors, accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ShapeError, UsageError
from tests.paddle.one_program import compute, gradient, made_by, variables

X = np.arange(1.0, 13.0).reshape(3, 4)
NARROW = X.astype("float32")
AT = np.array([[0, 0], [1, 3], [2, 2]])
VALUES = np.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]])


def run(fetch: Any, **arrays: np.ndarray) -> list[np.ndarray]:
    return paddle.static.Executor().run(feed=arrays, fetch_list=list(fetch))


class TestMaskedFill:
    MASK = np.array([[True], [False], [True]])

    def test_a_number(self) -> None:
        result = compute(lambda x, m: paddle.masked_fill(x, m, 0.5), x=X, m=self.MASK)
        assert result.tolist() == np.where(self.MASK, 0.5, X).tolist()

    def test_a_number_in_whole_numbers(self) -> None:
        result = compute(lambda x, m: paddle.masked_fill(x, m, 7), x=X.astype("int64"), m=self.MASK)
        assert (result.dtype, result[0, 0]) == (np.int64, 7)

    def test_gradients(self) -> None:
        arrays = {"x": X, "m": self.MASK, "v": np.array([2.0])}
        x, m, v = variables(arrays).values()
        grads = paddle.static.gradients([paddle.masked_fill(x, m, v)], [x, v])
        assert [g.tolist() for g in run(grads, **arrays)] == [np.where(self.MASK, 0.0, np.ones((3, 4))).tolist(), [8.0]]

    def test_names_and_operators(self) -> None:
        name, types = made_by(lambda x, m: paddle.masked_fill(x, m, 0.5), x=X, m=self.MASK)
        assert (name, types) == ("masked_fill_0.tmp_0", ["fill_constant", "cast", "masked_fill"])

    def test_errors(self) -> None:
        with pytest.raises(DtypeError, match=r"'mask' in paddle\.masked_fill must be bool"):
            compute(lambda x: paddle.masked_fill(x, x, 1.0), x=X)
        with pytest.raises(DtypeError, match=r"'value' in paddle\.masked_fill must be float64"):
            compute(lambda y, m, v: paddle.masked_fill(y, m, v), y=X, m=self.MASK, v=np.float32(1))
        with pytest.raises(ShapeError, match=r"value \[2, 1, 1\] must fit into x and mask, \[3, 4\]"):
            compute(lambda z, n, w: paddle.masked_fill(z, n, w), z=X, n=self.MASK, w=np.ones((2, 1, 1)))


PLACED = {
    # reduce: values with and without the elements that were there; gradients of both kinds (weights 0, 1, 4, 9, …)
    "assign": ([20.0, 30.0, 40.0, 60.0], [20.0, 30.0, 40.0, 60.0]),
    "add": ([31.0, 36.0, 48.0, 121.0], [30.0, 30.0, 40.0, 110.0]),
    "multiply": ([200.0, 180.0, 320.0, 33000.0], [200.0, 30.0, 40.0, 3000.0]),
    "mul": ([200.0, 180.0, 320.0, 33000.0], [200.0, 30.0, 40.0, 3000.0]),
    "mean": ([31 / 3, 18.0, 24.0, 121 / 3], [15.0, 30.0, 40.0, 55.0]),
    "amin": ([1.0, 6.0, 8.0, 11.0], [10.0, 30.0, 40.0, 50.0]),
    "amax": ([20.0, 30.0, 40.0, 60.0], [20.0, 30.0, 40.0, 60.0]),
}
GRADIENTS = {
    ("assign", True): ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 25.0, 49.0, 0.0, 100.0]),
    ("add", True): ([0.0, 25.0, 49.0, 100.0], [0.0, 0.0, 25.0, 49.0, 100.0, 100.0]),
    ("multiply", True): ([0.0, 750.0, 1960.0, 300000.0], [0.0, 0.0, 150.0, 392.0, 66000.0, 55000.0]),
    ("multiply", False): ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 25.0, 49.0, 6000.0, 5000.0]),
    ("mean", True): ([0.0, 12.5, 24.5, 100 / 3], [0.0, 0.0, 12.5, 24.5, 100 / 3, 100 / 3]),
    ("mean", False): ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 25.0, 49.0, 50.0, 50.0]),
    ("amin", True): ([0.0, 25.0, 49.0, 100.0], [0.0] * 6),
    ("amin", False): ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 25.0, 49.0, 100.0, 0.0]),
    ("amax", True): ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 25.0, 49.0, 0.0, 100.0]),
}
TOUCHED = ([0, 1, 1, 2], [0, 1, 3, 2])


class TestPutAlongAxis:
    @pytest.mark.parametrize("own", [True, False])
    @pytest.mark.parametrize("reduce", PLACED)
    def test_values(self, reduce: str, own: bool) -> None:
        result = compute(
            lambda x, i, v: paddle.put_along_axis(x, i, v, 1, reduce, include_self=own), x=X, i=AT, v=VALUES
        )
        expected = X.copy()
        expected[TOUCHED] = PLACED[reduce][not own]
        np.testing.assert_allclose(result, expected, rtol=1e-14)

    @pytest.mark.parametrize(("reduce", "own"), GRADIENTS)
    def test_gradients(self, reduce: str, own: bool) -> None:
        arrays = {"x": X, "i": AT, "v": VALUES, "w": np.arange(12.0).reshape(3, 4) ** 2}
        x, i, v, w = variables(arrays).values()
        out = paddle.put_along_axis(x, i, v, 1, reduce, include_self=own)
        by_x, by_v = run(paddle.static.gradients([out], [x, v], [w]), **arrays)
        expected = arrays["w"].copy()
        expected[TOUCHED] = GRADIENTS[reduce, own][0]
        np.testing.assert_allclose(by_x, expected, rtol=1e-12)
        np.testing.assert_allclose(by_v.reshape(-1), GRADIENTS[reduce, own][1], rtol=1e-12)

    def test_gradient_of_a_product_with_zeros(self) -> None:
        arrays = {"x": np.array([[0.0, 2.0]]), "i": np.array([[0, 0]]), "v": np.array([[3.0, 5.0]])}
        x, i, v = variables(arrays).values()
        out = paddle.put_along_axis(x, i, v, 1, "multiply")
        gradients = run(paddle.static.gradients([out], [x, v]), **arrays)
        assert [g.tolist() for g in gradients] == [[[15.0, 1.0]], [[0.0, 0.0]]]

    def test_extremes_that_tie_share_the_gradient(self) -> None:
        arrays = {"x": np.array([3.0, 1.0]), "i": np.array([0, 0]), "v": np.array([3.0, 2.0])}
        x, i, v = variables(arrays).values()
        gradients = run(paddle.static.gradients([paddle.put_along_axis(x, i, v, 0, "amax")], [x, v]), **arrays)
        assert [g.tolist() for g in gradients] == [[0.5, 1.0], [0.5, 0.0]]

    def test_numbers_and_broadcasting(self) -> None:
        result = compute(lambda x, i: paddle.put_along_axis(x, i, 5.0, 0, "add"), x=NARROW, i=np.array([[1, 0, 1, 2]]))
        expected = NARROW.copy()
        expected[[1, 0, 1, 2], range(4)] += 5
        assert result.tolist() == expected.tolist()
        ops = paddle.static.default_main_program().global_block().ops
        assert [o.type for o in ops] == ["assign_value", "expand_v2", "expand_v2", "put_along_axis"]
        place = np.array([[1, 0], [0, 1]])
        part = compute(lambda y, j: paddle.put_along_axis(y, j, 9.0, 1, broadcast=False), y=X, j=place)
        assert (part[:2, :2] == 9).all()
        assert part[2].tolist() == X[2].tolist()

    def test_a_batch_that_is_not_known(self) -> None:
        x = paddle.static.data("x", [None, 4], "float64")
        i = paddle.static.data("i", [None, 2], "int64")
        out = paddle.put_along_axis(x, i, 0.0, 1)
        (result,) = run([out], x=X, i=AT)
        assert (result == 0).sum() == 4
        assert out.name == "put_along_axis_0.tmp_0"

    def test_errors(self) -> None:
        x, i = variables({"x": X, "i": AT}).values()
        with pytest.raises(UsageError, match=r"reduce must be one of assign, .* but received 'foo'"):
            paddle.put_along_axis(x, i, 1.0, 1, "foo")
        with pytest.raises(ShapeError, match="axis 2 is out of range"):
            paddle.put_along_axis(x, i, 1.0, 2)
        with pytest.raises(ShapeError, match="must have as many dimensions"):
            paddle.put_along_axis(x, paddle.flatten(i), 1.0, 1)
        with pytest.raises(ShapeError, match=r"must be alike, with the dimensions of Input \[3, 4\]"):
            paddle.put_along_axis(x, i, paddle.ones([3, 1], "float64"), 1, broadcast=False)
        with pytest.raises(ShapeError, match="must be known to be broadcast"):
            paddle.put_along_axis(paddle.static.data("y", [None, 4]), paddle.static.data("j", [1, 2], "int64"), 1.0, 1)


class TestRepeats:
    @pytest.mark.parametrize(("repeats", "axis"), [(3, 1), (2, -2), (2, None), (0, 0)])
    def test_values(self, repeats: int, axis: int | None) -> None:
        result = compute(lambda x: paddle.repeat_interleave(x, repeats, axis), x=X)
        assert result.tolist() == np.repeat(X, repeats, axis).tolist()

    def test_a_number_for_each(self) -> None:
        times = np.array([2, 0, 1])
        result = compute(lambda x, r: paddle.repeat_interleave(x, r, 0), x=X, r=times)
        assert result.tolist() == np.repeat(X, times, 0).tolist()
        with pytest.raises(ShapeError, match="must hold one number, 0 or more, for each of the 3"):
            compute(lambda y, s: paddle.repeat_interleave(y, s, 0), y=X, s=np.array([2, 0]))

    def test_gradient(self) -> None:
        assert gradient(lambda x: paddle.repeat_interleave(x * x, 3, 1), X).tolist() == (6 * X).tolist()

    def test_errors(self) -> None:
        with pytest.raises(UsageError, match="must not be negative, but received -1"):
            compute(lambda x: paddle.repeat_interleave(x, -1), x=X)
        with pytest.raises(ArgumentTypeError, match="repeats"):
            compute(lambda y: paddle.repeat_interleave(y, 1.5), y=X)


class TestUnique:
    def test_elements(self) -> None:
        x = np.array([[3.0, 1.0, 3.0], [2.0, 1.0, 2.0]])
        arrays = run(paddle.unique(variables({"x": x})["x"], True, True, True), x=x)
        assert [a.tolist() for a in arrays] == [[1, 2, 3], [1, 3, 0], [2, 0, 2, 1, 0, 1], [2, 2, 2]]
        assert [a.dtype.name for a in arrays] == ["float64", "int64", "int64", "int64"]

    def test_slices(self) -> None:
        x = np.array([[3, 1, 3], [2, 1, 2]])
        out, inverse = paddle.unique(variables({"x": x})["x"], return_inverse=True, axis=1, dtype="int32")
        assert (out.name, inverse.name, out.stop_gradient) == ("unique_0.tmp_0", "unique_0.tmp_2", True)
        assert (list(out.shape), list(inverse.shape)) == ([2, -1], [3])
        arrays = run([out, inverse], x=x)
        assert [a.tolist() for a in arrays] == [[[1, 3], [1, 2]], [1, 0, 1]]
        assert arrays[1].dtype == np.int32

    def test_only_the_elements(self) -> None:
        assert compute(paddle.unique, x=np.array([2, 1, 2])).tolist() == [1, 2]

    def test_errors(self) -> None:
        with pytest.raises(DtypeError, match="must be int32 or int64, but received float32"):
            compute(lambda x: paddle.unique(x, dtype="float32"), x=X)


A, B = np.arange(3.0), np.arange(3.0, 6.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("vstack", np.vstack),
        ("row_stack", np.vstack),
        ("hstack", np.hstack),
        ("dstack", np.dstack),
        ("column_stack", np.column_stack),
    ],
)
@pytest.mark.parametrize("shape", [(), (3,), (3, 1), (1, 3, 1)])
def test_stacking(name: str, expected: Any, shape: tuple[int, ...]) -> None:
    a, b = (A, B) if shape else (A[0], B[0])
    a, b = a.reshape(shape), b.reshape(shape)
    result = compute(lambda a, b: getattr(paddle, name)([a, b]), a=a, b=b)
    assert result.tolist() == expected([a, b]).tolist()


def test_at_least_so_many_dimensions() -> None:
    for n, expected in ((1, np.atleast_1d), (2, np.atleast_2d), (3, np.atleast_3d)):
        for shape in [(), (3,), (1, 3), (1, 1, 3), (1, 1, 1, 3)]:
            with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
                x = (A if shape else A[0]).reshape(shape)
                result = compute(lambda x, n=n: getattr(paddle, f"atleast_{n}d")(x), x=x)
                assert result.shape == expected(x).shape
    a, b = variables({"a": A, "b": B}).values()
    assert [list(v.shape) for v in paddle.atleast_2d(a, b)] == [[1, 3], [1, 3]]


def test_names_of_stacks() -> None:
    name, types = made_by(lambda a, b: paddle.vstack([a, b]), a=A, b=B)
    assert (name, types) == ("concat_0.tmp_0", ["unsqueeze2", "unsqueeze2", "concat"])
    with pytest.raises(ArgumentTypeError, match="must hold at least one"):
        paddle.hstack([])


def test_empty_tensors() -> None:
    n = paddle.static.data("n", [], "int32")
    x = paddle.static.data("x", [None, 3], "float64")
    tensors = [paddle.empty([2, 3]), paddle.empty(4, "int64"), paddle.empty([n, 3]), paddle.empty_like(x)]
    assert [v.name for v in tensors] == ["empty_0.tmp_0", "empty_1.tmp_0", "empty_2.tmp_0", "empty_like_0.tmp_0"]
    arrays = run([*tensors, paddle.empty_like(x, "int32")], n=np.array(5, "int32"), x=X[:2, :3])
    assert [(a.shape, a.dtype.name) for a in arrays] == [
        ((2, 3), "float32"),
        ((4,), "int64"),
        ((5, 3), "float32"),
        ((2, 3), "float64"),
        ((2, 3), "int32"),
    ]
    assert all(v.stop_gradient for v in tensors)


class TestAccuracy:
    SCORES = np.array([[0.1, 0.8, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]], "float32")
    LABELS = np.array([[1], [2], [2]])

    @pytest.mark.parametrize(("k", "expected"), [(1, 2 / 3), (2, 1.0)])
    def test_share_of_rows(self, k: int, expected: float) -> None:
        result = compute(lambda p, y: paddle.static.accuracy(p, y, k), p=self.SCORES, y=self.LABELS)
        assert (result.shape, result.dtype) == ((), np.float32)
        assert float(result) == pytest.approx(expected)

    def test_names_and_counts(self) -> None:
        correct = paddle.static.create_global_var([], 0, "int32", name="correct")
        p, y = variables({"p": self.SCORES, "y": self.LABELS}).values()
        out = paddle.static.accuracy(p, y, correct=correct)
        ops = paddle.static.default_main_program().global_block().ops
        assert [o.type for o in ops] == ["top_k_v2", "accuracy"]
        assert (out.name, ops[1].output("Correct"), ops[1].output("Total")) == (
            "accuracy_0.tmp_2",
            ["correct"],
            ["accuracy_0.tmp_3"],
        )
        assert int(run(["correct"], p=self.SCORES, y=self.LABELS)[0]) == 2

    def test_errors(self) -> None:
        p, y = variables({"p": self.SCORES, "y": self.LABELS}).values()
        with pytest.raises(UsageError, match=r"input must have the shape \[rows, classes\], but is \[9\]"):
            paddle.static.accuracy(paddle.flatten(p), y)
        with pytest.raises(DtypeError, match=r"'label' in paddle\.static\.accuracy must be int32 or int64"):
            paddle.static.accuracy(p, p)
        with pytest.raises(ShapeError, match="must hold one label for each row"):
            paddle.static.accuracy(p, paddle.concat([y, y], 0))
