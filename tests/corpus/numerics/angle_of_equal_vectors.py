# symptom: gradient NaN when prediction and target agree
# cause: acos at 1: its slope is infinite
# run: gradtool nan
# verdict: backward acos_grad |x| = 1
# line: 12

import paddle

direction = paddle.to_tensor([1.0, 0.0, 0.0], stop_gradient=False)
target = paddle.to_tensor([1.0, 0.0, 0.0])
cosine = paddle.clip(paddle.sum(direction * target), -1.0, 1.0)
angle = paddle.acos(cosine)
loss = angle * angle
