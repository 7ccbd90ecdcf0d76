# symptom  the kernel's width does not learn
# cause    exp(-1000) is 0 in float32
# command  why width
# verdict  zero: saturated
# line     k = paddle.exp(-distance * width)
import paddle

width = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
distance = paddle.full([6], 1000.0)
k = paddle.exp(-distance * width)
loss = (k - 1.0).square().sum()
loss.backward()
