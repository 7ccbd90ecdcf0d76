# about     A layer written with NumPy, called without its input in backward; gradients are fetched by name.
import numpy as np
import paddle
import paddle.static as static

paddle.enable_static()


def np_tanh(x):
    return np.tanh(np.array(x))


def np_tanh_grad(y, dy):
    return np.array(dy) * (1 - np.square(np.array(y)))


def new_var(name, dtype, shape):
    return static.default_main_program().current_block().create_var(name=name, dtype=dtype, shape=shape)


ids = static.data("ids", [4, 5], "int64")
y = static.data("y", [4, 1], "int64")
emb = static.nn.embedding(ids, size=[20, 6], padding_idx=0)
flat = paddle.reshape(emb, [4, 30])
hidden = static.nn.fc(flat, 10)
act = new_var("act", "float32", [4, 10])
static.py_func(func=np_tanh, x=hidden, out=act, backward_func=np_tanh_grad, skip_vars_in_backward_input=hidden)
act = paddle.nn.functional.dropout(act, 0.3)
logits = static.nn.fc(act, 3)
loss = paddle.mean(paddle.nn.functional.softmax_with_cross_entropy(logits, y))
lr = paddle.optimizer.lr.PiecewiseDecay(boundaries=[2, 4], values=[0.1, 0.05, 0.01])
opt = paddle.optimizer.Momentum(lr, 0.9, grad_clip=paddle.nn.ClipGradByValue(1.0))
_, pg = opt.minimize(loss)
exe = static.Executor()
exe.run(static.default_startup_program())
rs = np.random.RandomState(0)
for i in range(5):
    res = exe.run(feed={"ids": rs.randint(0, 20, (4, 5)), "y": rs.randint(0, 3, (4, 1))}, fetch_list=[loss] + [g.name for _, g in pg])
    lr.step()
    print(i, res[0], [float(np.abs(g).max()) for g in res[1:]])
