# symptom   after loading, training changes nothing
# cause     loaded tensors replace the layer's parameters by attribute after the optimizer took the old ones
# command   why
# verdict   not in parameter_list
# line      layer.weight = paddle.create_parameter(layer.weight.shape, "float32", default_initializer=Assign(value))
# affected  layer.weight
import os
import tempfile

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.nn.initializer import Assign


def restore(layer, path):
    value = paddle.load(path)["weight"].numpy()
    layer.weight = paddle.create_parameter(layer.weight.shape, "float32", default_initializer=Assign(value))


def main():
    paddle.seed(28)
    layer = nn.Linear(4, 2)
    handle, path = tempfile.mkstemp(suffix=".pdparams")
    os.close(handle)
    paddle.save(layer.state_dict(), path)
    opt = paddle.optimizer.Adam(1e-2, parameters=layer.parameters())
    restore(layer, path)
    os.remove(path)
    for _ in range(3):
        loss = F.cross_entropy(layer(paddle.randn([6, 4])), paddle.randint(0, 2, [6]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
