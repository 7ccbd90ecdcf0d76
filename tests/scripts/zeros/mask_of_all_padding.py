# symptom   the loss is 0 from the first step on
# cause     the mask compares with the wrong padding id: no position is left
# command   why
# verdict   zero: multiplied by 0
# line      mask = (tokens < PADDING).astype("float32")
# affected  head.weight
import paddle
import paddle.nn.functional as F
from paddle import nn

PADDING = 0


def masked_loss(logits, tokens):
    each = F.cross_entropy(logits, tokens, reduction="none").squeeze(-1)
    mask = (tokens < PADDING).astype("float32")
    return (each * mask).sum() / (mask.sum() + 1e-8)


def main():
    paddle.seed(1)
    table, head = nn.Embedding(20, 8), nn.Linear(8, 20)
    opt = paddle.optimizer.Adam(1e-2, parameters=[*table.parameters(), *head.parameters()])
    for _ in range(2):
        tokens = paddle.randint(0, 20, [4, 9])
        loss = masked_loss(head(table(tokens)), tokens)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
