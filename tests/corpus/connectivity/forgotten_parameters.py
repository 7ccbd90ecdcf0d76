# symptom  the head's loss falls, the embedding never changes
# cause    only the head is given to the optimizer
# command  why
# verdict  not in parameter_list
# line     opt = paddle.optimizer.SGD(0.1, parameters=head.parameters())
import paddle
from paddle import nn

embed = nn.Embedding(10, 4)
head = nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=head.parameters())
ids = paddle.to_tensor([[1, 2], [3, 9]])
for _ in range(3):
    loss = head(embed(ids)).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
