# symptom  the binary layer gets zeros
# cause    sign is constant between its steps
# command  why binary.w_0
# verdict  non-differentiable op
# line     bits = paddle.sign(paddle.static.nn.fc(x, 4, name="binary"))
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
bits = paddle.sign(paddle.static.nn.fc(x, 4, name="binary"))
loss = paddle.mean(paddle.static.nn.fc(bits, 1, name="head"))
