# symptom  the classifier of the backbone does not learn
# cause    the pattern for the frozen layers matches it too
# command  why net.classifier_head.weight
# verdict  frozen
# line     p.stop_gradient = True
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.classifier_body = nn.Linear(4, 4)
        self.classifier_head = nn.Linear(4, 2)
        self.scale = nn.Linear(2, 2)

    def forward(self, x):
        return self.scale(self.classifier_head(paddle.tanh(self.classifier_body(x))))


net = Net()
for name, p in net.named_parameters():
    if name.startswith("classifier"):
        p.stop_gradient = True
loss = net(paddle.randn([3, 4])).square().mean()
loss.backward()
