# symptom  the scale has no gradient
# cause    it was made and never used
# command  why scale
# verdict  unused in forward
# line     scale = paddle.static.create_parameter([1], "float32", name="scale")
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
scale = paddle.static.create_parameter([1], "float32", name="scale")
loss = paddle.mean(paddle.static.nn.fc(x, 2, name="fc"))
