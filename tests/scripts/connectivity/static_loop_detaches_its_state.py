# symptom   the recurrent weight does not learn
# cause     the state is detached in every round of the loop
# command   why
# verdict   detached
# line      carried = recurrent.detach()
# affected  w_h
import numpy as np
import paddle
from paddle import static

paddle.enable_static()
T, B, D, H = 4, 3, 5, 6

main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    seq = static.data("seq", [T, B, D])
    target = static.data("target", [B, 1])
    w_x = static.create_parameter([D, H], "float32", name="w_x")
    w_h = static.create_parameter([H, H], "float32", name="w_h")
    w_o = static.create_parameter([H, 1], "float32", name="w_o")
    index = paddle.zeros([1], dtype="int64")
    limit = paddle.full([1], T, dtype="int64")
    state = paddle.zeros([B, H])

    def not_done(t, h):
        return paddle.less_than(t, limit)

    def one_step(t, h):
        x_t = paddle.gather(seq, t, axis=0).reshape([B, D])
        recurrent = paddle.matmul(h, w_h)
        carried = recurrent.detach()
        h = paddle.tanh(paddle.matmul(x_t, w_x) + carried)
        return t + 1, h

    _, last = static.nn.while_loop(not_done, one_step, [index, state])
    loss = paddle.mean(paddle.square(paddle.matmul(last, w_o) - target))
    opt = paddle.optimizer.Adam(learning_rate=0.01)
    opt.minimize(loss)

exe = static.Executor()
exe.run(startup)
rng = np.random.RandomState(3)
for _ in range(3):
    feed = {"seq": rng.randn(T, B, D).astype("float32"), "target": rng.rand(B, 1).astype("float32")}
    print(exe.run(main, feed=feed, fetch_list=[loss])[0])
