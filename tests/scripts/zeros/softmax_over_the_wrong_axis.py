# symptom   every gradient is zero
# cause     softmax over an axis of one element is 1 whatever its input
# command   why
# verdict   zero
# line      probability = F.softmax(model(x), axis=1)
# affected  model.weight model.bias
import paddle
import paddle.nn.functional as F
from paddle import nn


def main():
    paddle.seed(2)
    model = nn.Linear(5, 1)
    opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    for _ in range(3):
        x = paddle.randn([8, 5])
        y = (x[:, :1] > 0).astype("float32")
        probability = F.softmax(model(x), axis=1)
        loss = F.binary_cross_entropy(probability * 0.998 + 0.001, y)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
