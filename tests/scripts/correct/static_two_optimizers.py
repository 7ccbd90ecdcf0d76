# A generator and a judge in two programs that share their parameters; each minimizes its own.
import numpy as np
import paddle
import paddle.static as static


def generate(noise):
    return static.nn.fc(noise, 2, weight_attr="generator.w", bias_attr="generator.b")


def judge(x):
    return static.nn.fc(x, 1, weight_attr="judge.w", bias_attr="judge.b")


def main():
    paddle.enable_static()
    startup, judging, generating = static.Program(), static.Program(), static.Program()
    with static.program_guard(judging, startup):
        noise, real = static.data("noise", [6, 3]), static.data("real", [6, 2])
        fake = generate(noise)
        fake.stop_gradient = True
        judge_loss = paddle.mean(paddle.square(judge(real) - 1)) + paddle.mean(paddle.square(judge(fake)))
        paddle.optimizer.Adam(1e-3).minimize(judge_loss, parameters=["judge.w", "judge.b"])
    with static.program_guard(generating, startup):
        noise = static.data("noise", [6, 3])
        generator_loss = paddle.mean(paddle.square(judge(generate(noise)) - 1))
        paddle.optimizer.Adam(1e-3).minimize(generator_loss, parameters=["generator.w", "generator.b"])
    exe = static.Executor()
    exe.run(startup)
    rng = np.random.RandomState(0)
    for _ in range(2):
        z = rng.randn(6, 3).astype("float32")
        exe.run(judging, {"noise": z, "real": rng.randn(6, 2).astype("float32")}, [judge_loss])
        exe.run(generating, {"noise": z}, [generator_loss])


if __name__ == "__main__":
    main()
