# about     A recurrent cell in a while_loop; gradients of append_backward, updates of the scope with NumPy.
import numpy as np
import paddle
from paddle import static

paddle.enable_static()
T, B, D, H = 4, 3, 5, 6

main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    seq = static.data("seq", [T, B, D])
    target = static.data("target", [B, H])
    w_x = static.create_parameter([D, H], "float32", name="w_x")
    w_h = static.create_parameter([H, H], "float32", name="w_h")
    b = static.create_parameter([H], "float32", name="b", is_bias=True)

    def cond(t, h):
        return t < T

    def body(t, h):
        x_t = paddle.gather(seq, t.reshape([1]), axis=0).reshape([B, D])
        h = paddle.tanh(paddle.matmul(x_t, w_x) + paddle.matmul(h, w_h) + b)
        return [t + 1, h]

    t0 = paddle.zeros([1], dtype="int64")
    h0 = paddle.zeros([B, H])
    h0.stop_gradient = False
    _, h = static.nn.while_loop(cond, body, [t0, h0])
    loss = paddle.mean(paddle.square(h - target))
    p_g = static.append_backward(loss)

exe = static.Executor()
exe.run(startup)
scope = static.global_scope()
rng = np.random.RandomState(3)
for _ in range(3):
    feed = {"seq": rng.randn(T, B, D).astype("float32"), "target": rng.rand(B, H).astype("float32")}
    outs = exe.run(main, feed=feed, fetch_list=[loss] + [g for _, g in p_g])
    for (p, _), g in zip(p_g, outs[1:]):
        t = scope.find_var(p.name).get_tensor()
        t.set(np.array(t) - 0.1 * g, paddle.CPUPlace())
    print(outs[0])
