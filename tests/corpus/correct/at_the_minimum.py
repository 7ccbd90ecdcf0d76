# The prediction is exact: the gradient is zero because nothing is to be learned.
import paddle

w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
x = paddle.to_tensor([3.0, 4.0])
loss = ((w * x).sum() - 7.0).square()
loss.backward()
