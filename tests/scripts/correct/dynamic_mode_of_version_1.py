# about     Dynamic mode of version 1: a guard, layers with an activation, minimize after backward, save_dygraph.
import numpy as np
import paddle.fluid as fluid
from paddle.fluid.dygraph import Linear, to_variable


class MNIST(fluid.dygraph.Layer):
    def __init__(self):
        super(MNIST, self).__init__()
        self.fc1 = Linear(16, 12, act='relu')
        self.fc2 = Linear(12, 4, act='softmax')

    def forward(self, x, label=None):
        y = self.fc2(self.fc1(x))
        if label is not None:
            return y, fluid.layers.accuracy(input=y, label=label)
        return y


with fluid.dygraph.guard():
    model = MNIST()
    model.train()
    opt = fluid.optimizer.SGDOptimizer(learning_rate=0.01, parameter_list=model.parameters())
    for i in range(5):
        xs = np.random.RandomState(i).rand(8, 16).astype('float32')
        ys = np.random.RandomState(i).randint(0, 4, (8, 1)).astype('int64')
        image, label = to_variable(xs), to_variable(ys)
        predict, acc = model(image, label)
        loss = fluid.layers.cross_entropy(predict, label)
        avg_loss = fluid.layers.mean(loss)
        avg_loss.backward()
        opt.minimize(avg_loss)
        model.clear_gradients()
        if i % 2 == 0:
            print(i, avg_loss.numpy(), acc.numpy())
    fluid.save_dygraph(model.state_dict(), 'mnist')
