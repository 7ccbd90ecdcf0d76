# symptom  the encoder stays as it was
# cause    a with no_grad() left from evaluation
# command  why encoder.weight
# verdict  computed under no_grad
# line     with paddle.no_grad():
import paddle
from paddle import nn

encoder, head = nn.Linear(4, 4), nn.Linear(4, 1)
x = paddle.randn([3, 4])
with paddle.no_grad():
    h = encoder(x)
loss = head(paddle.tanh(h)).mean()
loss.backward()
