# symptom   the generator does not learn
# cause     its step is given the parameters of the discriminator
# command   why
# verdict   not in parameter_list
# line      g_opt.minimize(g_loss, startup, g_params)
# affected  g1_w g1_b g2_w g2_b
import numpy as np
import paddle
import paddle.static as static
import paddle.nn.functional as F

paddle.enable_static()


def fc(x, size, name, act=None):
    return static.nn.fc(x, size, activation=act, weight_attr=name + "_w", bias_attr=name + "_b")


def generator(z):
    return fc(fc(z, 8, "g1", "relu"), 2, "g2")


def discriminator(x):
    return fc(fc(x, 8, "d1", "relu"), 1, "d2")


startup = static.Program()
d_prog = static.Program()
with static.program_guard(d_prog, startup):
    real = static.data("real", [None, 2])
    z = static.data("z", [None, 3])
    fake = generator(z)
    fake.stop_gradient = True
    d_real, d_fake = discriminator(real), discriminator(fake)
    d_loss = paddle.mean(F.softplus(-d_real)) + paddle.mean(F.softplus(d_fake))
    d_params = [p for p in d_prog.all_parameters() if p.name[0] == "d"]
    d_opt = paddle.optimizer.Adam(1e-3)
    d_opt.minimize(d_loss, startup, d_params)

g_prog = static.Program()
with static.program_guard(g_prog, startup):
    z = static.data("z", [None, 3])
    g_loss = paddle.mean(F.softplus(-discriminator(generator(z))))
    g_params = [p for p in g_prog.all_parameters() if p.name[0] == "d"]
    g_opt = paddle.optimizer.Adam(1e-3)
    g_opt.minimize(g_loss, startup, g_params)

exe = static.Executor()
exe.run(startup)
for i in range(4):
    r = np.random.randn(4, 2).astype("float32") + 2
    n = np.random.randn(4, 3).astype("float32")
    dl, = exe.run(d_prog, feed={"real": r, "z": n}, fetch_list=[d_loss])
    gl, = exe.run(g_prog, feed={"z": n}, fetch_list=[g_loss])
    print(dl, gl)
