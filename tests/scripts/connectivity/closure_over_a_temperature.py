# symptom   the learned temperature does not move
# cause     a function closes over it, and a Python number is taken out of it on the way
# command   why
# verdict   detached
# line      return paddle.matmul(a, b, transpose_y=True) * float(paddle.exp(log_scale))
# affected  make_similarity.log_scale
import paddle
import paddle.nn.functional as F
from paddle import nn


def make_similarity():
    log_scale = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))

    def similarity(a, b):
        return paddle.matmul(a, b, transpose_y=True) * float(paddle.exp(log_scale))

    return similarity, [log_scale]


def main():
    paddle.seed(0)
    images, texts = nn.Linear(6, 4), nn.Linear(5, 4)
    similarity, extra = make_similarity()
    optimizer = paddle.optimizer.Adam(1e-3, parameters=[*images.parameters(), *texts.parameters(), *extra])
    for _ in range(3):
        logits = similarity(images(paddle.randn([8, 6])), texts(paddle.randn([8, 5])))
        loss = F.cross_entropy(logits, paddle.arange(8))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()


if __name__ == "__main__":
    main()
