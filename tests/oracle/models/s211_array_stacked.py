"""The tensors of an array stacked to one tensor."""
# kind: static
import paddle

FEED = {"x": {"shape": [2, 3], "dtype": "float32"}}
def forward():
    x = paddle.static.data("x", [2, 3], "float32")
    w = paddle.static.create_parameter([3, 3], "float32", name="w")
    h = paddle.matmul(x, w)
    array = paddle.tensor.array_write(h, paddle.full([1], 0, "int64"))
    array = paddle.tensor.array_write(paddle.tanh(h), paddle.full([1], 1, "int64"), array)
    y = paddle.stack(array, axis=1)
    return {"loss": paddle.mean(y * y)}
def backward(v):
    return paddle.static.append_backward(v["loss"])
