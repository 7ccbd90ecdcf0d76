# symptom  the second expert has a gradient of zeros
# cause    the index always picks the first
# command  why second.weight
# verdict  zero: never selected
# line     picked = outputs[:, 0]
import paddle
from paddle import nn

first, second = nn.Linear(4, 3), nn.Linear(4, 3)
x = paddle.randn([5, 4])
outputs = paddle.stack([first(x), second(x)], axis=1)
picked = outputs[:, 0]
loss = picked.square().mean()
loss.backward()
