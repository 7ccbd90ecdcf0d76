"""Two recommender models in the shape of public ones, their tables as large as there.

The sizes are those that PaddleRec trains by default: BST (Chen et al. 2019, "Behavior sequence transformer for
e-commerce recommendation in Alibaba") with Adagrad, IPRec (Li et al. 2021, "Package recommendation with intra- and
inter-package attention networks") with Adam and weight decay, both on batches of five with dense gradients.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

BATCH = 5
Step = Callable[[], None]


def bst(paddle: Any) -> Step:
    """Behaviours and a target through a transformer block, and a deep network: 69 million parameters."""
    nn, F, init = paddle.nn, paddle.nn.functional, paddle.nn.initializer
    items, categories, places, users = 63001, 801, 5001, 192403
    width, heads = 3 * 96, 6

    def table(rows: int, columns: int) -> Any:
        drawn = init.TruncatedNormal(0.0, 0.1 / math.sqrt(columns))
        return nn.Embedding(rows, columns, weight_attr=paddle.ParamAttr(initializer=drawn))

    sizes = (width, 1024, 512, 256, 1)
    parts = nn.LayerDict({
        "history": nn.LayerList([table(rows, 96) for rows in (items, categories, places)]),
        "target": nn.LayerList([table(rows, 96) for rows in (items, categories, places)]),
        "user": table(users, width),
        "projections": nn.LayerList([nn.Linear(width, width) for _ in range(4)]),
        "norms": nn.LayerList([nn.LayerNorm(width) for _ in range(2)]),
        "inner": nn.LayerList([nn.Linear(width, 512), nn.Linear(512, width)]),
        "deep": nn.LayerList([nn.Linear(a, b) for a, b in itertools.pairwise(sizes)]),
    })  # fmt: skip
    optimizer = paddle.optimizer.Adagrad(1e-3, parameters=parts.parameters())
    rng = np.random.default_rng(0)

    def ids(*rows: int, count: int) -> list[Any]:
        return [paddle.to_tensor(rng.integers(0, n, (BATCH, count))) for n in rows]

    def split(x: Any) -> Any:
        return paddle.transpose(paddle.reshape(x, [BATCH, -1, heads, width // heads]), [0, 2, 1, 3])

    def step() -> None:
        looked = [
            paddle.concat([e(i) for e, i in zip(parts[name], ids(items, categories, places, count=n), strict=True)], -1)
            for name, n in (("history", 20), ("target", 1))
        ]
        x = paddle.concat(looked, 1)
        q, k, v = (split(p(x)) for p in parts["projections"][:3])
        weights = F.dropout(F.softmax(paddle.matmul(q, k, transpose_y=True)), 0.2)
        attended = paddle.transpose(paddle.matmul(weights, v), [0, 2, 1, 3])
        x = parts["norms"][0](x + F.dropout(parts["projections"][3](paddle.reshape(attended, [BATCH, -1, width])), 0.2))
        x = parts["norms"][1](x + F.dropout(parts["inner"][1](F.leaky_relu(parts["inner"][0](x))), 0.2))
        h = x.sum(1) + parts["user"](ids(users, count=1)[0])[:, 0]
        for layer in parts["deep"]:
            h = layer(F.leaky_relu(h))
        label = paddle.to_tensor(rng.integers(0, 2, (BATCH, 1)).astype("float32"))
        F.binary_cross_entropy(F.sigmoid(h), label).backward()
        optimizer.step()
        optimizer.clear_grad()

    return step


def iprec(paddle: Any) -> Step:
    """Packages of an item, a publisher and friends, each attended to in several ways: 68 million parameters."""
    nn, F, init = paddle.nn, paddle.nn.functional, paddle.nn.initializer
    users, items, publishers = 554237, 344087, 166465
    width, friends, views, packages = 64, 20, 4, (1, 50, 20, 20)

    def table(rows: int) -> Any:
        attr = paddle.ParamAttr(initializer=init.XavierUniform())
        return nn.Embedding(rows + 1, width, padding_idx=0, weight_attr=attr)

    parts = nn.LayerDict({
        "user": table(users), "item": table(items), "publisher": table(publishers),
        "ways": nn.LayerList([nn.Linear(2 * width, width) for _ in range(5)]),
        "norms": nn.LayerList([nn.BatchNorm1D(width, data_format="NLC") for _ in range(5)]),
        "scores": nn.LayerList([nn.Linear(width, 1) for _ in range(6)]),
        "own": nn.Linear(2 * width, width),
        "views": nn.LayerList([nn.Linear(width, width, bias_attr=False) for _ in range(2 * views)]),
        "view_scores": nn.LayerList([nn.Linear(2 * width, 1) for _ in range(views)]),
        "social": nn.Linear(2 * width, width, bias_attr=False),
        "gates": nn.LayerList([nn.Linear(width, width) for _ in range(6)]),
        "deep": nn.LayerList([nn.Linear(3 * width, 64), nn.Linear(64, 32), nn.Linear(32, 1)]),
    })  # fmt: skip
    optimizer = paddle.optimizer.Adam(1e-4, parameters=parts.parameters(), weight_decay=1e-5)
    rng = np.random.default_rng(0)

    def ids(rows: int, *shape: int) -> Any:
        return paddle.to_tensor(rng.integers(1, rows, (BATCH, *shape)))

    def attended(n: int, who: Any, what: Any) -> Any:
        """The rows of *what* weighed by how they go with *who*."""
        both = paddle.concat([paddle.expand(who, what.shape), what], -1)
        hidden = F.dropout(F.relu(parts["norms"][n](parts["ways"][n](both))), 0.4)
        score = F.tanh(parts["scores"][n](hidden))
        empty = (what.sum(-1, keepdim=True) == 0).astype("float32")
        return (what * F.softmax(score - 1e9 * empty, 1)).sum(1)

    def gated(n: int, one: Any, many: Any) -> Any:
        gate = F.sigmoid(parts["gates"][n](one).unsqueeze(1) + parts["gates"][n + 1](many))
        return (gate * many).sum(1)

    def step() -> None:
        user = parts["user"](ids(users, 1))
        count = BATCH * sum(packages)
        looked = parts["user"](ids(users, 220)), parts["item"](ids(items, 99)), parts["publisher"](ids(publishers, 99))
        kinds = paddle.stack([attended(n, user, x) for n, x in enumerate(looked)], 1)
        user = F.relu(parts["own"](paddle.concat([attended(3, user, kinds), user[:, 0]], -1)))
        friend = parts["user"](paddle.reshape(ids(users, sum(packages), friends), [count, friends]))
        item = parts["item"](paddle.reshape(ids(items, sum(packages)), [count]))
        publisher = parts["publisher"](paddle.reshape(ids(publishers, sum(packages)), [count]))
        seen = []
        for n in range(views):
            mapped = parts["views"][2 * n](friend)
            beside = paddle.expand(parts["views"][2 * n + 1](item).unsqueeze(1), mapped.shape)
            score = F.tanh(parts["view_scores"][n](paddle.concat([beside, mapped], -1)))
            seen.append((mapped * F.softmax(score, 1)).sum(1, keepdim=True))
        views_of = paddle.concat(seen, 1)
        whose = paddle.reshape(paddle.expand(user.unsqueeze(1), [BATCH, sum(packages), width]), [count, 1, width])
        both = paddle.concat([paddle.expand(whose, views_of.shape), views_of], -1)
        score = F.tanh(parts["scores"][5](F.dropout(F.relu(parts["social"](both)), 0.4)))
        social = (views_of * F.softmax(score, 1)).sum(1)
        pairs = [
            social,
            item,
            publisher,
            social * item,
            social * publisher,
            item * publisher,
            social * item * publisher,
        ]
        package = paddle.reshape(attended(4, whose, paddle.stack(pairs, 1)), [BATCH, -1, width])
        target, own, alike, by_friends = paddle.split(package, list(packages), axis=1)
        target = target[:, 0]
        target = target + gated(0, target, alike) + gated(2, target, by_friends)
        user = user + gated(4, user, own)
        h = paddle.concat([user, target, user * target], 1)
        for n, layer in enumerate(parts["deep"]):
            h = layer(F.dropout(F.relu(h), 0.4) if n else h)
        label = paddle.to_tensor(rng.integers(0, 2, (BATCH, 1)).astype("float32"))
        F.binary_cross_entropy(F.sigmoid(h), label).backward()
        optimizer.step()
        optimizer.clear_grad()

    return step


MODELS = {f.__name__: f for f in (bst, iprec)}
