# symptom  the tied embedding drifts away
# cause    the output layer's weight is a copy made by set_value
# command  why scale
# verdict  detached
# line     out.weight.set_value(embed.weight.t() * scale)
import paddle
from paddle import nn

embed = nn.Embedding(6, 4)
out = nn.Linear(4, 6)
scale = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(2.0))
out.weight.set_value(embed.weight.t() * scale)
ids = paddle.to_tensor([0, 3, 5])
loss = out(embed(ids)).logsumexp(axis=-1).mean()
loss.backward()
