# symptom  the memory never changes
# cause    all ids are the padding index
# command  why memory.weight
# verdict  zero: never selected
# line     h = memory(ids)
import paddle
from paddle import nn

memory = nn.Embedding(8, 4, padding_idx=0, sparse=True)
head = nn.Linear(4, 1)
length = paddle.to_tensor([1, 1, 1])
ids = length // 2
h = memory(ids)
loss = head(h + 1.0).square().mean()
loss.backward()
