"""Characters from frames with CTC, after small DeepSpeech implementations."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpeechModel(nn.Module):
    def __init__(self, n_mels=8, n_class=6, dim=12):
        super().__init__()
        self.cnn = nn.Conv1d(n_mels, dim, 3, padding=1)
        self.norm = nn.LayerNorm(dim)
        self.birnn = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.classifier = nn.Sequential(nn.Linear(dim * 2, dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(dim, n_class))

    def forward(self, x, lengths):
        x = F.gelu(self.norm(self.cnn(x).transpose(1, 2)))
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        packed, _ = self.birnn(packed)
        x, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        return self.classifier(x)


torch.manual_seed(7)
model = SpeechModel()
optimizer = torch.optim.AdamW(model.parameters(), 5e-4)
criterion = nn.CTCLoss(blank=0, zero_infinity=True)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=6, anneal_strategy="linear")
for step in range(6):
    spectrograms, input_lengths = torch.randn(4, 8, 16), torch.tensor([16, 14, 12, 16])
    labels, label_lengths = torch.randint(1, 6, (4, 5)), torch.tensor([5, 4, 3, 5])
    optimizer.zero_grad()
    output = model(spectrograms, input_lengths)
    output = F.log_softmax(output, dim=2)
    output = output.transpose(0, 1)
    loss = criterion(output, labels, input_lengths, label_lengths)
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(step, loss.item())
