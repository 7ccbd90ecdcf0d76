# symptom  the shared weight never moves
# cause    the same prediction is subtracted twice
# command  why w
# verdict  zero: cancellation
# line     negative = score.mean()
import paddle

w = paddle.create_parameter([3, 1], "float32")
x = paddle.randn([4, 3])
score = x @ w
positive = score.mean()
negative = score.mean()
margin = positive - negative
loss = margin + 1.0
loss.backward()
