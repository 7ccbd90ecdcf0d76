# symptom   the first layer of a static program is not trained
# cause     minimize gets a list of names without it
# command   why
# verdict   not in parameter_list
# line      optimizer.minimize(loss, parameters=["head.w", "head.b"])
# affected  body.w
import numpy as np
import paddle
import paddle.static as static


def main():
    paddle.enable_static()
    program, startup = static.Program(), static.Program()
    with static.program_guard(program, startup):
        x = static.data("x", [None, 4])
        y = static.data("y", [None, 1])
        h = static.nn.fc(x, 6, weight_attr="body.w", bias_attr="body.b", activation="tanh")
        out = static.nn.fc(h, 1, weight_attr="head.w", bias_attr="head.b")
        loss = paddle.mean(paddle.square(out - y))
        optimizer = paddle.optimizer.SGD(0.1)
        optimizer.minimize(loss, parameters=["head.w", "head.b"])
    exe = static.Executor()
    exe.run(startup)
    for _ in range(2):
        x_value = np.random.RandomState(0).randn(5, 4).astype("float32")
        exe.run(program, {"x": x_value, "y": x_value[:, :1]}, [loss])


if __name__ == "__main__":
    main()
