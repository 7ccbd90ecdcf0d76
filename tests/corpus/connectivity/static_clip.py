# symptom  no gradient for the box layer
# cause    predictions are clipped to a range that they never reach
# command  why box.w_0
# verdict  zero: clipped out of range
# line     box = paddle.clip(paddle.static.nn.fc(x, 4, bias_attr=far, name="box"), 0.0, 1.0)
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
far = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(50.0))
box = paddle.clip(paddle.static.nn.fc(x, 4, bias_attr=far, name="box"), 0.0, 1.0)
loss = paddle.mean(paddle.square(box - 0.5))
