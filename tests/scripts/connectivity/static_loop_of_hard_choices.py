# symptom   nothing learns
# cause     every round goes on with an argmax
# command   why
# verdict   non-differentiable op
# line      z = paddle.cast(paddle.argmax(z, axis=1, keepdim=True), "float32")
# affected  w
import numpy as np
import paddle
from paddle import static

paddle.enable_static()
main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    x = static.data("x", [4, 3])
    w = static.create_parameter([3, 3], "float32", name="w")
    i = paddle.zeros([1], dtype="int64")

    def cond(i, h):
        return i < 3

    def body(i, h):
        z = paddle.matmul(h, w)
        z = paddle.cast(paddle.argmax(z, axis=1, keepdim=True), "float32") * paddle.ones([4, 3])
        h = paddle.nn.functional.relu(z)
        return i + 1, h

    _, h = static.nn.while_loop(cond, body, [i, x])
    loss = paddle.mean(paddle.square(h - 1.0))
    paddle.optimizer.SGD(0.1).minimize(loss)
exe = static.Executor()
exe.run(startup)
for _ in range(2):
    exe.run(main, feed={"x": np.random.rand(4, 3).astype("float32")}, fetch_list=[loss])
