"""bfloat16 under autocast with accumulation and a saved state that is resumed."""
import io

import torch
import torch.nn as nn

torch.manual_seed(0)


def build():
    model = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=4)
    return model, optimizer, scheduler


def epoch(model, optimizer, scheduler, data, accumulate=2):
    model.train()
    optimizer.zero_grad(set_to_none=True)
    for i, (x, y) in enumerate(data):
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y) / accumulate
        loss.backward()
        if (i + 1) % accumulate == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)
    return loss.item()


data = [(torch.randn(8, 8), torch.randint(0, 3, (8,))) for _ in range(4)]
model, optimizer, scheduler = build()
print(epoch(model, optimizer, scheduler, data))
buffer = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}, buffer)
buffer.seek(0)
checkpoint = torch.load(buffer)
model, optimizer, scheduler = build()
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
scheduler.load_state_dict(checkpoint["scheduler"])
print(epoch(model, optimizer, scheduler, data))
model.eval()
with torch.inference_mode():
    print(sum((model(x).argmax(1) == y).float().mean().item() for x, y in data) / 4)
