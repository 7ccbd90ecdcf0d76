# symptom  encoder.weight.grad is None
# cause    features go through NumPy to be scaled
# command  why encoder.weight
# verdict  detached
# line     features = encoder(x).numpy()
import numpy as np
import paddle
from paddle import nn

encoder = nn.Linear(5, 3)
head = nn.Linear(3, 1)
x = paddle.randn([4, 5])
features = encoder(x).numpy()
features = features / np.linalg.norm(features, axis=1, keepdims=True)
loss = head(paddle.to_tensor(features)).mean()
loss.backward()
