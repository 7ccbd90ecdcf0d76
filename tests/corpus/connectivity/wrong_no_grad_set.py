# symptom  the embedding is never trained
# cause    the no_grad_set names a result of it
# command  why emb.w_0
# verdict  in no_grad_set
# line     pairs = paddle.static.append_backward(loss, no_grad_set={words.name})
import paddle

paddle.enable_static()
ids = paddle.static.data("ids", [4, 3], "int64")
words = paddle.static.nn.embedding(ids, [20, 8], param_attr=paddle.ParamAttr(name="emb.w_0"))
score = paddle.static.nn.fc(words, 1, num_flatten_dims=2, name="score")
loss = paddle.mean(score)
pairs = paddle.static.append_backward(loss, no_grad_set={words.name})
