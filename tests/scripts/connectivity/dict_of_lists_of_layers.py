# symptom   the second decoder layer does not learn
# cause     a loop over a dict of lists leaves out the last layer
# command   why
# verdict   unused in forward
# line      nets = {"enc": [nn.Linear(4, 4), nn.Linear(4, 4)], "dec": [nn.Linear(4, 4), nn.Linear(4, 4)]}
# affected  nets['dec'][1].weight nets['dec'][1].bias
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(3)
nets = {"enc": [nn.Linear(4, 4), nn.Linear(4, 4)], "dec": [nn.Linear(4, 4), nn.Linear(4, 4)]}
params = [p for layers in nets.values() for layer in layers for p in layer.parameters()]
optimizer = paddle.optimizer.SGD(0.1, parameters=params)
for step in range(3):
    x = paddle.randn([6, 4])
    h = x
    for layer in nets["enc"]:
        h = F.relu(layer(h))
    for layer in nets["dec"][:-1]:
        h = layer(h)
    loss = F.mse_loss(h, x)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
