"""What the backward pass does with blocks beside the numbers: cuts, names, repeated calls, callbacks, memory."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.executor.executor import Executor
from gradtool.engine.ir.verify import verify

static = paddle.static
nn = paddle.static.nn


def main() -> Any:
    return static.default_main_program()


def data(name: str, shape: list[int], dtype: str = "float64", differentiable: bool = True) -> Any:
    v = static.data(name, shape, dtype)
    v.stop_gradient = not differentiable
    return v


def counter() -> Any:
    return paddle.full([1], 0, "int64")


def run(fetch: list[Any], **feed: Any) -> list[Any]:
    verify(main())
    exe = Executor()
    exe.run(static.default_startup_program())
    return exe.run(feed=feed, fetch_list=fetch)


X = np.array([0.5, -1.0, 2.0])


class TestCuts:
    def test_an_initial_value_that_was_cut_stays_cut(self) -> None:
        x, w = data("x", [3]), data("w", [3])
        h = x * w
        h.stop_gradient = True
        _, h = nn.while_loop(lambda i, h: i < 2, lambda i, h: [i + 1, h * w], [counter(), h])
        gx, gw = static.gradients(paddle.sum(h), [x, w])
        assert gx is None
        assert np.allclose(run([gw], x=X, w=X)[0], 2 * X * X * X)

    def test_a_detached_initial_value(self) -> None:
        x, w = data("x", [3]), data("w", [3])
        _, h = nn.while_loop(lambda i, h: i < 2, lambda i, h: [i + 1, h * w], [counter(), (x * w).detach()])
        gx, gw = static.gradients(paddle.sum(h), [x, w])
        assert gx is None
        assert np.allclose(run([gw], x=X, w=X)[0], 2 * X * X * X)

    def test_a_cut_inside_the_body(self) -> None:
        x, w = data("x", [3]), data("w", [3])

        def step(i: Any, h: Any) -> Any:
            t = h * w
            t.stop_gradient = True
            return [i + 1, t + h]

        gx, gw = static.gradients(paddle.sum(nn.while_loop(lambda i, h: i < 2, step, [counter(), x * 1.0])[1]), [x, w])
        assert gw is None
        assert np.allclose(run([gx], x=X, w=X)[0], np.ones(3))

    def test_a_variable_in_the_no_grad_set(self) -> None:
        x, w = data("x", [3]), data("w", [3])
        h = nn.cond(paddle.sum(x) > 0.0, lambda: x * w, lambda: x)
        gx, gw = static.gradients(paddle.sum(h), [x, w], no_grad_set={w})
        assert gw is None
        assert np.allclose(run([gx], x=X, w=X)[0], X)

    def test_a_parameter_that_is_frozen(self) -> None:
        x = data("x", [3])
        w = static.create_parameter([3], "float64", attr=paddle.ParamAttr("w", trainable=False))
        v = static.create_parameter([3], "float64", attr=paddle.ParamAttr("v"))
        h = nn.cond(paddle.sum(x) > 0.0, lambda: x * w * v, lambda: x)
        assert [p.name for p, _ in static.append_backward(paddle.sum(h))] == ["v"]

    def test_a_branch_without_a_gradient(self) -> None:
        x, w = data("x", [3]), data("w", [3])
        h = nn.cond(paddle.sum(x) > 0.0, lambda: x * w, lambda: paddle.zeros([3], "float64"))
        (gx,) = static.gradients(paddle.sum(h), [x])
        assert np.allclose(run([gx], x=X, w=X)[0], X)
        assert not run([gx], x=-X, w=X)[0].any()
        assert sum(o.type == "conditional_block_grad" for o in main().global_block().ops) == 1


class TestOverwrittenVariables:
    def test_a_branch_that_overwrites_an_outer_variable(self) -> None:
        x, w = data("x", [3]), data("w", [3])
        h = paddle.exp(x)

        def overwrite() -> None:
            paddle.assign(h * w, h)
            paddle.assign(paddle.tanh(h), h)

        nn.cond(paddle.sum(x) > 0.0, overwrite, None)
        grads = static.gradients(paddle.sum(h * h), [x, w])
        out, gx, gw = run([h, *grads], x=X, w=X)
        e = np.exp(X)
        t = np.tanh(e * X)
        assert np.allclose(out, t)
        assert np.allclose(gw, 2 * t * (1 - t * t) * e)
        assert np.allclose(gx, 2 * t * (1 - t * t) * e * X)
        out, gx, gw = run([h, *grads], x=-X, w=X)
        assert np.allclose(out, np.exp(-X))
        assert np.allclose(gx, 2 * np.exp(-2 * X))
        assert not gw.any()

    def test_a_body_that_overwrites_its_own_variables(self) -> None:
        x, w = data("x", [3]), data("w", [3])

        def step(i: Any, h: Any) -> Any:
            t = paddle.exp(h * w)
            u = t * t
            paddle.assign(u * w, t)
            return [i + 1, paddle.tanh(t) * h]

        _, h = nn.while_loop(lambda i, h: i < 2, step, [counter(), x * 1.0])
        grads = static.gradients(paddle.sum(h), [x, w])

        def value(a: np.ndarray, b: np.ndarray) -> float:
            for _ in range(2):
                a = np.tanh(np.exp(a * b) ** 2 * b) * a
            return float(a.sum())

        out = run([h, *grads], x=X, w=-X / 3)
        assert out[0].sum() == pytest.approx(value(X, -X / 3))
        for got, at in zip(out[1:], (0, 1), strict=True):
            for k in range(3):
                d = np.zeros(3)
                d[k] = 1e-6
                up, down = ([X + s * d, -X / 3] if at == 0 else [X, -X / 3 + s * d] for s in (1, -1))
                assert got[k] == pytest.approx((value(*up) - value(*down)) / 2e-6, rel=1e-6, abs=1e-9)

    def test_an_update_between_forward_and_backward_does_not_change_what_backward_reads(self) -> None:
        x = data("x", [3], differentiable=False)
        w = static.create_parameter(
            [3], "float64", attr=paddle.ParamAttr("w", initializer=paddle.nn.initializer.Constant(2.0))
        )
        h = nn.cond(paddle.sum(x) > 0.0, lambda: w * w * x, lambda: w)
        loss = paddle.sum(h)
        (g,) = static.gradients(loss, [w])
        paddle.assign(w * 0.0, w)
        (again,) = static.gradients(loss, [w])
        first, second = run([g, again], x=X)
        assert np.allclose(first, 4 * X)
        assert np.allclose(second, first)


class TestNamesAndCalls:
    def test_gradients_of_the_value_before_and_after_a_loop(self) -> None:
        x, w = data("x", [3]), data("w", [3])
        h0 = x * 1.0
        _, h = nn.while_loop(lambda i, h: i < 2, lambda i, h: [i + 1, h * w], [counter(), h0])
        after, before, gw = static.gradients(paddle.sum(h * h), [h, h0, w])
        assert len({v.name for v in (after, before, gw)}) == 3
        got = run([after, before, gw], x=X, w=X)
        assert np.allclose(got[0], 2 * X**3)
        assert np.allclose(got[1], 2 * X**5)
        assert np.allclose(got[2], 4 * X**5)

    def test_a_second_call_gives_the_same_values(self) -> None:
        x, w = data("x", [3]), data("w", [3])
        h = nn.cond(paddle.sum(x) > 0.0, lambda: paddle.tanh(x * w), lambda: x)
        _, h = nn.while_loop(lambda i, h: i < 3, lambda i, h: [i + 1, paddle.tanh(h * w)], [counter(), h])
        loss = paddle.sum(h)
        first = static.gradients(loss, [x, w])
        second = static.gradients(loss, [x, w])
        other = static.gradients(loss * 2.0, [x, w])
        got = run([*first, *second, *other], x=X, w=X)
        for a, b, c in zip(got[:2], got[2:4], got[4:], strict=True):
            assert np.array_equal(a, b)
            assert np.allclose(2 * a, c)

    def test_a_loss_after_another_that_shares_a_loop(self) -> None:
        x, w = data("x", [3]), data("w", [3])
        _, h = nn.while_loop(lambda i, h: i < 2, lambda i, h: [i + 1, h * w], [counter(), x * 1.0])
        a = static.gradients(paddle.sum(h), [w])[0]
        b = static.gradients(paddle.sum(h * h), [w])[0]
        got = run([a, b], x=X, w=X)
        assert np.allclose(got[0], 2 * X * X)
        assert np.allclose(got[1], 4 * X**5)

    def test_targets_with_gradients_of_ones_own(self) -> None:
        x, w, dy = data("x", [3]), data("w", [3]), data("dy", [3])
        _, h = nn.while_loop(lambda i, h: i < 2, lambda i, h: [i + 1, h * w], [counter(), x * 1.0])
        (gx,) = static.gradients(h, [x], dy)
        got = run([gx, dy], x=X, w=X, dy=X + 1)
        assert np.allclose(got[0], (X + 1) * X * X)
        assert np.allclose(got[1], X + 1)

    def test_callbacks_see_the_blocks(self) -> None:
        x = data("x", [3], differentiable=False)
        w = static.create_parameter([3], "float64", attr=paddle.ParamAttr("w"))
        h = nn.cond(paddle.sum(x) > 0.0, lambda: w * x, lambda: w)
        seen: list[tuple[int, str]] = []

        def note(block: Any, context: dict[str, Any]) -> None:
            seen.append((block.idx, context["__current_op_desc__"].type()))

        static.append_backward(paddle.sum(h), callbacks=[note])
        assert seen == [
            (0, "reduce_sum_grad"),
            (0, "select_output"),
            (3, "assign"),
            (0, "conditional_block_grad"),
            (4, "assign"),
            (4, "elementwise_mul_grad"),
            (0, "conditional_block_grad"),
            (0, "sum"),
        ]

    def test_what_has_no_gradient_inside_a_block_leaves_the_program_alone(self) -> None:
        x = data("x", [3])

        def call() -> Any:
            return nn.static_pylayer(lambda a: a * 2.0, [x], lambda d: d * 3.0)

        h = nn.cond(paddle.sum(x) > 0.0, call, lambda: x)
        (g,) = static.gradients(paddle.sum(h), [x])
        target = paddle.sum(g * x)
        before = str(main())
        with pytest.raises(UnsupportedError, match="second order through static_pylayer"):
            static.gradients(target, [x])
        assert str(main()) == before
        assert np.allclose(run([g], x=X)[0], 3.0)


class TestManyIterations:
    def test_ten_thousand_iterations(self) -> None:
        x, n = data("x", [3]), data("n", [1], "int64")
        _, h = nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, h * 0.9999 + x], [counter(), x * 1.0])
        (g,) = static.gradients(paddle.sum(h), [x])
        count = 10_000
        h_, g_ = run([h, g], x=X, n=np.array([count]))
        factor = 0.9999**count + (1 - 0.9999**count) / 1e-4
        assert np.allclose(h_, X * factor)
        assert np.allclose(g_, factor)

    def test_what_an_iteration_left_is_let_go_of_when_backward_has_used_it(self) -> None:
        """Backward meets the iterations last to first; what the later ones left is gone by then."""
        x = data("x", [3])
        results: list[weakref.ref[Any]] = []
        alive: list[int] = []

        def forward(a: Any) -> Any:
            result = np.tanh(np.array(a))
            results.append(weakref.ref(result))
            return result

        def backward(a: Any, y: Any, dy: Any) -> Any:
            gc.collect()
            alive.append(sum(r() is not None for r in results))
            return np.array(dy) * (1 - np.square(np.array(y)))

        def step(i: Any, h: Any) -> Any:
            out = main().current_block().create_var(shape=[3], dtype="float64")
            return [i + 1, static.py_func(forward, h, out, backward)]

        _, h = nn.while_loop(lambda i, h: i < 6, step, [counter(), x * 1.0])
        (g,) = static.gradients(paddle.sum(h), [x])
        run([g], x=X)
        assert len(alive) == len(results) == 6
        assert alive == sorted(alive, reverse=True)
        assert alive[0] - alive[-1] >= 4

    def test_a_loop_keeps_nothing_when_no_gradient_is_fetched(self) -> None:
        x = data("x", [3])
        _, h = nn.while_loop(lambda i, h: i < 3, lambda i, h: [i + 1, paddle.tanh(h)], [counter(), x * 1.0])
        (g,) = static.gradients(paddle.sum(h), [x])
        exe = Executor()
        for fetch, leaves_frames in (([h], False), ([h, g], True)):
            exe.run(feed={"x": X}, fetch_list=fetch)
            plan = next(p for key, p in main().plans.items() if key[3] == tuple(v.name for v in fetch))
            loop = next(i for i in plan.instructions if i.op is not None and i.op.type == "while")
            assert (loop.kernel.__self__.body.leaving is not None) is leaves_frames

    def test_many_branches_and_loops_in_a_row(self) -> None:
        x = data("x", [3])
        h = x * 1.0
        for _ in range(60):
            h = nn.cond(paddle.sum(h) > 0.0, lambda h=h: h * 1.01, lambda h=h: h * 0.5)
            _, h = nn.while_loop(lambda i, h: i < 2, lambda i, h: [i + 1, h * 1.01], [counter(), h])
        (g,) = static.gradients(paddle.sum(h), [x])
        assert np.allclose(run([g], x=X)[0], 1.01**180)
        assert np.allclose(run([g], x=-X)[0], 0.5**60 * 1.01**120)

    def test_branches_deep_inside_one_another(self) -> None:
        x = data("x", [3])

        def nest(depth: int) -> Any:
            if not depth:
                return x * x
            return nn.cond(paddle.sum(x) > float(-depth), lambda: nest(depth - 1), lambda: x * float(depth))

        (g,) = static.gradients(paddle.sum(nest(25)), [x])
        assert np.allclose(run([g], x=X)[0], 2 * X)
        assert np.allclose(run([g], x=X - 5)[0], 13.0)


@pytest.mark.parametrize("taken", [True, False])
def test_beside_recomputed_segments_and_sparse_tables(taken: bool) -> None:
    """Checkpoints around a branch and a loop, and tables whose gradients are selected rows, change no bit."""

    def gradients(sparse: bool, recomputed: bool) -> list[np.ndarray]:
        with static.program_guard(static.Program(), static.Program()):
            ids, p = data("ids", [4], "int64", False), data("p", [1], "bool", False)
            table = static.create_parameter([10, 3], "float64", name="table")
            w = static.create_parameter([3, 3], "float64", name="w")

            def looked_up() -> Any:
                return paddle.nn.functional.embedding(ids, table, sparse=sparse)

            first = paddle.tanh(paddle.tanh(looked_up() @ w) @ w)
            h = nn.cond(p, lambda: looked_up() * first, lambda: first)
            n = paddle.full([1], 3, "int64")
            step = lambda i, h: [i + 1, paddle.tanh(h @ w) + looked_up()]  # noqa: E731
            _, h = nn.while_loop(lambda i, h: i < n, step, [counter(), h])
            last = paddle.tanh(h @ w)
            loss = paddle.mean(paddle.tanh(last @ w) * first)
            if recomputed:
                pairs, used = static.append_backward(loss, checkpoints=[first, last])
                assert used == [first.name, last.name]
            else:
                pairs = static.append_backward(loss)
            verify(main())
            rng, scope = np.random.default_rng(0), static.Scope()
            for v in (table, w):
                scope.var(v.name).get_tensor().set(rng.normal(size=v.shape))
            feed = {"ids": np.array([1, 2, 2, 7]), "p": np.array([taken])}
            fetched = [loss, *(g for _, g in pairs)]
            return [np.asarray(v) for v in Executor().run(main(), feed, fetched, scope=scope)]

    plain = gradients(False, False)
    assert all(v.any() for v in plain)
    for sparse, recomputed in ((True, False), (False, True), (True, True)):
        for ours, expected in zip(gradients(sparse, recomputed), plain, strict=True):
            assert np.array_equal(ours, expected)


def test_a_step_of_training_that_only_one_branch_takes() -> None:
    x, p = data("x", [4, 3], differentiable=False), data("p", [1], "bool", differentiable=False)
    h = nn.fc(x, 3, name="before", activation="tanh")

    def train() -> Any:
        loss = paddle.mean(paddle.square(nn.fc(h, 2, name="inside")))
        paddle.optimizer.SGD(0.1).minimize(loss)
        return loss

    loss = nn.cond(p, train, lambda: paddle.mean(h))
    verify(main())
    exe, scope = Executor(), static.global_scope()
    exe.run(static.default_startup_program())
    names = ["before.w_0", "before.b_0", "inside.w_0", "inside.b_0"]

    def values() -> list[np.ndarray]:
        return [np.array(scope.find_var(n).get_tensor()) for n in names]

    feed = {"x": np.arange(12.0).reshape(4, 3) / 10}
    start = values()
    exe.run(feed={**feed, "p": np.array([False])}, fetch_list=[loss])
    assert all(np.array_equal(a, b) for a, b in zip(start, values(), strict=True))
    (first,) = exe.run(feed={**feed, "p": np.array([True])}, fetch_list=[loss])
    after = values()
    w0, b0, w1, b1 = start
    t = np.tanh(feed["x"] @ w0 + b0)
    y = t @ w1 + b1
    assert first == pytest.approx(float((y * y).mean()))
    dy = 2 * y / y.size
    dt = dy @ w1.T * (1 - t * t)
    expected = [w0 - 0.1 * feed["x"].T @ dt, b0 - 0.1 * dt.sum(0), w1 - 0.1 * t.T @ dy, b1 - 0.1 * dy.sum(0)]
    assert all(np.allclose(a, b) for a, b in zip(after, expected, strict=True))
    types = [o.type for o in main().global_block().ops]
    assert types.index("conditional_block_grad") == types.index("conditional_block") + 1
    grad = main().global_block().ops[types.index("conditional_block_grad")]
    assert sorted(grad.output("Written")) == sorted(names)
    parsed = static.Program.parse_from_string(str(main()))
    verify(parsed)
    verify(main().clone())
    assert main().clone(for_test=True).num_blocks == 3


def test_what_a_loop_and_a_branch_in_it_both_read_while_they_write_a_variable_of_the_outside() -> None:
    x = data("x", [3])
    h, i, n = x * 1.0, paddle.full([1], 0, "int64"), paddle.full([1], 2, "int64")

    def body(i: Any) -> Any:
        paddle.assign(h + x * 2, output=h)
        nn.cond(paddle.sum(x) > 0, lambda: paddle.assign(h * x + x * 3, output=h) and None, None)
        return i + 1

    nn.while_loop(lambda i: i < n, body, [i])
    (grad,) = static.gradients([paddle.sum(h)], [x])
    verify(main())
    value = np.array([0.5, 1.0, 2.0])
    for program in (main(), main().clone(), static.Program.parse_from_string(str(main()))):
        (found,) = Executor().run(program, feed={"x": value}, fetch_list=[grad.name])
        # Twice h = (h + 2 x) x + 3 x, from h = x: 3 x³ + 5 x² + 3 x.
        assert np.allclose(found, 9 * value**2 + 10 * value + 3)
