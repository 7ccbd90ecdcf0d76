import paddle

teacher = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4))
for p in teacher.parameters():
    p.stop_gradient = True
student = paddle.nn.Linear(3, 4)
opt = paddle.optimizer.SGD(0.1, parameters=student.parameters())
for _ in range(3):
    x = paddle.randn([6, 3])
    loss = ((student(x) - teacher(x)) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
