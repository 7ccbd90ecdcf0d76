# about     A program whose convolution has a bias that batch norm takes out again.
import numpy as np
import paddle
from paddle import static

paddle.enable_static()
paddle.seed(9)
main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    x = static.data("x", [None, 2, 8, 8], "float32")
    y = static.data("y", [None, 1], "int64")
    h = static.nn.conv2d(x, 4, 3)
    h = paddle.nn.functional.relu(static.nn.batch_norm(h))
    logits = static.nn.fc(h, 3)
    loss = paddle.mean(paddle.nn.functional.cross_entropy(logits, y))
    paddle.optimizer.Adam(1e-3).minimize(loss)

exe = static.Executor(paddle.CPUPlace())
exe.run(startup)
rng = np.random.default_rng(0)
for _ in range(3):
    feed = {"x": rng.normal(size=(8, 2, 8, 8)).astype("float32"), "y": rng.integers(0, 3, (8, 1))}
    exe.run(main, feed=feed, fetch_list=[loss])
