# symptom  the trunk gets gradients from one head only
# cause    a line left from an experiment
# command  why trunk.w_0
# verdict  stop_gradient
# line     h.stop_gradient = True
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
h = paddle.static.nn.fc(x, 4, activation="tanh", name="trunk")
h.stop_gradient = True
loss = paddle.mean(paddle.static.nn.fc(h, 1, name="head"))
