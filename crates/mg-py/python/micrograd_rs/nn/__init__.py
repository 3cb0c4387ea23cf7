"""What networks are built of: modules, layers, losses. A module of your own registers what is assigned to it.

>>> import micrograd_rs as mg
>>> from micrograd_rs import nn
>>> class Net(nn.Module):
...     def __init__(self):
...         self.hidden = nn.Linear(2, 8)
...         self.out = nn.Linear(8, 1)
...     def forward(self, x):
...         return self.out(self.hidden(x).tanh())
>>> [name for name, _ in Net().named_parameters()]
['hidden.weight', 'hidden.bias', 'out.weight', 'out.bias']
"""

from __future__ import annotations

from .._micrograd_rs import MLP, Layer, Neuron
from .._names import Lazy as _Lazy
from . import functional, init
from .containers import ModuleDict, ModuleList, Sequential
from .layers import (
    GELU,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    LayerNorm,
    LeakyReLU,
    Linear,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from .losses import BCEWithLogitsLoss, CrossEntropyLoss, MSELoss, NLLLoss
from .module import Module, Parameter

__all__ = [
    "GELU",
    "MLP",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "Identity",
    "Layer",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "Neuron",
    "Parameter",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "init",
]

__getattr__ = _Lazy(__name__)
