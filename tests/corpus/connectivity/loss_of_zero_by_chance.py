# symptom  the head has a gradient of zeros, and the loss is 0 from the first step on
# cause    the features cancel; the bias still has a slope, so that loss is no minimum
# command  why head.weight
# verdict  zero: multiplied by 0
# line     features = nn.functional.relu(h) - nn.functional.relu(h)
import paddle
from paddle import nn

trunk, head = nn.Linear(4, 4), nn.Linear(4, 1)
h = trunk(paddle.randn([3, 4]))
features = nn.functional.relu(h) - nn.functional.relu(h)
loss = head(features).mean()
loss.backward()
