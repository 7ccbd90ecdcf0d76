# symptom: none: nothing is wrong
# cause: -inf by masked_fill, one score left in each row
# run: gradtool nan
# verdict: clean
# line: none

import numpy as np
import paddle

paddle.enable_static()
x = paddle.static.data("x", [2, 3])
scores = paddle.static.nn.fc(x, 3)
mask = paddle.assign(np.array([[False, True, True], [False, False, True]]))
hidden = paddle.where(mask, paddle.full([2, 3], float("-inf")), scores)
loss = paddle.mean(paddle.nn.functional.softmax(hidden) ** 2)
feed = {"x": np.ones([2, 3], "float32")}
