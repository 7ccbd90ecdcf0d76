# symptom   the fetched loss is inf
# cause     log of a product that has become zero
# command   nan
# verdict   log
# line      loss = -paddle.mean(paddle.log(probability))
import numpy as np
import paddle
import paddle.static as static


def main():
    paddle.enable_static()
    x = static.data("x", [None, 3])
    score = static.nn.fc(x, 1, weight_attr=paddle.ParamAttr(name="w", initializer=paddle.nn.initializer.Constant(-60.0)))
    probability = paddle.nn.functional.sigmoid(score)
    loss = -paddle.mean(paddle.log(probability))
    paddle.optimizer.SGD(0.1).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    print(exe.run(feed={"x": np.ones([4, 3], "float32")}, fetch_list=[loss]))


if __name__ == "__main__":
    main()
