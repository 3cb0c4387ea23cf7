"""nn.Transformer from end to end: masks, positional encoding in a buffer, teacher forcing, a warm-up schedule, greedy decoding."""

import math

import torch
import torch.nn as nn
from torch import Tensor
from torch.nn import Transformer

from given import integers, start

PAD_IDX, BOS_IDX, EOS_IDX = 1, 2, 3


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size: int, dropout: float, maxlen: int = 50):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pos_embedding = torch.zeros((maxlen, emb_size))
        pos_embedding[:, 0::2] = torch.sin(pos * den)
        pos_embedding[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pos_embedding", pos_embedding.unsqueeze(-2))

    def forward(self, token_embedding: Tensor):
        return self.dropout(token_embedding + self.pos_embedding[: token_embedding.size(0), :])


class Seq2SeqTransformer(nn.Module):
    def __init__(self, vocab, emb_size=16):
        super().__init__()
        self.transformer = Transformer(d_model=emb_size, nhead=2, num_encoder_layers=1, num_decoder_layers=2, dim_feedforward=32, dropout=0.0)
        self.generator = nn.Linear(emb_size, vocab)
        self.emb = nn.Embedding(vocab, emb_size)
        self.emb_size = emb_size
        self.positional_encoding = PositionalEncoding(emb_size, dropout=0.0)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def embed(self, tokens):
        return self.positional_encoding(self.emb(tokens.long()) * math.sqrt(self.emb_size))

    def forward(self, src, trg, src_mask, tgt_mask, src_padding_mask, tgt_padding_mask):
        outs = self.transformer(self.embed(src), self.embed(trg), src_mask, tgt_mask, None, src_padding_mask, tgt_padding_mask, src_padding_mask)
        return self.generator(outs)


def generate_square_subsequent_mask(sz):
    mask = (torch.triu(torch.ones((sz, sz))) == 1).transpose(0, 1)
    return mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, float(0.0))


def create_mask(src, tgt):
    tgt_mask = generate_square_subsequent_mask(tgt.shape[0])
    assert torch.equal(tgt_mask, Transformer.generate_square_subsequent_mask(tgt.shape[0]))
    src_mask = torch.zeros((src.shape[0], src.shape[0])).type(torch.bool)
    return src_mask, tgt_mask, (src == PAD_IDX).transpose(0, 1), (tgt == PAD_IDX).transpose(0, 1).float().masked_fill((tgt == PAD_IDX).transpose(0, 1), float("-inf"))


class NoamOpt:
    def __init__(self, model_size, factor, warmup, optimizer):
        self.optimizer, self._step, self.warmup, self.factor, self.model_size = optimizer, 0, warmup, factor, model_size

    def step(self):
        self._step += 1
        rate = self.factor * (self.model_size ** (-0.5) * min(self._step ** (-0.5), self._step * self.warmup ** (-1.5)))
        for p in self.optimizer.param_groups:
            p["lr"] = rate
        self.optimizer.step()


def main():
    model = start(torch, Seq2SeqTransformer(14))
    loss_fn = torch.nn.CrossEntropyLoss(ignore_index=PAD_IDX)
    optimizer = NoamOpt(16, 0.2, 4, torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9))
    out = []
    for i in range(4):
        body = torch.tensor(integers(i, 10, 6, 3)) + 4
        body[4:, 1] = PAD_IDX
        src = torch.cat([torch.full((1, 3), BOS_IDX), body, torch.full((1, 3), EOS_IDX)])
        tgt = src.clone()
        tgt_input = tgt[:-1, :]
        masks = create_mask(src, tgt_input)
        logits = model(src, tgt_input, *masks)
        tgt_out = tgt[1:, :]
        loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
        optimizer.optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    model.eval()
    with torch.no_grad():
        memory = model.transformer.encoder(model.embed(src[:, :1]))
        ys = torch.ones(1, 1).fill_(BOS_IDX).type(torch.long)
        for _ in range(5):
            mask = (generate_square_subsequent_mask(ys.size(0)).type(torch.bool))
            dec = model.transformer.decoder(model.embed(ys), memory, mask).transpose(0, 1)
            prob = model.generator(dec[:, -1])
            _, next_word = torch.max(prob, dim=1)
            ys = torch.cat([ys, torch.ones(1, 1).type_as(src.data).fill_(next_word.item())], dim=0)
    return out + [float(v) for v in ys.flatten()]
