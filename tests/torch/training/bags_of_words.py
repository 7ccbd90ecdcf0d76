"""Texts of different lengths in one bag each, after PyTorch's text classification tutorial."""
import torch
from torch import nn


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, sparse=False)
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        initrange = 0.5
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.fc.weight.data.uniform_(-initrange, initrange)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


torch.manual_seed(0)
model = TextClassificationModel(40, 8, 4)
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.1)
for epoch in range(2):
    model.train()
    total_acc, total_count = 0, 0
    for _ in range(3):
        lengths = torch.randint(2, 7, (8,))
        offsets = torch.cat([torch.zeros(1, dtype=torch.long), lengths[:-1]]).cumsum(0)
        text, label = torch.randint(0, 40, (int(lengths.sum()),)), torch.randint(0, 4, (8,))
        optimizer.zero_grad()
        predicted_label = model(text, offsets)
        loss = criterion(predicted_label, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        total_acc += (predicted_label.argmax(1) == label).sum().item()
        total_count += label.size(0)
    scheduler.step()
    print(epoch, total_acc / total_count, loss.item())
