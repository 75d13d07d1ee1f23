# SPDX-License-Identifier: Apache-2.0
"""Small models and losses, and mistakes, for the tests of mergewise_export. Runs where torch is."""

import torch
from torch import nn


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
    """Runs the layer again in the backward pass."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x):
        from torch.utils.checkpoint import checkpoint

        y = self.first(x)
        return checkpoint(self.second, checkpoint(self.second, y))


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
