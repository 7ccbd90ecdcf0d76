# A student of a static program learns what a teacher says; the list of parameters holds the student's alone.
import numpy as np
import paddle
import paddle.static as static


def main():
    paddle.enable_static()
    program, startup = static.Program(), static.Program()
    with static.program_guard(program, startup):
        x = static.data("x", [None, 3])
        said = static.nn.fc(x, 2, weight_attr="teacher.w", bias_attr="teacher.b")
        said.stop_gradient = True
        answer = static.nn.fc(x, 2, weight_attr="student.w", bias_attr="student.b")
        loss = paddle.mean(paddle.square(answer - said))
        paddle.optimizer.SGD(0.1).minimize(loss, parameters=["student.w", "student.b"])
    exe = static.Executor()
    exe.run(startup)
    for _ in range(2):
        exe.run(program, {"x": np.random.RandomState(0).randn(4, 3).astype("float32")}, [loss])


if __name__ == "__main__":
    main()
