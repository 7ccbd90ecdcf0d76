# A critic of a static program whose slope is held at 1; only its derivatives are used, so the last bias gets no gradient.
import numpy as np
import paddle
import paddle.static as static


def critic(x):
    hidden = paddle.tanh(static.nn.fc(x, 6, weight_attr="hidden.w", bias_attr="hidden.b"))
    return static.nn.fc(hidden, 1, weight_attr="score.w", bias_attr="score.b")


def main():
    paddle.enable_static()
    paddle.seed(1)
    program, startup = static.Program(), static.Program()
    with static.program_guard(program, startup):
        x = static.data("x", [5, 2])
        x.stop_gradient = False
        (slope,) = static.gradients([critic(x)], [x])
        norm = paddle.sqrt(paddle.sum(slope * slope, axis=1) + 1e-12)
        loss = paddle.mean((norm - 1) ** 2)
        paddle.optimizer.Adam(1e-2).minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    rng = np.random.RandomState(0)
    for _ in range(3):
        exe.run(program, {"x": rng.randn(5, 2).astype("float32")}, [loss])


if __name__ == "__main__":
    main()
