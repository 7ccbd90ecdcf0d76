# symptom   the lower half of the net stays as it was drawn, whatever model.fit prints
# cause     the features are detached, and the training is paddle.Model's
# command   why
# verdict   detached
# line      h = paddle.tanh(self.body(x)).detach()
# affected  Net.body.weight Net.body.bias
import numpy as np
import paddle
from paddle import nn

class Rows(paddle.io.Dataset):
    def __len__(self): return 40
    def __getitem__(self, i):
        x = np.cos(np.arange(4) * (i + 1) + i).astype("float32")
        return x, np.array([int(x.sum() > 0)], "int64")

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.side = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)
    def forward(self, x):
        h = paddle.tanh(self.body(x)).detach()
        return self.head(nn.functional.relu(self.side(h)))

def main():
    model = paddle.Model(Net())
    model.prepare(paddle.optimizer.Adam(0.01, parameters=model.parameters()), nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    model.fit(Rows(), batch_size=4, epochs=2, verbose=0)


if __name__ == "__main__":
    main()
