# about     A vector-quantised autoencoder: the straight-through estimator detaches the difference on purpose.
import paddle
import paddle.nn.functional as F
from paddle import nn


class Quantiser(nn.Layer):
    def __init__(self, codes=8, size=4):
        super().__init__()
        self.codebook = nn.Embedding(codes, size)

    def forward(self, z):
        table = self.codebook.weight
        distance = (z.unsqueeze(1) - table.unsqueeze(0)).pow(2).sum(axis=-1)
        q = self.codebook(distance.argmin(axis=-1))
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss


def main():
    paddle.seed(19)
    encoder, quantiser, decoder = nn.Linear(6, 4), Quantiser(), nn.Linear(4, 6)
    parameters = [*encoder.parameters(), *quantiser.parameters(), *decoder.parameters()]
    opt = paddle.optimizer.Adam(2e-3, parameters=parameters)
    for _ in range(3):
        x = paddle.randn([16, 6])
        q, commitment = quantiser(encoder(x))
        loss = F.mse_loss(decoder(q), x) + commitment
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
