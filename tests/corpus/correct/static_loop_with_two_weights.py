# A recurrent cell in a loop, a branch inside of it; everything learns.
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
recur = paddle.static.create_parameter([3, 3], "float32", name="recur")
even = paddle.static.create_parameter([3, 3], "float32", name="even")
odd = paddle.static.create_parameter([3, 3], "float32", name="odd")


def step(i, state):
    extra = paddle.static.nn.cond(
        (i % 2).sum() == 0, lambda: paddle.matmul(state, even), lambda: paddle.matmul(state, odd)
    )
    return i + 1, paddle.tanh(paddle.matmul(state, recur) + extra)


start = paddle.zeros([1], "int64")
_, state = paddle.static.nn.while_loop(lambda i, state: i < 4, step, [start, x])
loss = paddle.mean(state * state)
