# about     a function called build makes a net for each fold
"""k-fold cross validation: a fresh model for each fold, early stopping, a plateau scheduler."""
import numpy as np
import paddle
from paddle import nn
from paddle.nn import functional as F


class EarlyStopping:
    def __init__(self, patience=2):
        self.patience, self.best, self.bad = patience, None, 0

    def __call__(self, value):
        if self.best is None or value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def folds(n, k, rng):
    idx = rng.permutation(n)
    parts = np.array_split(idx, k)
    for i in range(k):
        yield np.concatenate(parts[:i] + parts[i + 1 :]), parts[i]


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ELU(), nn.Dropout(0.2), nn.Linear(8, 1))


def fit(x, y, train_idx, val_idx, max_epochs=4):
    model = build()
    lr = paddle.optimizer.lr.ReduceOnPlateau(0.05, patience=1)
    opt = paddle.optimizer.Momentum(lr, 0.9, parameters=model.parameters())
    stop = EarlyStopping()
    for epoch in range(max_epochs):
        model.train()
        for i in range(0, len(train_idx), 8):
            rows = train_idx[i : i + 8]
            loss = F.l1_loss(model(paddle.to_tensor(x[rows])), paddle.to_tensor(y[rows]))
            loss.backward()
            opt.step()
            opt.clear_grad()
        model.eval()
        with paddle.no_grad():
            val = F.l1_loss(model(paddle.to_tensor(x[val_idx])), paddle.to_tensor(y[val_idx]))
        lr.step(val)
        if stop(float(val)):
            break
    return stop.best


def main():
    paddle.seed(0)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((24, 4)).astype("float32")
    y = (x[:, :1] ** 2 - x[:, 1:2]).astype("float32")
    scores = [fit(x, y, tr, va) for tr, va in folds(24, 3, rng)]
    print(f"{np.mean(scores):.3f} ± {np.std(scores):.3f}")


if __name__ == "__main__":
    main()
