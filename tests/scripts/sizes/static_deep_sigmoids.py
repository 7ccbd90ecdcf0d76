# symptom   the first layers of the program do not learn
# cause     thirty sigmoids in a row
# command   why
# verdict   vanished
# line      h = paddle.nn.functional.sigmoid(static.nn.fc(h, 8, weight_attr=small))
# affected  fc_0.w_0
import numpy as np
import paddle
from paddle import static


def build():
    small = paddle.ParamAttr(initializer=paddle.nn.initializer.Normal(0.0, 0.05))
    x = static.data("x", [None, 8], "float32")
    h = x
    for _ in range(30):
        h = paddle.nn.functional.sigmoid(static.nn.fc(h, 8, weight_attr=small))
    return paddle.mean(static.nn.fc(h, 1))


def main():
    paddle.enable_static()
    paddle.seed(7)
    program, startup = static.Program(), static.Program()
    with static.program_guard(program, startup):
        loss = build()
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe = static.Executor(paddle.CPUPlace())
    exe.run(startup)
    for _ in range(3):
        exe.run(program, feed={"x": np.random.rand(16, 8).astype("float32")}, fetch_list=[loss])


if __name__ == "__main__":
    main()
