import paddle

net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Dropout(0.5), paddle.nn.Linear(16, 3))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(4):
    x, y = paddle.randn([12, 8]), paddle.randint(0, 3, [12])
    loss = paddle.nn.functional.cross_entropy(net(x), y)
    opt.clear_grad()
    loss.backward()
    opt.step()
