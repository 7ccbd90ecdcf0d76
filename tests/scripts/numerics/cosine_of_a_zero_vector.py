# symptom   NaN gradients for a padded sample
# cause     a row of zeros is divided by its norm
# command   nan
# verdict   0/0
# line      return x / x.norm(p=2, axis=-1, keepdim=True)
import numpy as np
import paddle
from paddle import nn


def unit(x):
    return x / x.norm(p=2, axis=-1, keepdim=True)


def main():
    rng = np.random.RandomState(0)
    data = rng.randn(6, 5).astype("float32")
    data[4] = 0.0
    layer = nn.Linear(5, 3, bias_attr=False)
    opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    x = paddle.to_tensor(data)
    for _ in range(2):
        u = unit(layer(x))
        loss = paddle.matmul(u, u, transpose_y=True).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
