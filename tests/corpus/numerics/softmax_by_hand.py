# symptom: loss is NaN for large logits
# cause: exp overflows: the softmax does not subtract the largest logit
# run: gradtool nan
# verdict: forward exp overflows
# line: 11

import paddle

head = paddle.nn.Linear(2, 3)
logits = head(paddle.ones([2, 2])) + paddle.to_tensor([0.0, 60.0, 120.0])
grown = paddle.exp(logits)
p = grown / grown.sum(axis=-1, keepdim=True)
loss = -p[:, 0].mean()
loss.backward()
