# about     A teacher that no optimizer holds and nobody detaches: a loss's target, and classes that it chooses.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(3)
teacher = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
student = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
opt = paddle.optimizer.Adam(1e-2, parameters=student.parameters())
for _ in range(4):
    x = paddle.randn([16, 6])
    given, own = teacher(x), student(x)
    soft = F.kl_div(F.log_softmax(own / 2, axis=1), F.softmax(given / 2, axis=1), reduction="batchmean")
    loss = soft + F.cross_entropy(own, given.argmax(axis=1))
    loss.backward()
    opt.step()
    opt.clear_grad()
