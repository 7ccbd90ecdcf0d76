# symptom  only the head moves
# cause    minimize is given some parameters
# command  why
# verdict  not in parameter_list
# line     opt.minimize(loss, parameters=["head.w_0", "head.b_0"])
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
h = paddle.static.nn.fc(x, 5, activation="tanh", name="body")
loss = paddle.mean(paddle.static.nn.fc(h, 1, name="head"))
opt = paddle.optimizer.SGD(0.1)
opt.minimize(loss, parameters=["head.w_0", "head.b_0"])
