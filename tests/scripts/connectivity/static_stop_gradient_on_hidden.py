# symptom   the embedding of a static program is not trained
# cause     stop_gradient is set on its result
# command   why
# verdict   stop_gradient
# line      mean.stop_gradient = True
# affected  emb
import numpy as np
import paddle
import paddle.static as static

paddle.enable_static()


def network(ids):
    table = static.nn.embedding(ids, [20, 6], param_attr=paddle.ParamAttr(name="emb"))
    mean = paddle.mean(table, axis=1)
    mean.stop_gradient = True
    return static.nn.fc(mean, 2, weight_attr="out.w", bias_attr="out.b")


def main():
    ids = static.data("ids", [None, 5], "int64")
    label = static.data("label", [None, 1], "int64")
    loss = paddle.mean(paddle.nn.functional.cross_entropy(network(ids), label))
    paddle.optimizer.Adam(1e-3).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    rng = np.random.RandomState(0)
    feed = {"ids": rng.randint(0, 20, [4, 5]), "label": rng.randint(0, 2, [4, 1])}
    print(exe.run(feed=feed, fetch_list=[loss]))


if __name__ == "__main__":
    main()
