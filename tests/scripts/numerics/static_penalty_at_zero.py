# symptom   all weights of the critic are NaN after the first step
# cause     the norm of a gradient that is 0 has no derivative
# command   nan
# verdict   with out = 0
# line      norm = paddle.sqrt(paddle.sum(slope * slope, axis=1))
# affected  critic.w
import numpy as np
import paddle
import paddle.static as static


def penalty(score, x):
    (slope,) = static.gradients([score], [x])
    norm = paddle.sqrt(paddle.sum(slope * slope, axis=1))
    return paddle.mean((norm - 1) ** 2)


def main():
    paddle.enable_static()
    program, startup = static.Program(), static.Program()
    with static.program_guard(program, startup):
        x = static.data("x", [4, 2])
        x.stop_gradient = False
        zero = paddle.nn.initializer.Constant(0.0)
        critic = static.create_parameter([2, 1], "float32", name="critic.w", default_initializer=zero)
        score = paddle.tanh(x @ critic)
        loss = paddle.mean(score) + 10 * penalty(score, x)
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    for _ in range(2):
        exe.run(program, {"x": np.ones((4, 2), "float32")}, [loss])


if __name__ == "__main__":
    main()
