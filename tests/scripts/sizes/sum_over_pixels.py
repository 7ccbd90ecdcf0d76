# symptom   the loss and its gradients are huge, and grow with the size of the images
# cause     the squared errors of all pixels of all images are summed, never averaged
# command   why
# verdict   adds up
# line      return ((out - x) ** 2).sum()
# affected  decoder.weight
import paddle
from paddle import nn


def reconstruction(out, x):
    return ((out - x) ** 2).sum()


def main():
    paddle.seed(2)
    encoder, decoder = nn.Linear(1024, 8), nn.Linear(8, 1024)
    opt = paddle.optimizer.SGD(1e-6, parameters=[*encoder.parameters(), *decoder.parameters()])
    for _ in range(2):
        x = paddle.rand([256, 1024])
        loss = reconstruction(decoder(paddle.tanh(encoder(x))), x)
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
