# symptom  the policy has no gradient
# cause    argmax in a static program
# command  why policy.w_0
# verdict  non-differentiable op
# line     action = paddle.argmax(logits, axis=-1)
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
logits = paddle.static.nn.fc(x, 5, name="policy")
values = paddle.static.nn.fc(x, 5, name="value")
action = paddle.argmax(logits, axis=-1)
chosen = paddle.sum(values * paddle.nn.functional.one_hot(action, 5), axis=-1)
loss = paddle.mean(chosen)
