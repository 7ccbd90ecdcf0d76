# A static program with ParamAttr(trainable=False).
import paddle

paddle.enable_static()
ids = paddle.static.data("ids", [4, 3], "int64")
fixed = paddle.ParamAttr(name="fixed", trainable=False)
words = paddle.static.nn.embedding(ids, [20, 8], param_attr=fixed)
loss = paddle.mean(paddle.static.nn.fc(words, 1, num_flatten_dims=2, name="score") ** 2)
paddle.optimizer.SGD(0.1).minimize(loss)
