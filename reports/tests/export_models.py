# SPDX-License-Identifier: Apache-2.0
"""Small models and losses, and mistakes, for the tests of mergewise_export. Runs where torch is."""

from types import SimpleNamespace

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Tied(nn.Module):
    """The last layer's weight is the first one's."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.middle = nn.Linear(16, 16)
        self.decoder = nn.Linear(16, 50)
        self.decoder.weight = self.embedding.weight

    def forward(self, ids):
        return self.decoder(torch.relu(self.middle(self.embedding(ids))))


class Partial(nn.Module):
    """One layer is frozen, one is not used."""

    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.frozen = nn.Linear(width, width)
        self.unused = nn.Linear(width, width)
        self.last = nn.Linear(width, width)
        for parameter in self.frozen.parameters():
            parameter.requires_grad = False

    def forward(self, x):
        print("printed by the model")
        assert self.last.weight.grad is None, "the gradient is not fresh"
        return self.last(self.frozen(self.first(x)))


class Heads(nn.Module):
    """Two inputs by name, a dict of outputs."""

    def __init__(self):
        super().__init__()
        self.left = nn.Linear(4, 3)
        self.right = nn.Linear(5, 3)

    def forward(self, left, right):
        return {"left": self.left(left), "right": self.right(right), "note": "no tensor"}


class Unsteady(nn.Module):
    """The two branches swap places from pass to pass."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        first, second = (self.a, self.b) if self.calls % 2 else (self.b, self.a)
        return second(first(x))


class Twice(nn.Module):
    """The second layer is used twice, each time with a backward pass of its own."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)
        self.third = nn.Linear(8, 8)

    def forward(self, x):
        return checkpoint(self.second, self.third(checkpoint(self.second, self.first(x))))


class PassesOn(torch.autograd.Function):
    """Says that the second argument has no gradient."""

    @staticmethod
    def forward(context, x, ignored):
        return x + 0 * ignored

    @staticmethod
    def backward(context, gradient):
        return gradient, None


class NoGradient(nn.Module):
    """A parameter that takes part in the backward pass but gets nothing."""

    def __init__(self):
        super().__init__()
        self.used = nn.Linear(8, 8)
        self.ignored = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return PassesOn.apply(self.used(x), self.ignored)


class OwnLoss(nn.Module):
    """An output with a loss of its own, which is not of all layers."""

    def __init__(self, as_dict=False):
        super().__init__()
        self.used = nn.Linear(8, 2)
        self.other = nn.Linear(8, 2)
        self.as_dict = as_dict

    def forward(self, x):
        output = {"loss": self.used(x).sum(), "logits": self.other(x)}
        return output if self.as_dict else SimpleNamespace(**output)


def lazy():
    return nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.Linear(4, 2))


def named_on():
    """A module with a name that YAML could take for something else."""
    model = nn.Sequential(nn.Linear(8, 4))
    model.add_module("on", nn.Linear(4, 2))
    return model


def all_frozen():
    model = nn.Linear(8, 8)
    for parameter in model.parameters():
        parameter.requires_grad = False
    return model


def half():
    return nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8).half())


def two_inputs(batch):
    return {"left": torch.ones(batch, 4), "right": torch.ones(batch, 5)}


def left_only(output):
    return output["left"].sum()


def no_scalar(output):
    return output


def detached(output):
    return output.detach().sum()


def raises(*_):
    raise ValueError("first line\nsecond line")


def exits():
    raise SystemExit(4)


def a_text(*_):
    return "a text"


a_module = nn.Linear(8, 8)
a_number = 3
