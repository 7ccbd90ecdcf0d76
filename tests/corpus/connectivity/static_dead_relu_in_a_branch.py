# symptom  the expert that is chosen does not learn
# cause    its relu is off for every input
# command  why expert
# verdict  zero: dead relu
# line     return paddle.nn.functional.relu(paddle.matmul(x, expert) - 30.0)
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
expert = paddle.static.create_parameter([3, 2], "float32", name="expert")
base = paddle.static.create_parameter([3, 2], "float32", name="base")


def chosen():
    return paddle.nn.functional.relu(paddle.matmul(x, expert) - 30.0)


def simple():
    return paddle.zeros([4, 2])


h = paddle.static.nn.cond(paddle.full([], 1.0) > 0.0, chosen, simple)
loss = paddle.mean((h + paddle.matmul(x, base) - 1.0).square())
