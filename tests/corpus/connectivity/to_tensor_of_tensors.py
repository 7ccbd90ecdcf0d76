# symptom  the weights of the loss terms do not learn
# cause    to_tensor of a list of tensors copies values
# command  why mix
# verdict  detached
# line     terms = paddle.to_tensor([mix[0] * a, mix[1] * b])
import paddle

mix = paddle.create_parameter([2], "float32")
base = paddle.create_parameter([2], "float32")
a, b = paddle.to_tensor(2.0), paddle.to_tensor(3.0)
terms = paddle.to_tensor([mix[0] * a, mix[1] * b])
loss = (terms + base).square().sum()
loss.backward()
