import paddle

net = paddle.nn.Linear(8, 4)
loss = paddle.nn.functional.dropout(net(paddle.randn([12, 8])), 1.0).square().mean()
loss.backward()
