# symptom  the recurrent weights have no gradient
# cause    the state is detached in every round of the loop
# command  why recur
# verdict  detached
# line     state = paddle.tanh(paddle.matmul(state, recur) + drive).detach() + drive
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
recur = paddle.static.create_parameter([3, 3], "float32", name="recur")
inward = paddle.static.create_parameter([3, 3], "float32", name="inward")
drive = paddle.matmul(x, inward)


def step(i, state):
    state = paddle.tanh(paddle.matmul(state, recur) + drive).detach() + drive
    return i + 1, state


start = paddle.zeros([1], "int64")
_, state = paddle.static.nn.while_loop(lambda i, state: i < 3, step, [start, x])
loss = paddle.mean(state * state)
