"""Encoders and decoders as model libraries write them: BERT with extended masks, chunks and checkpoints; T5's relative buckets; outputs as
dataclasses; a trainer with callbacks, label smoothing by hand, and schedules by name; CLIP's loss; tokens that are ignored.
"""

import copy
import functools
import inspect
import math
import warnings
from collections import OrderedDict, UserDict
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np
import torch
import torch.utils.checkpoint
from torch import Tensor, device, nn
from torch.nn import BCEWithLogitsLoss, CrossEntropyLoss, MSELoss
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset, RandomSampler, SequentialSampler

from given import integers, normals, start

ACT2FN = {"gelu": nn.functional.gelu, "relu": nn.functional.relu, "silu": nn.functional.silu, "tanh": torch.tanh, "gelu_new": lambda x: 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))}


class Config:
    def __init__(self, **kwargs):
        self.vocab_size, self.hidden_size, self.num_layers, self.num_heads, self.intermediate_size = 30, 16, 2, 2, 24
        self.hidden_act, self.dropout, self.max_position, self.type_vocab, self.initializer_range, self.layer_norm_eps, self.pad_token_id, self.chunk = "gelu_new", 0.0, 20, 2, 0.02, 1e-12, 0, 3
        for key, value in kwargs.items():
            setattr(self, key, value)


@dataclass
class Output:
    loss: Optional[torch.FloatTensor] = None
    logits: torch.FloatTensor = None
    hidden_states: Optional[Tuple[torch.FloatTensor]] = None
    attentions: Optional[Tuple[torch.FloatTensor, ...]] = None

    def to_tuple(self):
        return tuple(getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None)


def apply_chunking_to_forward(forward_fn: Callable[..., torch.Tensor], chunk_size: int, chunk_dim: int, *input_tensors) -> torch.Tensor:
    if chunk_size > 0:
        num_chunks = input_tensors[0].shape[chunk_dim] // chunk_size
        chunks = tuple(t.chunk(num_chunks, dim=chunk_dim) for t in input_tensors)
        return torch.cat(tuple(forward_fn(*c) for c in zip(*chunks)), dim=chunk_dim)
    return forward_fn(*input_tensors)


def prune_linear_layer(layer: nn.Linear, index: torch.LongTensor, dim: int = 0) -> nn.Linear:
    index = index.to(layer.weight.device)
    W = layer.weight.index_select(dim, index).clone().detach()
    if layer.bias is not None:
        b = layer.bias.clone().detach() if dim == 1 else layer.bias[index].clone().detach()
    new_size = list(layer.weight.size())
    new_size[dim] = len(index)
    new_layer = nn.Linear(new_size[1], new_size[0], bias=layer.bias is not None).to(layer.weight.device)
    new_layer.weight.requires_grad = False
    new_layer.weight.copy_(W.contiguous())
    new_layer.weight.requires_grad = True
    if layer.bias is not None:
        new_layer.bias.requires_grad = False
        new_layer.bias.copy_(b.contiguous())
        new_layer.bias.requires_grad = True
    return new_layer


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("position_ids", torch.arange(config.max_position).expand((1, -1)), persistent=False)
        self.register_buffer("token_type_ids", torch.zeros(self.position_ids.size(), dtype=torch.long), persistent=False)

    def forward(self, input_ids, token_type_ids=None):
        seq_length = input_ids.size()[1]
        if token_type_ids is None:
            token_type_ids = self.token_type_ids[:, :seq_length].expand(input_ids.shape[0], seq_length)
        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        embeddings += self.position_embeddings(self.position_ids[:, :seq_length])
        return self.dropout(self.LayerNorm(embeddings))


class SelfAttention(nn.Module):
    def __init__(self, config, relative=False):
        super().__init__()
        self.num_heads, self.head = config.num_heads, config.hidden_size // config.num_heads
        self.query, self.key, self.value = (nn.Linear(config.hidden_size, config.hidden_size) for _ in range(3))
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        if relative:
            self.relative_attention_bias = nn.Embedding(8, config.num_heads)

    @staticmethod
    def _relative_position_bucket(relative_position, bidirectional=True, num_buckets=8, max_distance=16):
        relative_buckets = 0
        if bidirectional:
            num_buckets //= 2
            relative_buckets += (relative_position > 0).to(torch.long) * num_buckets
            relative_position = torch.abs(relative_position)
        else:
            relative_position = -torch.min(relative_position, torch.zeros_like(relative_position))
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        large = max_exact + (torch.log(relative_position.float() / max_exact) / math.log(max_distance / max_exact) * (num_buckets - max_exact)).to(torch.long)
        large = torch.min(large, torch.full_like(large, num_buckets - 1))
        relative_buckets += torch.where(is_small, relative_position, large)
        return relative_buckets

    def compute_bias(self, query_length, key_length):
        context_position = torch.arange(query_length, dtype=torch.long)[:, None]
        memory_position = torch.arange(key_length, dtype=torch.long)[None, :]
        values = self.relative_attention_bias(self._relative_position_bucket(memory_position - context_position))
        return values.permute([2, 0, 1]).unsqueeze(0)

    def transpose_for_scores(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.size()[:-1] + (self.num_heads, self.head)).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None, output_attentions=False):
        q, k, v = (self.transpose_for_scores(f(hidden_states)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head)
        if hasattr(self, "relative_attention_bias"):
            scores = scores + self.compute_bias(q.shape[2], k.shape[2])
        if attention_mask is not None:
            scores = scores + attention_mask
        probs = nn.functional.softmax(scores.float(), dim=-1).type_as(scores)
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        context = context.view(context.size()[:-2] + (self.num_heads * self.head,))
        return (self.dense(context), probs) if output_attentions else (self.dense(context),)


class Layer(nn.Module):
    def __init__(self, config, relative):
        super().__init__()
        self.attention = SelfAttention(config, relative)
        self.norm1, self.norm2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps), nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.intermediate, self.output = nn.Linear(config.hidden_size, config.intermediate_size), nn.Linear(config.intermediate_size, config.hidden_size)
        self.act, self.chunk = ACT2FN[config.hidden_act] if isinstance(config.hidden_act, str) else config.hidden_act, config.chunk

    def feed_forward_chunk(self, x):
        return self.norm2(self.output(self.act(self.intermediate(x))) + x)

    def forward(self, hidden_states, attention_mask=None, output_attentions=False):
        outputs = self.attention(hidden_states, attention_mask, output_attentions)
        x = self.norm1(outputs[0] + hidden_states)
        return (apply_chunking_to_forward(self.feed_forward_chunk, self.chunk, 1, x),) + outputs[1:]


class Model(nn.Module):
    base_model_prefix = "bert"

    def __init__(self, config):
        super().__init__()
        self.config, self.gradient_checkpointing = config, False
        self.embeddings = Embeddings(config)
        self.layer = nn.ModuleList([Layer(config, i == 1) for i in range(config.num_layers)])
        self.pooler = nn.Sequential(OrderedDict([("dense", nn.Linear(config.hidden_size, config.hidden_size)), ("activation", nn.Tanh())]))
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.decoder.bias = self.bias
        self.classifier = nn.Linear(config.hidden_size, 3)
        self.apply(self._init_weights)
        self.tie_weights()

    def tie_weights(self):
        self.decoder.weight = self.embeddings.word_embeddings.weight
        self.decoder.out_features = self.embeddings.word_embeddings.num_embeddings

    @property
    def dtype(self) -> torch.dtype:
        return next(p.dtype for p in self.parameters())

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=self.config.initializer_range)
            if isinstance(module, nn.Linear) and module.bias is not None:
                module.bias.data.zero_()
            if isinstance(module, nn.Embedding) and module.padding_idx is not None:
                module.weight.data[module.padding_idx].zero_()
        elif isinstance(module, nn.LayerNorm):
            module.bias.data.zero_()
            module.weight.data.fill_(1.0)

    def get_extended_attention_mask(self, attention_mask: Tensor, dtype: torch.dtype) -> Tensor:
        if attention_mask.dim() == 3:
            extended = attention_mask[:, None, :, :]
        elif attention_mask.dim() == 2:
            extended = attention_mask[:, None, None, :]
        else:
            raise ValueError(f"Wrong shape for attention_mask (shape {attention_mask.shape})")
        extended = extended.to(dtype=dtype)
        return (1.0 - extended) * torch.finfo(dtype).min

    def forward(self, input_ids=None, attention_mask=None, labels=None, classes=None, output_attentions=False, output_hidden_states=False):
        mask = self.get_extended_attention_mask(attention_mask, self.dtype) if attention_mask is not None else None
        x = self.embeddings(input_ids)
        hidden, attentions = (x,), ()
        for layer in self.layer:
            if self.gradient_checkpointing and self.training:
                outputs = torch.utils.checkpoint.checkpoint(layer.__call__, x, mask, output_attentions, use_reentrant=False)
            else:
                outputs = layer(x, mask, output_attentions)
            x = outputs[0]
            hidden += (x,)
            attentions += outputs[1:]
        logits = self.decoder(x) + 0 * self.bias
        loss = None
        if labels is not None:
            loss = CrossEntropyLoss()(logits.view(-1, self.config.vocab_size), labels.view(-1))
            if classes is not None:
                loss = loss + CrossEntropyLoss()(self.classifier(self.pooler(x[:, 0])), classes)
        return Output(loss, logits, hidden if output_hidden_states else None, attentions or None)

    def resize_token_embeddings(self, new):
        old = self.embeddings.word_embeddings
        made = nn.Embedding(new, old.embedding_dim, padding_idx=old.padding_idx)
        made.weight.data[: old.num_embeddings, :] = old.weight.data[: old.num_embeddings, :]
        made.weight.data[old.num_embeddings :] = old.weight.data.mean(dim=0)
        self.embeddings.word_embeddings = made
        self.bias.data = nn.functional.pad(self.bias.data, (0, new - self.bias.shape[0]), "constant", 0)
        self.config.vocab_size = new
        self.tie_weights()


class LabelSmoother:
    epsilon, ignore_index = 0.1, -100

    def __call__(self, logits, labels):
        log_probs = -nn.functional.log_softmax(logits, dim=-1)
        labels = labels.unsqueeze(-1)
        padding_mask = labels.eq(self.ignore_index)
        labels = torch.clamp(labels, min=0)
        nll_loss = log_probs.gather(dim=-1, index=labels)
        smoothed_loss = log_probs.sum(dim=-1, keepdim=True, dtype=torch.float32)
        nll_loss.masked_fill_(padding_mask, 0.0)
        smoothed_loss.masked_fill_(padding_mask, 0.0)
        active = padding_mask.numel() - padding_mask.long().sum()
        return (1 - self.epsilon) * nll_loss.sum() / active + self.epsilon * smoothed_loss.sum() / (active * log_probs.shape[-1])


class SchedulerType(Enum):
    LINEAR = "linear"
    COSINE = "cosine"


def _linear(current_step: int, *, num_warmup_steps: int, num_training_steps: int):
    if current_step < num_warmup_steps:
        return float(current_step) / float(max(1, num_warmup_steps))
    return max(0.0, float(num_training_steps - current_step) / float(max(1, num_training_steps - num_warmup_steps)))


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps, last_epoch=-1):
    return LambdaLR(optimizer, functools.partial(_linear, num_warmup_steps=num_warmup_steps, num_training_steps=num_training_steps), last_epoch)


def mask_tokens(inputs, i, vocab):
    labels = inputs.clone()
    draw = torch.tensor(integers(70 + i, 100, *inputs.shape))
    masked_indices = (draw < 30) & (inputs != 0)
    labels[~masked_indices] = -100
    inputs[masked_indices & (draw < 24)] = vocab - 1
    random_words = torch.tensor(integers(80 + i, vocab, *inputs.shape), dtype=torch.long)
    indices_random = masked_indices & (draw >= 24) & (draw < 27)
    inputs[indices_random] = random_words[indices_random]
    return inputs, labels


class TextDataset(Dataset):
    def __init__(self):
        self.items = [integers(i, 27, 5 + i % 5) for i in range(8)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return {"input_ids": [1] + [x + 2 for x in self.items[i]], "label": i % 3}


def collate(features):
    longest = max(len(f["input_ids"]) for f in features)
    ids = torch.zeros((len(features), longest), dtype=torch.long)
    for i, f in enumerate(features):
        ids[i, : len(f["input_ids"])] = torch.tensor(f["input_ids"])
    return {"input_ids": ids, "attention_mask": ids.ne(0).long(), "classes": torch.tensor([f["label"] for f in features])}


def contrastive_loss(logits: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def main():
    config = Config()
    model = start(torch, Model(config))
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[0].zero_()
    out = [float(sum(p.numel() for p in model.parameters())), float(len(model.state_dict())), float("embeddings.position_ids" in model.state_dict())]
    no_decay = ["bias", "LayerNorm.weight", "norm1.weight", "norm2.weight"]
    optimizer = torch.optim.AdamW([{"params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)], "weight_decay": 0.01}, {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)], "weight_decay": 0.0}], lr=5e-3, eps=1e-8)
    scheduler = get_linear_schedule_with_warmup(optimizer, 2, 10)
    loader = DataLoader(TextDataset(), sampler=SequentialSampler(TextDataset()), batch_size=4, collate_fn=collate)
    smoother = LabelSmoother()
    for epoch in range(2):
        model.train()
        model.gradient_checkpointing = epoch == 1
        for i, batch in enumerate(loader):
            batch["input_ids"], batch["labels"] = mask_tokens(batch["input_ids"], i, config.vocab_size)
            outputs = model(**{k: v for k, v in batch.items() if k in inspect.signature(model.forward).parameters})
            loss = outputs.loss + smoother(outputs.logits, batch["labels"])
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            scheduler.step()
            model.zero_grad()
            out += [loss.detach().item(), norm.item(), scheduler.get_last_lr()[0]]
    model.eval()
    with torch.no_grad():
        full = model(batch["input_ids"], batch["attention_mask"], output_attentions=True, output_hidden_states=True)
        assert len(full.to_tuple()) == 3 and len(full.hidden_states) == 3 and full.attentions[0].shape[1] == 2
        out += [full.attentions[1][0, 0].max().item(), full.hidden_states[-1].norm().item()]
        layer = prune_linear_layer(model.layer[0].intermediate, torch.arange(0, 24, 2))
        out += [layer(full.hidden_states[0]).sum().item(), full.logits.argmax(-1).float().mean().item()]
        model.resize_token_embeddings(33)
        grown = model(batch["input_ids"], batch["attention_mask"]).logits
        assert grown.shape[-1] == 33 and torch.allclose(grown[..., :30], full.logits, atol=1e-5)
    image, text = torch.tensor(normals(1, 4, 8)), torch.tensor(normals(2, 4, 8))
    image, text = image / image.norm(p=2, dim=-1, keepdim=True), text / text.norm(p=2, dim=-1, keepdim=True)
    logit_scale = nn.Parameter(torch.tensor(np.log(1 / 0.07), dtype=torch.float32))
    per_text = torch.matmul(text, image.t()) * logit_scale.exp()
    clip = (contrastive_loss(per_text) + contrastive_loss(per_text.t())) / 2.0
    clip.backward()
    return out + [clip.item(), logit_scale.grad.item()]
