"""A loop that reads the array that it writes; the index is counted in place."""
# kind: static
import paddle

FEED = {"x": {"shape": [2, 3], "dtype": "float32"}}
KNOWN_WRONG = True
def forward():
    x = paddle.static.data("x", [2, 3], "float32")
    w = paddle.static.create_parameter([3, 3], "float32", name="w")
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
    array = paddle.tensor.array_write(paddle.tanh(x), i)
    going = paddle.less_than(i, n)
    with paddle.static.nn.control_flow.While(going).block():
        h = paddle.tanh(paddle.matmul(paddle.tensor.array_read(array, i), w))
        paddle.increment(i)
        paddle.tensor.array_write(h, i, array)
        paddle.assign(paddle.less_than(i, n), going)
    return {"loss": paddle.mean(paddle.tensor.array_read(array, n))}
def backward(v):
    return paddle.static.append_backward(v["loss"])
