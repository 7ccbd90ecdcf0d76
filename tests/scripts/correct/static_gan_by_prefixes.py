# about     A GAN of two programs that share parameters by name, as in the book of version 1: each list is a prefix.
import numpy as np
import paddle
import paddle.static as static
import paddle.nn.functional as F
from paddle import ParamAttr

paddle.enable_static()
NOISE = 4


def G(z):
    h = static.nn.fc(z, 16, activation="relu", weight_attr=ParamAttr(name="g_w1"), bias_attr=ParamAttr(name="g_b1"))
    return static.nn.fc(h, 2, weight_attr=ParamAttr(name="g_w2"), bias_attr=ParamAttr(name="g_b2"))


def D(x):
    h = static.nn.fc(x, 16, activation="leaky_relu", weight_attr=ParamAttr(name="d_w1"), bias_attr=ParamAttr(name="d_b1"))
    return static.nn.fc(h, 1, weight_attr=ParamAttr(name="d_w2"), bias_attr=ParamAttr(name="d_b2"))


def get_params(program, prefix):
    return [p.name for p in program.global_block().all_parameters() if p.name.startswith(prefix)]


d_program, dg_program, startup = static.Program(), static.Program(), static.Program()

with static.program_guard(d_program, startup):
    img = static.data("img", [None, 2])
    lbl = static.data("label", [None, 1])
    d_loss = paddle.mean(F.binary_cross_entropy_with_logits(D(img), lbl))
    d_params = get_params(d_program, "d")
    paddle.optimizer.Adam(learning_rate=2e-3).minimize(d_loss, parameters=d_params)

with static.program_guard(dg_program, startup):
    noise = static.data("noise", [None, NOISE])
    ones = paddle.full([8, 1], 1.0)
    g_img = G(noise)
    g_program = dg_program.clone()
    g_program_test = dg_program.clone(for_test=True)
    dg_loss = paddle.mean(F.binary_cross_entropy_with_logits(D(g_img), ones))
    g_params = get_params(g_program, "g")
    paddle.optimizer.Adam(learning_rate=2e-3).minimize(dg_loss, parameters=g_params)

exe = static.Executor(paddle.CPUPlace())
exe.run(startup)

rng = np.random.RandomState(0)
for it in range(5):
    real = rng.randn(8, 2).astype("float32") + 3
    z = rng.randn(8, NOISE).astype("float32")
    fake = exe.run(g_program, feed={"noise": z}, fetch_list=[g_img])[0]
    total = np.concatenate([real, fake])
    labels = np.concatenate([np.ones((8, 1)), np.zeros((8, 1))]).astype("float32")
    dl = exe.run(d_program, feed={"img": total, "label": labels}, fetch_list=[d_loss])[0]
    for _ in range(2):
        z = rng.randn(8, NOISE).astype("float32")
        gl = exe.run(dg_program, feed={"noise": z}, fetch_list=[dg_loss])[0]
    print(it, dl, gl)
