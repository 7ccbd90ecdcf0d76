# symptom   the loss of the tagger is 0 from the start
# cause     lengths are divided by the longest one and compared with positions
# command   why
# verdict   zero: multiplied by 0
# line      mask = paddle.cast(positions < lens / T, "float32")
# affected  emb_w hid_w tag_w tag_b
import numpy as np
import paddle
import paddle.static as static
import paddle.nn.functional as F

paddle.enable_static()
B, T, V, C = 4, 6, 30, 5
ids = static.data("ids", [B, T], "int64")
tags = static.data("tags", [B, T], "int64")
lens = static.data("lens", [B, 1], "float32")

emb = static.nn.embedding(ids, [V, 8], param_attr="emb_w")
hid = static.nn.fc(emb, 8, num_flatten_dims=2, activation="relu", weight_attr="hid_w", bias_attr="hid_b")
logits = static.nn.fc(hid, C, num_flatten_dims=2, weight_attr="tag_w", bias_attr="tag_b")
positions = paddle.unsqueeze(paddle.arange(1, T + 1, dtype="float32"), [0])
mask = paddle.cast(positions < lens / T, "float32")
token_loss = F.cross_entropy(logits, tags, reduction="none")
loss = paddle.sum(paddle.reshape(token_loss, [B, T]) * mask) / B
paddle.optimizer.Adam(0.01).minimize(loss)

exe = static.Executor()
exe.run(static.default_startup_program())
rng = np.random.RandomState(0)
for i in range(3):
    feed = {"ids": rng.randint(0, V, (B, T)), "tags": rng.randint(0, C, (B, T)), "lens": rng.randint(1, T + 1, (B, 1)).astype("float32")}
    print(exe.run(feed=feed, fetch_list=[loss]))
