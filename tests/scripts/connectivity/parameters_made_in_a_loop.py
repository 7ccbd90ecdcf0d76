# symptom   the third weight never changes
# cause     a loop runs over one weight too few
# command   why
# verdict   unused in forward
# line      w = paddle.create_parameter([4, 4], "float32")
# affected  weights[2]
import paddle

weights = []
for _ in range(3):
    w = paddle.create_parameter([4, 4], "float32")
    weights.append(w)


def forward(x):
    for k in range(2):
        x = paddle.tanh(x @ weights[k])
    return x


optimizer = paddle.optimizer.SGD(0.1, parameters=weights)
for _ in range(2):
    loss = forward(paddle.randn([2, 4])).sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
