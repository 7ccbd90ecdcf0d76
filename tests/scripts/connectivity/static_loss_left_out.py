# symptom   the age head stays at random
# cause     its loss is computed, printed and not added
# command   why
# verdict   used, but no path to the loss
# line      aux_loss = F.l1_loss(aux, age)
# affected  aux_w aux_b
import numpy as np
import paddle
import paddle.static as static
import paddle.nn.functional as F

paddle.enable_static()


def network(x):
    shared = static.nn.fc(x, 16, activation="relu", weight_attr="shared_w", bias_attr="shared_b")
    cls = static.nn.fc(shared, 3, weight_attr="cls_w", bias_attr="cls_b")
    aux = static.nn.fc(shared, 1, weight_attr="aux_w", bias_attr="aux_b")
    return cls, aux


train_program = static.Program()
startup_program = static.Program()
with static.program_guard(train_program, startup_program):
    x = static.data("x", [-1, 8])
    label = static.data("label", [-1, 1], "int64")
    age = static.data("age", [-1, 1])
    cls, aux = network(x)
    cls_loss = F.cross_entropy(cls, label)
    aux_loss = F.l1_loss(aux, age)
    total_loss = cls_loss
    opt = paddle.optimizer.AdamW(learning_rate=1e-3, weight_decay=0.01)
    _, params_grads = opt.minimize(total_loss)

exe = static.Executor(paddle.CPUPlace())
exe.run(startup_program)
for epoch in range(3):
    xs = np.random.randn(8, 8).astype("float32")
    out = exe.run(
        train_program,
        feed={"x": xs, "label": np.random.randint(0, 3, (8, 1)), "age": xs[:, :1]},
        fetch_list=[total_loss, cls_loss, aux_loss],
    )
    print("epoch %d total %.4f cls %.4f aux %.4f" % (epoch, *[float(o) for o in out]))
