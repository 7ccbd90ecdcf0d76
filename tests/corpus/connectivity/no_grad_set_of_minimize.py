# symptom  the bias of the body stays at zero
# cause    minimize is given a no_grad_set by name
# command  why body.b_0
# verdict  in no_grad_set
# line     opt.minimize(loss, no_grad_set={"body.b_0"})
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
h = paddle.static.nn.fc(x, 5, activation="tanh", name="body")
loss = paddle.mean(paddle.static.nn.fc(h, 1, name="head"))
opt = paddle.optimizer.Adam(0.1)
opt.minimize(loss, no_grad_set={"body.b_0"})
