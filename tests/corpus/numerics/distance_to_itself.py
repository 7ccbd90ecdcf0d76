# symptom: the loss is fine, all gradients are NaN
# cause: sqrt at 0: the distance of a point to itself
# run: gradtool nan
# verdict: backward sqrt_grad out = 0
# line: 14

import paddle

points = paddle.nn.Linear(3, 2)
x = paddle.to_tensor([[0.1, 0.2, 0.3], [0.5, 0.1, 0.4], [0.9, 0.8, 0.2]])
z = points(x)
gaps = z.unsqueeze(0) - z.unsqueeze(1)
squares = (gaps * gaps).sum(axis=-1)
distances = paddle.sqrt(squares)
loss = distances.mean()
loss.backward()
