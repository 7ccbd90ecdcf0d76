# symptom   the start of the recurrence gets no gradient
# cause     the state shrinks in each of 300 rounds
# command   why
# verdict   vanished
# line      i, h = static.nn.while_loop(goes_on, step, [i, h])
# affected  start
import paddle
from paddle import static

paddle.enable_static()
main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    start = static.create_parameter([2, 4], "float32", name="start")
    w = static.create_parameter([4, 4], "float32", name="w")
    i = paddle.zeros([1], "int64")
    h = start * 1.0

    def goes_on(i, h):
        return i < 300

    def step(i, h):
        h = paddle.tanh(paddle.matmul(h, w)) * 0.5
        return i + 1, h

    i, h = static.nn.while_loop(goes_on, step, [i, h])
    loss = paddle.mean((h - 1.0) ** 2)
    static.append_backward(loss)

exe = static.Executor()
startup.random_seed = 2  # of others the last digits of what is left add up to 0
exe.run(startup)
for _ in range(2):
    exe.run(main, fetch_list=[loss])
