"""GT602: A causal model whose output at a step depends on inputs after it."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

RULE = Rule(
    code="GT602",
    name="sees-the-future",
    summary="A causal model whose output at a step depends on inputs after it.",
    why=(
        "It is trained to copy what it will not have when it generates: the loss is low, and the text it writes is "
        "noise. The mask is not used, transposed, or one step too wide."
    ),
    severity=Severity.ERROR,
    look=look_for_facts(FactKind.FUTURE, declared="causal"),
    options={"causal": (0, "1 says that the model is causal; else it is asked where a triangular mask is seen")},
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = paddle.nn.Embedding(10, 8)
        self.query, self.key, self.value = (paddle.nn.Linear(8, 8) for _ in range(3))
        self.head = paddle.nn.Linear(8, 10)

    def forward(self, ids):
        h = self.embed(ids)
        scores = paddle.matmul(self.query(h), self.key(h), transpose_y=True) / 8**0.5
        seen = paddle.triu(paddle.ones([ids.shape[1], ids.shape[1]]))
        scores = paddle.where(seen == 1, scores, paddle.full_like(scores, -1e9))  # triu shows what comes after
        return self.head(paddle.matmul(F.softmax(scores, axis=-1), self.value(h)))


net = Net()
text = paddle.randint(0, 10, [2, 7])
loss = F.cross_entropy(net(text[:, :-1]), text[:, 1:])
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = paddle.nn.Embedding(10, 8)
        self.query, self.key, self.value = (paddle.nn.Linear(8, 8) for _ in range(3))
        self.head = paddle.nn.Linear(8, 10)

    def forward(self, ids):
        h = self.embed(ids)
        scores = paddle.matmul(self.query(h), self.key(h), transpose_y=True) / 8**0.5
        seen = paddle.tril(paddle.ones([ids.shape[1], ids.shape[1]]))
        scores = paddle.where(seen == 1, scores, paddle.full_like(scores, -1e9))
        return self.head(paddle.matmul(F.softmax(scores, axis=-1), self.value(h)))


net = Net()
text = paddle.randint(0, 10, [2, 7])
loss = F.cross_entropy(net(text[:, :-1]), text[:, 1:])
loss.backward()
""",
)
