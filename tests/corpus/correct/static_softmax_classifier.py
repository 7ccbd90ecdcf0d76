# A classifier as in the documentation.
import paddle

paddle.enable_static()
x = paddle.static.data("x", [None, 13])
label = paddle.static.data("label", [None, 1], "int64")
h = paddle.static.nn.fc(x, 10, activation="relu", name="hidden")
logits = paddle.static.nn.fc(h, 3, name="out")
loss = paddle.mean(paddle.nn.functional.cross_entropy(logits, label))
paddle.static.append_backward(loss)
