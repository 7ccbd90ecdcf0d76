# symptom   only the scale learns
# cause     the prefix that names the encoder names all layers
# command   why
# verdict   in no_grad_set
# line      opt.minimize(loss, no_grad_set=frozen)
# affected  fc_encoder.w_0 fc_head.w_0 fc_head.b_0
import numpy as np
import paddle
import paddle.static as static

paddle.enable_static()

prog = static.Program()
start = static.Program()
with static.program_guard(prog, start):
    x = static.data("x", [None, 10])
    y = static.data("y", [None, 1])
    feat = static.nn.fc(x, 8, activation="tanh", name="fc_encoder")
    feat = static.nn.fc(feat, 8, activation="tanh", name="fc_neck")
    pred = static.nn.fc(feat, 1, name="fc_head")
    scale = static.create_parameter([1], "float32", name="scale", default_initializer=paddle.nn.initializer.Constant(1.0))
    loss = paddle.nn.functional.mse_loss(pred * scale, y)
    frozen = set(p.name for p in prog.all_parameters() if p.name.startswith("fc"))
    opt = paddle.optimizer.SGD(0.1)
    opt.minimize(loss, no_grad_set=frozen)

exe = static.Executor(paddle.CPUPlace())
exe.run(start)
for _ in range(4):
    xs = np.random.rand(8, 10).astype("float32")
    print(exe.run(prog, feed={"x": xs, "y": xs.sum(1, keepdims=True)}, fetch_list=[loss])[0])
