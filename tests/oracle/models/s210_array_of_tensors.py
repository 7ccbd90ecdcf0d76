"""An array of tensors: places written, read and counted, one read twice."""
# kind: static
import paddle

FEED = {"x": {"shape": [2, 3], "dtype": "float32"}}
def forward():
    x = paddle.static.data("x", [2, 3], "float32")
    w = paddle.static.create_parameter([3, 3], "float32", name="w")
    h = paddle.matmul(x, w)
    first, second = paddle.full([1], 0, "int64"), paddle.full([1], 1, "int64")
    array = paddle.tensor.create_array("float32", [h])
    array = paddle.tensor.array_write(paddle.tanh(h), second, array)
    n = paddle.tensor.array_length(array)
    a = paddle.tensor.array_read(array, first)
    b = paddle.tensor.array_read(array, second)
    c = paddle.tensor.array_read(array, first)
    return {"loss": paddle.mean(a * b + c * c), "n": n}
def backward(v):
    return paddle.static.append_backward(v["loss"])
