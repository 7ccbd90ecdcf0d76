# about     The digits of the book of version 1: fluid.layers, a feeder, a test program cloned before minimize.
import numpy
import paddle
import paddle.fluid as fluid

paddle.enable_static()
BATCH_SIZE = 8


def multilayer_perceptron(img):
    h = fluid.layers.fc(input=img, size=16, act='tanh')
    h = fluid.layers.fc(input=h, size=16, act='tanh')
    return fluid.layers.fc(input=h, size=10, act='softmax')


def train_program():
    img = fluid.layers.data(name='img', shape=[1, 6, 6], dtype='float32')
    label = fluid.layers.data(name='label', shape=[1], dtype='int64')
    predict = multilayer_perceptron(img)
    cost = fluid.layers.cross_entropy(input=predict, label=label)
    avg_cost = fluid.layers.mean(cost)
    acc = fluid.layers.accuracy(input=predict, label=label)
    return predict, [avg_cost, acc]


def reader():
    rng = numpy.random.RandomState(0)
    for _ in range(4):
        yield [(rng.rand(1, 6, 6).astype('float32'), int(rng.randint(10))) for _ in range(BATCH_SIZE)]


def main():
    main_program = fluid.default_main_program()
    prediction, [avg_loss, acc] = train_program()
    test_program = main_program.clone(for_test=True)
    optimizer = fluid.optimizer.AdamOptimizer(learning_rate=0.001)
    optimizer.minimize(avg_loss)
    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    feeder = fluid.DataFeeder(feed_list=['img', 'label'], place=place)
    exe.run(fluid.default_startup_program())
    for epoch in range(2):
        for step, data in enumerate(reader()):
            metrics = exe.run(main_program, feed=feeder.feed(data), fetch_list=[avg_loss, acc])
        print(epoch, metrics)


if __name__ == '__main__':
    main()
