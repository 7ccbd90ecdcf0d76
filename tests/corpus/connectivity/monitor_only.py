# symptom  the critic does not learn
# cause    its score is only printed
# command  why critic.w_0
# verdict  used, but no path to the loss
# line     score = paddle.static.nn.fc(h, 1, name="critic")
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
h = paddle.static.nn.fc(x, 4, name="body")
score = paddle.static.nn.fc(h, 1, name="critic")
loss = paddle.mean(h)
