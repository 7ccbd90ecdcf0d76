"""Pictures and captions that find each other, after CLIP."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class CLIP(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.visual = nn.Sequential(nn.Conv2d(3, 8, 4, 4), nn.Flatten(), nn.LayerNorm(32), nn.Linear(32, dim, bias=False))
        self.token_embedding = nn.Embedding(20, dim)
        self.positional_embedding = nn.Parameter(torch.randn(6, dim) * 0.01)
        layer = nn.TransformerEncoderLayer(dim, 2, 24, 0.0, activation="gelu", batch_first=True, norm_first=True)
        self.transformer = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.ln_final = nn.LayerNorm(dim)
        self.text_projection = nn.Parameter(torch.randn(dim, dim) * dim**-0.5)
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))

    def encode_text(self, text):
        x = self.token_embedding(text) + self.positional_embedding
        mask = torch.full((6, 6), float("-inf")).triu_(1)
        x = self.ln_final(self.transformer(x, mask=mask))
        return x[torch.arange(x.shape[0]), text.argmax(dim=-1)] @ self.text_projection

    def forward(self, image, text):
        image_features, text_features = self.visual(image), self.encode_text(text)
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = text_features / text_features.norm(dim=1, keepdim=True)
        logits_per_image = self.logit_scale.exp() * image_features @ text_features.t()
        return logits_per_image, logits_per_image.t()


torch.manual_seed(0)
model = CLIP()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.2)
for step in range(4):
    images, texts = torch.rand(5, 3, 8, 8), torch.randint(1, 19, (5, 6))
    texts[:, -1] = 19
    logits_per_image, logits_per_text = model(images, texts)
    ground_truth = torch.arange(len(images))
    loss = (F.cross_entropy(logits_per_image, ground_truth) + F.cross_entropy(logits_per_text, ground_truth)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.logit_scale.data = torch.clamp(model.logit_scale.data, 0, 4.6052)
    print(step, loss.item())
