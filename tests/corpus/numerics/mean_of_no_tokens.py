# symptom: loss is NaN for a batch without labels
# cause: 0/0: divided by the number of chosen tokens
# run: gradtool nan
# verdict: forward elementwise_div 0/0
# line: 13

import paddle

score = paddle.nn.Linear(4, 1)
tokens = paddle.ones([3, 4])
wanted = paddle.to_tensor([0.0, 0.0, 0.0])
per_token = score(tokens).squeeze(-1) ** 2
loss = paddle.sum(per_token * wanted) / paddle.sum(wanted)
loss.backward()
