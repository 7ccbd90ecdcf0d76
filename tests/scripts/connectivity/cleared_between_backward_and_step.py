# symptom   nothing learns
# cause     clear_grad stands between backward and step
# command   why
# verdict   zero: cleared before the step
# line      optimizer.clear_grad()
# affected  model.0.weight model.2.weight
import paddle
import paddle.nn.functional as F
from paddle import nn


def step(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.clear_grad()
    optimizer.step()
    return float(loss)


def main():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
    for _ in range(3):
        print(step(model, optimizer, paddle.randn([6, 4]), paddle.randint(0, 2, [6])))


if __name__ == "__main__":
    main()
