# symptom: a gradient check fails now and then
# cause: relu has a kink at 0, where zero inputs stand
# run: gradtool gradcheck
# verdict: kink b relu
# line: 13

import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([[0.0, 0.0], [1.0, 2.0]])
b = paddle.zeros([2])
b.stop_gradient = False
loss = F.relu(x + b).sum()
