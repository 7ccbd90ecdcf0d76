# symptom   the embedding never moves
# cause     a helper returns numpy for logging, and the model goes on with it
# command   why
# verdict   detached
# line      return paddle.to_tensor(pooled.numpy())
# affected  embed.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def build(vocabulary, size):
    return nn.Embedding(vocabulary, size), nn.Linear(size, 2)


def pool(vectors, log):
    pooled = vectors.mean(axis=1)
    if log is not None:
        log.append(float(pooled.abs().max()))
    return paddle.to_tensor(pooled.numpy())


paddle.seed(2)
embed, classify = build(12, 6)
opt = paddle.optimizer.Adam(0.01, parameters=[*embed.parameters(), *classify.parameters()])
history = []
for step in range(3):
    ids, labels = paddle.randint(0, 12, [7, 4]), paddle.randint(0, 2, [7])
    loss = F.cross_entropy(classify(pool(embed(ids), history)), labels)
    loss.backward()
    opt.step()
    opt.clear_grad()
