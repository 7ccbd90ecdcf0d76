# symptom: none: nothing is wrong
# cause: exp of what is never positive
# run: gradtool nan
# verdict: clean
# line: none

import paddle

x = paddle.to_tensor([-200.0, 0.5, 200.0], stop_gradient=False)
loss = (paddle.nn.functional.relu(x) + paddle.log(1 + paddle.exp(-paddle.abs(x)))).sum()
loss.backward()
