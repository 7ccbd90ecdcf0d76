# symptom  the controller does not learn
# cause    weights of 100
# command  why
# verdict  zero: saturated
# line     h = paddle.tanh(paddle.static.nn.fc(x, 3, weight_attr=big, bias_attr=False))
import numpy as np
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
big = paddle.ParamAttr(name="w", initializer=paddle.nn.initializer.Constant(100.0))
h = paddle.tanh(paddle.static.nn.fc(x, 3, weight_attr=big, bias_attr=False))
loss = paddle.mean(h * h)
feed = {"x": np.ones([4, 3], "float32")}
