# symptom: attention output is NaN for an empty sentence
# cause: softmax over a row of -inf only
# run: gradtool nan
# verdict: forward softmax -inf
# line: 16

import paddle
import paddle.nn.functional as F

query = paddle.nn.Linear(4, 4)
x = paddle.ones([2, 3, 4])
lengths = paddle.to_tensor([3, 0])
scores = paddle.matmul(query(x), x, transpose_y=True)
keep = paddle.arange(3).reshape([1, 1, 3]) < lengths.reshape([2, 1, 1])
scores = paddle.where(keep.expand([2, 3, 3]), scores, paddle.full([2, 3, 3], float("-inf")))
weights = F.softmax(scores)
loss = paddle.matmul(weights, x).mean()
loss.backward()
