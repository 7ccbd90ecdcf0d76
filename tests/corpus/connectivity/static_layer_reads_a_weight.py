# symptom  the weight of the custom layer has no gradient
# cause    its forward reads the weight, which is none of its arguments
# command  why scale
# verdict  non-differentiable op
# line     h = paddle.static.nn.static_pylayer(forward, [h], backward)
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
scale = paddle.static.create_parameter([3], "float32", name="scale")
h = paddle.static.nn.fc(x, 3, name="fc")


def forward(a):
    return paddle.tanh(a) * scale


def backward(d):
    return d * 0.5


h = paddle.static.nn.static_pylayer(forward, [h], backward)
loss = paddle.mean(h * h)
