# symptom: loss is NaN from the first step
# cause: a NaN in the data file
# run: gradtool nan
# verdict: data matmul_v2 came in
# line: 13

import numpy as np
import paddle

rows = np.array([[1.0, 2.0], [np.nan, 0.5]], dtype="float32")
x = paddle.to_tensor(rows)
net = paddle.nn.Linear(2, 1)
loss = net(x).mean()
