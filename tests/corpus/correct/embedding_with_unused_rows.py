# Only the rows of the batch's words have a gradient.
import paddle
from paddle import nn

table, head = nn.Embedding(1000, 8, sparse=True), nn.Linear(8, 1)
ids = paddle.to_tensor([[3, 17], [17, 999]])
loss = head(table(ids)).square().mean()
loss.backward()
