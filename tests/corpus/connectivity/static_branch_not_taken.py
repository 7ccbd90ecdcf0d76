# symptom  the warm-up weights have a gradient of zeros
# cause    the condition of cond never holds
# command  why warm
# verdict  pruned branch
# line     h = paddle.static.nn.cond(
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
warm = paddle.static.create_parameter([3, 2], "float32", name="warm")
main = paddle.static.create_parameter([3, 2], "float32", name="main")
step = paddle.full([], 1000.0)
h = paddle.static.nn.cond(
    step < 100.0,
    lambda: paddle.matmul(x, warm),
    lambda: paddle.matmul(x, main),
)
loss = paddle.mean(h * h)
