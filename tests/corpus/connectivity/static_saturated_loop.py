# symptom  the gate of the recurrent cell does not learn
# cause    its bias saturates the sigmoid in every round
# command  why gate
# verdict  zero: saturated
# line     keep = paddle.nn.functional.sigmoid(paddle.matmul(state, gate) + 200.0)
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
gate = paddle.static.create_parameter([3, 3], "float32", name="gate")
mix = paddle.static.create_parameter([3, 3], "float32", name="mix")


def step(i, state):
    keep = paddle.nn.functional.sigmoid(paddle.matmul(state, gate) + 200.0)
    state = keep * paddle.tanh(paddle.matmul(state, mix))
    return i + 1, state


start = paddle.zeros([1], "int64")
_, state = paddle.static.nn.while_loop(lambda i, state: i < 4, step, [start, x])
loss = paddle.mean(state * state)
