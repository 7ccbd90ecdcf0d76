# about     A while loop whose state keeps its size over sixty rounds.
import paddle
from paddle import static

paddle.enable_static()
paddle.seed(2)
main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    start = static.create_parameter([2, 4], "float32", name="start")
    w = static.create_parameter([4, 4], "float32", name="w")
    i = paddle.zeros([1], "int64")

    def goes_on(i, h):
        return i < 60

    def step(i, h):
        return i + 1, h + 0.02 * paddle.tanh(paddle.matmul(h, w))

    i, h = static.nn.while_loop(goes_on, step, [i, start * 1.0])
    loss = paddle.mean((h - 1.0) ** 2)
    paddle.optimizer.SGD(0.1).minimize(loss)

exe = static.Executor()
exe.run(startup)
for _ in range(2):
    exe.run(main, fetch_list=[loss])
