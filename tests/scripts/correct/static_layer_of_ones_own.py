# about     A layer of a program made with LayerHelper: parameters, a bias and an activation by the names of operators.
import numpy as np
import paddle
from paddle.base.data_feeder import check_variable_and_dtype
from paddle.base.layer_helper import LayerHelper


def dense(input, size, param_attr=None, bias_attr=None, act=None, name=None):
    check_variable_and_dtype(input, "input", ["float32", "float64"], "dense")
    helper = LayerHelper("dense", **locals())
    dtype = helper.input_dtype()
    weight = helper.create_parameter(helper.param_attr, [input.shape[-1], size], dtype)
    out = helper.create_variable_for_type_inference(dtype)
    helper.append_op(type="mul", inputs={"X": [input], "Y": [weight]}, outputs={"Out": [out]})
    return helper.append_activation(helper.append_bias_op(out))


def main():
    paddle.enable_static()
    paddle.seed(4)
    x = paddle.static.data("x", [None, 6])
    y = paddle.static.data("y", [None, 1])
    hidden = dense(x, 8, act="tanh")
    loss = paddle.mean(paddle.square(dense(hidden, 1) - y))
    paddle.optimizer.Adam(0.01).minimize(loss)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    rng = np.random.default_rng(0)
    for _ in range(3):
        rows = rng.normal(size=(10, 6)).astype("float32")
        executor.run(feed={"x": rows, "y": rows.sum(axis=1, keepdims=True)}, fetch_list=[loss])


if __name__ == "__main__":
    main()
