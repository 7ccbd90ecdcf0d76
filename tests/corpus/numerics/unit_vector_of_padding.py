# symptom: loss is NaN as soon as a batch holds padding
# cause: 0/0: the norm of a zero vector
# run: gradtool nan
# verdict: forward elementwise_div 0/0
# line: 13

import paddle

table = paddle.nn.Embedding(5, 3, padding_idx=0)
ids = paddle.to_tensor([1, 2, 0])
rows = table(ids)
length = paddle.sqrt(paddle.sum(rows * rows, axis=1, keepdim=True))
unit = rows / length
loss = paddle.sum(unit * unit)
