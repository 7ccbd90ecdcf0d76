# symptom: none: nothing is wrong
# cause: cross_entropy subtracts the largest logit
# run: gradtool nan
# verdict: clean
# line: none

import paddle
import paddle.nn.functional as F

head = paddle.nn.Linear(2, 3)
logits = head(paddle.ones([2, 2])) * 1000.0
loss = F.cross_entropy(logits, paddle.to_tensor([0, 2]))
loss.backward()
