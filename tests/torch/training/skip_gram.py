"""Words near each other, with sparse gradients, after word2vec."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SkipGramModel(nn.Module):
    def __init__(self, emb_size, emb_dimension):
        super().__init__()
        self.u_embeddings = nn.Embedding(emb_size, emb_dimension, sparse=True)
        self.v_embeddings = nn.Embedding(emb_size, emb_dimension, sparse=True)
        initrange = 1.0 / emb_dimension
        nn.init.uniform_(self.u_embeddings.weight.data, -initrange, initrange)
        nn.init.uniform_(self.v_embeddings.weight.data, -initrange, initrange)

    def forward(self, pos_u, pos_v, neg_v):
        emb_u, emb_v = self.u_embeddings(pos_u), self.v_embeddings(pos_v)
        emb_neg_v = self.v_embeddings(neg_v)
        score = torch.sum(torch.mul(emb_u, emb_v), dim=1)
        score = -F.logsigmoid(torch.clamp(score, max=10, min=-10))
        neg_score = torch.bmm(emb_neg_v, emb_u.unsqueeze(2)).squeeze(2)
        neg_score = -torch.sum(F.logsigmoid(-torch.clamp(neg_score, max=10, min=-10)), dim=1)
        return torch.mean(score + neg_score)


torch.manual_seed(0)
model = SkipGramModel(30, 8)
optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
for step in range(4):
    pos_u, pos_v, neg_v = torch.randint(0, 30, (16,)), torch.randint(0, 30, (16,)), torch.randint(0, 30, (16, 5))
    optimizer.zero_grad()
    loss = model(pos_u, pos_v, neg_v)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
