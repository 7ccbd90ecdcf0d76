# Accuracy and logging leave the graph, the loss does not.
import paddle
from paddle import nn

net = nn.Linear(4, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
total = 0.0
for _ in range(2):
    x, y = paddle.randn([6, 4]), paddle.randint(0, 3, [6])
    logits = net(x)
    loss = nn.functional.cross_entropy(logits, y)
    total += loss.item()
    accuracy = (logits.numpy().argmax(-1) == y.numpy()).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
