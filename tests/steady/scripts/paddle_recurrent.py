import paddle

cell, out = paddle.nn.LSTM(5, 6), paddle.nn.Linear(6, 1)
for _ in range(2):
    h, _state = cell(paddle.randn([3, 4, 5]))
    loss = out(paddle.nn.functional.dropout(h, 0.2)).square().mean()
    loss.backward()
