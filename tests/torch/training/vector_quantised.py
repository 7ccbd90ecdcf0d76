"""A codebook between an encoder and a decoder, after VQ-VAE."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class VectorQuantizer(nn.Module):
    def __init__(self, num_embeddings=12, dim=4, commitment_cost=0.25):
        super().__init__()
        self.embedding = nn.Embedding(num_embeddings, dim)
        self.embedding.weight.data.uniform_(-1 / num_embeddings, 1 / num_embeddings)
        self.commitment_cost = commitment_cost

    def forward(self, inputs):
        inputs = inputs.permute(0, 2, 3, 1).contiguous()
        flat = inputs.view(-1, inputs.shape[-1])
        distances = (flat**2).sum(1, keepdim=True) + (self.embedding.weight**2).sum(1) - 2 * flat @ self.embedding.weight.t()
        encoding_indices = torch.argmin(distances, dim=1)
        quantized = self.embedding(encoding_indices).view(inputs.shape)
        e_latent_loss = F.mse_loss(quantized.detach(), inputs)
        q_latent_loss = F.mse_loss(quantized, inputs.detach())
        loss = q_latent_loss + self.commitment_cost * e_latent_loss
        quantized = inputs + (quantized - inputs).detach()
        return loss, quantized.permute(0, 3, 1, 2).contiguous()


torch.manual_seed(0)
encoder = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 4, 3, 1, 1))
decoder = nn.Sequential(nn.Conv2d(4, 8, 3, 1, 1), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1))
quantizer = VectorQuantizer()
optimizer = torch.optim.Adam([*encoder.parameters(), *quantizer.parameters(), *decoder.parameters()], lr=1e-3)
for step in range(4):
    data = torch.rand(6, 1, 8, 8)
    optimizer.zero_grad()
    vq_loss, quantized = quantizer(encoder(data))
    recon_error = F.mse_loss(decoder(quantized), data)
    loss = recon_error + vq_loss
    loss.backward()
    optimizer.step()
    print(step, recon_error.item(), vq_loss.item())
