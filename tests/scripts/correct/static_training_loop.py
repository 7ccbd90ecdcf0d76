# about     A static program as in the handbook: data, minimize, an executor that runs the startup program and a loop.
import numpy as np
import paddle
import paddle.static as static


def build():
    x = static.data("x", [None, 5], "float32")
    label = static.data("label", [None, 1], "int64")
    h = static.nn.fc(x, 8, activation="relu")
    logits = static.nn.fc(h, 3)
    loss = paddle.mean(paddle.nn.functional.cross_entropy(logits, label))
    return loss


def main():
    paddle.enable_static()
    main_program, startup = static.Program(), static.Program()
    with static.program_guard(main_program, startup):
        loss = build()
        test_program = main_program.clone(for_test=True)
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe = static.Executor(paddle.CPUPlace())
    exe.run(startup)
    rng = np.random.RandomState(0)
    for _ in range(3):
        feed = {"x": rng.randn(6, 5).astype("float32"), "label": rng.randint(0, 3, [6, 1]).astype("int64")}
        (value,) = exe.run(main_program, feed=feed, fetch_list=[loss])
        (check,) = exe.run(test_program, feed=feed, fetch_list=[loss])
        print(float(value), float(check))


if __name__ == "__main__":
    main()
