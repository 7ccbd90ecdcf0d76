# symptom   NaN from the first step on
# cause     a missing value in the data
# command   nan
# verdict   came in
# line      loss = F.binary_cross_entropy_with_logits(net(x), y)
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

TABLE = """1.0,0.5,2.0,1
0.3,,1.0,0
0.9,0.1,0.4,1
0.2,0.7,0.6,0"""


def batches():
    rows = np.genfromtxt(TABLE.splitlines(), delimiter=",", dtype="float32")
    for _ in range(2):
        yield paddle.to_tensor(rows[:, :3]), paddle.to_tensor(rows[:, 3:])


def main():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for x, y in batches():
        loss = F.binary_cross_entropy_with_logits(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
