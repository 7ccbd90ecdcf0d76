# symptom: loss is inf in half precision
# cause: float16 ends at 65504
# run: gradtool nan
# verdict: forward square range of float16
# line: 11

import paddle

w = paddle.full([8], 300.0, dtype="float16")
w.stop_gradient = False
loss = paddle.square(w).mean()
loss.backward()
