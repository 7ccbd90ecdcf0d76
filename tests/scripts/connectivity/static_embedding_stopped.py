# symptom   the table of words does not learn
# cause     stop_gradient of what the embedding gives, from a day of debugging
# command   why
# verdict   stop_gradient
# line      emb.stop_gradient = True
# affected  word_emb
import numpy as np
import paddle
from paddle import static
from paddle.static import nn

paddle.enable_static()

VOCAB, DIM, CLASSES = 50, 8, 3

main_program = static.default_main_program()
startup_program = static.default_startup_program()

words = static.data("words", [-1, 6], "int64")
label = static.data("label", [-1, 1], "int64")
emb = nn.embedding(words, size=[VOCAB, DIM], param_attr=paddle.ParamAttr(name="word_emb"))
emb.stop_gradient = True
pooled = paddle.mean(emb, axis=1)
h = nn.fc(pooled, 16, activation="tanh", weight_attr=paddle.ParamAttr(name="fc1_w"), bias_attr=paddle.ParamAttr(name="fc1_b"))
logits = nn.fc(h, CLASSES, weight_attr=paddle.ParamAttr(name="fc2_w"), bias_attr=paddle.ParamAttr(name="fc2_b"))
loss = paddle.mean(paddle.nn.functional.softmax_with_cross_entropy(logits, label))
acc = static.accuracy(paddle.nn.functional.softmax(logits), label)

optimizer = paddle.optimizer.Adam(learning_rate=1e-2)
optimizer.minimize(loss)

exe = static.Executor(paddle.CPUPlace())
exe.run(startup_program)
rng = np.random.RandomState(1)
for epoch in range(3):
    w = rng.randint(0, VOCAB, (8, 6)).astype("int64")
    y = (w.sum(1, keepdims=True) % CLASSES).astype("int64")
    out = exe.run(main_program, feed={"words": w, "label": y}, fetch_list=[loss.name, acc.name])
    print(epoch, out)
