"""Rows of an image read by an LSTM, after pytorch/examples mnist_rnn."""
import torch
from torch import nn, optim
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(input_size=12, hidden_size=16, batch_first=True)
        self.batchnorm = nn.BatchNorm1d(16)
        self.dropout1 = nn.Dropout(0.25)
        self.fc1 = nn.Linear(16, 16)
        self.fc2 = nn.Linear(16, 10)

    def forward(self, x):
        x = x.reshape(-1, 12, 12)
        output, hidden = self.rnn(x)
        output = output[:, -1, :]
        output = self.batchnorm(output)
        output = self.dropout1(output)
        output = self.fc1(output)
        output = F.relu(output)
        output = self.fc2(output)
        return F.log_softmax(output, dim=1)


torch.manual_seed(0)
model = Net()
optimizer = optim.Adadelta(model.parameters(), lr=0.1)
images, labels = torch.rand(48, 1, 12, 12), torch.randint(0, 10, (48,))
for epoch in range(2):
    model.train()
    for start in range(0, 48, 12):
        data, target = images[start : start + 12], labels[start : start + 12]
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, F.nll_loss(model(images), labels).item())
