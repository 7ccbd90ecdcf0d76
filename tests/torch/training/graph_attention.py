"""Attention over the edges of a graph, after pytorch/examples gat."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Adam


class GraphAttentionLayer(nn.Module):
    def __init__(self, in_features, out_features, n_heads, concat=False, dropout=0.4):
        super().__init__()
        self.n_heads, self.concat, self.dropout = n_heads, concat, dropout
        self.n_hidden = out_features // n_heads if concat else out_features
        self.W = nn.Parameter(torch.empty(size=(in_features, self.n_hidden * n_heads)))
        self.a = nn.Parameter(torch.empty(size=(n_heads, 2 * self.n_hidden, 1)))
        self.leakyrelu = nn.LeakyReLU(0.2)
        self.softmax = nn.Softmax(dim=1)
        nn.init.xavier_normal_(self.W)
        nn.init.xavier_normal_(self.a)

    def scores(self, h):
        source = torch.matmul(h, self.a[:, : self.n_hidden, :])
        target = torch.matmul(h, self.a[:, self.n_hidden :, :])
        e = source + target.mT
        return self.leakyrelu(e)

    def forward(self, h, adj):
        n_nodes = h.shape[0]
        h = torch.mm(h, self.W)
        h = F.dropout(h, self.dropout, training=self.training)
        h = h.view(n_nodes, self.n_heads, self.n_hidden).permute(1, 0, 2)
        e = self.scores(h)
        e = torch.where(adj > 0, e, -9e16 * torch.ones_like(e))
        attention = F.softmax(e, dim=-1)
        attention = F.dropout(attention, self.dropout, training=self.training)
        h_prime = torch.matmul(attention, h)
        if self.concat:
            return h_prime.permute(1, 0, 2).contiguous().view(n_nodes, -1)
        return h_prime.mean(dim=0)


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.gat1 = GraphAttentionLayer(12, 8, 2, concat=True)
        self.gat2 = GraphAttentionLayer(8, 3, 1)

    def forward(self, x, adj):
        x = self.gat1(x, adj)
        x = F.elu(x)
        x = self.gat2(x, adj)
        return F.log_softmax(x, dim=1)


torch.manual_seed(13)
features, labels = torch.rand(20, 12), torch.randint(0, 3, (20,))
adj = ((torch.rand(20, 20) < 0.2) | torch.eye(20, dtype=torch.bool)).float()
idx_train, idx_val = torch.arange(0, 12), torch.arange(12, 20)
net = GAT()
optimizer = Adam(net.parameters(), lr=0.005, weight_decay=5e-4)
criterion = nn.NLLLoss()
for epoch in range(4):
    net.train()
    optimizer.zero_grad()
    output = net(features, adj)
    loss = criterion(output[idx_train], labels[idx_train])
    loss.backward()
    optimizer.step()
    net.eval()
    with torch.no_grad():
        acc = (net(features, adj)[idx_val].argmax(1) == labels[idx_val]).float().mean().item()
    print(epoch, loss.item(), acc)
