import paddle

net, head = paddle.nn.Linear(8, 16), paddle.nn.Linear(16, 1)
h = paddle.nn.functional.dropout(net(paddle.randn([12, 8])), 0.5)
loss = head(h).square().mean()
loss.backward()
