# symptom   the shared projection learns from one branch alone
# cause     the other branch is marked as a constant
# command   why
# verdict   1 of 2 uses stop_gradient
# line      target.stop_gradient = True
# affected  shared.w
import numpy as np
import paddle
import paddle.static as static


def main():
    paddle.enable_static()
    program, startup = static.Program(), static.Program()
    with static.program_guard(program, startup):
        x = static.data("x", [None, 3])
        shared = static.create_parameter([3, 4], "float32", name="shared.w")
        online = paddle.tanh(x @ shared)
        target = (x * 2) @ shared
        target.stop_gradient = True
        loss = paddle.mean(paddle.square(online - target))
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    for _ in range(2):
        exe.run(program, {"x": np.random.RandomState(0).randn(5, 3).astype("float32")}, [loss])


if __name__ == "__main__":
    main()
