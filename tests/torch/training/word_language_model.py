"""Words with an LSTM and updates by hand, after pytorch/examples word_language_model."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.2):
        super().__init__()
        self.ntoken = ntoken
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        self.decoder.weight = self.encoder.weight
        self.nhid, self.nlayers = nhid, nlayers
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        output = self.drop(output)
        decoded = self.decoder(output)
        decoded = decoded.view(-1, self.ntoken)
        return F.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid)


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def evaluate(model, data):
    model.eval()
    total_loss = 0.0
    hidden = model.init_hidden(4)
    with torch.no_grad():
        for i in range(0, 20, 10):
            output, hidden = model(data[i : i + 10], hidden)
            hidden = repackage_hidden(hidden)
            total_loss += criterion(output, data[i + 1 : i + 11].reshape(-1)).item()
    return total_loss / 2


torch.manual_seed(1111)
data = torch.randint(0, 20, (41, 4))
model = RNNModel(20, 16, 16, 2)
criterion = nn.NLLLoss()
lr, best = 5.0, None
for epoch in range(2):
    model.train()
    total_loss = 0.0
    hidden = model.init_hidden(4)
    for i in range(0, 40, 10):
        source, targets = data[i : i + 10], data[i + 1 : i + 11].reshape(-1)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(source, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total_loss += loss.item()
    val_loss = evaluate(model, data)
    print(f"epoch {epoch} loss {total_loss / 4:.4f} valid {val_loss:.4f}")
    if not best or val_loss < best:
        best = val_loss
    else:
        lr /= 4.0
