# symptom  the refinement never learns
# cause    the loop's condition does not hold at the start
# command  why refine
# verdict  pruned branch
# line     i, h = paddle.static.nn.while_loop(lambda i, h: i < 0, again, [i, h])
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
refine = paddle.static.create_parameter([3, 3], "float32", name="refine")
h = paddle.static.nn.fc(x, 3, name="first")


def again(i, h):
    return i + 1, h + paddle.tanh(paddle.matmul(h, refine))


i = paddle.zeros([1], "int64")
i, h = paddle.static.nn.while_loop(lambda i, h: i < 0, again, [i, h])
loss = paddle.mean(h * h)
