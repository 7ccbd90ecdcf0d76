import paddle

body, head = paddle.nn.Linear(8, 16), paddle.nn.Linear(16, 1)
for _ in range(3):
    h = paddle.nn.functional.dropout(paddle.nn.functional.relu(body(paddle.randn([12, 8]))), 0.3).detach()
    loss = head(h).square().mean()
    loss.backward()
