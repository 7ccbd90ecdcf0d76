"""A transformer that translates, after pytorch/examples language_translation."""
import math

import torch
import torch.nn as nn

PAD = 0


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size, dropout, maxlen=50):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pos_embedding = torch.zeros((maxlen, emb_size))
        pos_embedding[:, 0::2] = torch.sin(pos * den)
        pos_embedding[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pos_embedding", pos_embedding.unsqueeze(-2))

    def forward(self, token_embedding):
        return self.dropout(token_embedding + self.pos_embedding[: token_embedding.size(0), :])


class Seq2SeqTransformer(nn.Module):
    def __init__(self, emb_size, nhead, src_vocab, tgt_vocab):
        super().__init__()
        self.emb_size = emb_size
        self.transformer = nn.Transformer(emb_size, nhead, 1, 1, 32, 0.1)
        self.generator = nn.Linear(emb_size, tgt_vocab)
        self.src_tok_emb = nn.Embedding(src_vocab, emb_size)
        self.tgt_tok_emb = nn.Embedding(tgt_vocab, emb_size)
        self.positional_encoding = PositionalEncoding(emb_size, dropout=0.1)

    def forward(self, src, trg, src_mask, tgt_mask, src_pad, tgt_pad):
        src_emb = self.positional_encoding(self.src_tok_emb(src) * math.sqrt(self.emb_size))
        tgt_emb = self.positional_encoding(self.tgt_tok_emb(trg) * math.sqrt(self.emb_size))
        outs = self.transformer(src_emb, tgt_emb, src_mask, tgt_mask, None, src_pad, tgt_pad, src_pad)
        return self.generator(outs)


def create_mask(src, tgt):
    n = tgt.shape[0]
    tgt_mask = torch.triu(torch.ones(n, n), diagonal=1).bool()
    src_mask = torch.zeros((src.shape[0], src.shape[0])).type(torch.bool)
    return src_mask, tgt_mask, (src == PAD).transpose(0, 1), (tgt == PAD).transpose(0, 1)


torch.manual_seed(0)
model = Seq2SeqTransformer(16, 2, 20, 22)
for p in model.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
loss_fn = torch.nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = torch.optim.Adam(model.parameters(), lr=0.0001, betas=(0.9, 0.98), eps=1e-9)
for step in range(4):
    src, tgt = torch.randint(1, 20, (7, 4)), torch.randint(1, 22, (8, 4))
    src[5:, 1] = PAD
    tgt[6:, 2] = PAD
    tgt_input = tgt[:-1, :]
    masks = create_mask(src, tgt_input)
    logits = model(src, tgt_input, *masks)
    optimizer.zero_grad()
    tgt_out = tgt[1:, :]
    loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
    loss.backward()
    optimizer.step()
    print(step, loss.item())
