# symptom: none: nothing is wrong
# cause: -inf before a softmax, one key always left
# run: gradtool nan
# verdict: clean
# line: none

import paddle
import paddle.nn.functional as F

query = paddle.nn.Linear(4, 4)
x = paddle.ones([1, 3, 4])
scores = paddle.matmul(query(x), x, transpose_y=True)
future = paddle.triu(paddle.full([3, 3], float("-inf")), diagonal=1)
weights = F.softmax(scores + future)
loss = paddle.matmul(weights, x).mean()
loss.backward()
