# symptom  the teacher's side is meant to learn too
# cause    detach in a static program
# command  why teacher.w_0
# verdict  detached
# line     gap = student - teacher.detach()
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
student = paddle.static.nn.fc(x, 2, name="student")
teacher = paddle.static.nn.fc(x, 2, name="teacher")
gap = student - teacher.detach()
loss = paddle.mean(gap * gap)
