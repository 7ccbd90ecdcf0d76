"""Patches of an image under attention, after pytorch/examples vision_transformer."""
import torch
import torch.nn as nn
import torch.optim as optim


class PatchExtractor(nn.Module):
    def __init__(self, patch_size=4):
        super().__init__()
        self.patch_size = patch_size

    def forward(self, input_data):
        batch_size, channels, height, width = input_data.size()
        n = height // self.patch_size * (width // self.patch_size)
        patches = input_data.unfold(2, self.patch_size, self.patch_size).unfold(3, self.patch_size, self.patch_size)
        return patches.permute(0, 2, 3, 1, 4, 5).reshape(batch_size, n, -1)


class InputEmbedding(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.patchify = PatchExtractor()
        self.linear_projection = nn.Linear(48, latent)
        self.class_token = nn.Parameter(torch.randn(1, 1, latent))
        self.pos_embedding = nn.Parameter(torch.randn(1, 5, latent))

    def forward(self, x):
        patches = self.patchify(x)
        linear_projection = self.linear_projection(patches)
        b = linear_projection.shape[0]
        tokens = torch.cat((self.class_token.expand(b, -1, -1), linear_projection), dim=1)
        return tokens + self.pos_embedding


class EncoderBlock(nn.Module):
    def __init__(self, latent, heads):
        super().__init__()
        self.norm = nn.LayerNorm(latent)
        self.attention = nn.MultiheadAttention(latent, heads, dropout=0.1, batch_first=True)
        self.norm2 = nn.LayerNorm(latent)
        self.enc_MLP = nn.Sequential(nn.Linear(latent, latent * 2), nn.GELU(), nn.Dropout(0.1), nn.Linear(latent * 2, latent))

    def forward(self, emb_patches):
        first_norm = self.norm(emb_patches)
        attention_out = self.attention(first_norm, first_norm, first_norm)[0]
        first_added = attention_out + emb_patches
        second_norm = self.norm2(first_added)
        return self.enc_MLP(second_norm) + first_added


class ViT(nn.Module):
    def __init__(self, latent=16, num_classes=10):
        super().__init__()
        self.embedding = InputEmbedding(latent)
        self.encoders = nn.ModuleList([EncoderBlock(latent, 2) for _ in range(2)])
        self.MLP_head = nn.Sequential(nn.LayerNorm(latent), nn.Linear(latent, num_classes))

    def forward(self, x):
        enc_output = self.embedding(x)
        for enc_layer in self.encoders:
            enc_output = enc_layer(enc_output)
        return self.MLP_head(enc_output[:, 0])


torch.manual_seed(0)
model = ViT()
criterion = nn.CrossEntropyLoss()
optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
images, labels = torch.rand(32, 3, 8, 8), torch.randint(0, 10, (32,))
for epoch in range(2):
    model.train()
    for start in range(0, 32, 8):
        optimizer.zero_grad()
        outputs = model(images[start : start + 8])
        loss = criterion(outputs, labels[start : start + 8])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, criterion(model(images), labels).item())
