# SPDX-License-Identifier: Apache-2.0
"""Runs training passes and takes the time of every gradient by hooks."""

import time
from functools import partial

from mergewise_export.errors import PassError, told_as
from mergewise_export.times import Pass
from mergewise_export.training import call


class HostClock:
    """The processor's: what was called has also been done."""

    stamp = staticmethod(time.perf_counter_ns)

    def settle(self):
        pass

    @staticmethod
    def between(first, second):
        return second - first


class CudaClock:
    """Events on the current stream, which in a hook is the stream of the gradient's own work.

    Stamps may be compared after settle() and until the next stamp(), which uses the events again.
    """

    def __init__(self, torch):
        self._torch = torch
        self._events = []
        self._used = 0

    def stamp(self):
        if self._used == len(self._events):
            self._events.append(self._torch.cuda.Event(enable_timing=True))
        event = self._events[self._used]
        self._used += 1
        event.record()
        return event

    def settle(self):
        self._torch.cuda.synchronize()
        self._used = 0

    @staticmethod
    def between(first, second):
        return first.elapsed_time(second) * 1e6  # from milliseconds


class Trainer:
    """One training step, again and again."""

    def __init__(self, torch, model, inputs, loss, clock):
        self._torch = torch
        self._model = model
        self._inputs = inputs
        self._loss = loss
        self._clock = clock
        self._nodes = []
        self._begins = []  # (names of the module's own parameters, stamp), in the order of the calls
        self._ready = []  # (name, stamp), in the order of the events

    def watch(self):
        """Puts the hooks in place. After a first pass: a lazy parameter has no shape before."""
        name_of = {}
        for name, parameter in self._model.named_parameters():
            name_of[id(parameter)] = name
            if parameter.requires_grad:
                # The node that adds to parameter.grad. It lives only as long as somebody holds it.
                with self._torch.enable_grad():
                    node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
                node.register_hook(partial(self._on_ready, name))
                self._nodes.append(node)
        for module in self._model.modules():
            own = [name_of[id(p)] for p in module.parameters(recurse=False) if id(p) in name_of]
            if own and not isinstance(module, self._torch.jit.ScriptModule):
                module.register_forward_pre_hook(partial(self._on_begin, tuple(own)))

    def _on_ready(self, name, *_):
        self._ready.append((name, self._clock.stamp()))

    def _on_begin(self, own, *_):
        self._begins.append((own, self._clock.stamp()))

    def run(self):
        """One pass, with fresh gradients; returns what was recorded of it and the loss."""
        for parameter in self._model.parameters():
            parameter.grad = None
        self._begins.clear()
        self._ready.clear()
        clock = self._clock
        start = clock.stamp()
        with told_as(PassError, "the forward pass"):
            output = call(self._model, self._inputs)
        with told_as(PassError, "the loss"):
            loss = self._loss(output)
        middle = clock.stamp()
        self._check(loss)
        with told_as(PassError, "the backward pass"):
            begin = clock.stamp()
            loss.backward()
            end = clock.stamp()
            clock.settle()
        with_gradient = {n for n, p in self._model.named_parameters() if p.grad is not None}
        ready = {}
        repeated = set()
        for name, stamp in self._ready:
            if name in with_gradient:
                if ready.pop(name, None) is not None:
                    repeated.add(name)
                ready[name] = clock.between(begin, stamp)  # the last time counts, and its place
        begins = [(own, clock.between(start, stamp)) for own, stamp in self._begins]
        return Pass(clock.between(start, middle), clock.between(begin, end), ready, begins, repeated), loss.detach()

    def _check(self, loss):
        if not isinstance(loss, self._torch.Tensor) or loss.numel() != 1:
            what = f"a tensor of {list(loss.shape)}" if isinstance(loss, self._torch.Tensor) else type(loss).__name__
            raise PassError(f"the loss is {what}, expected a tensor of one element")
        if not loss.requires_grad:
            raise PassError(
                "the loss depends on no parameter with requires_grad, so there are no gradients: is the model "
                "frozen, or its output detached?"
            )


def sparse_names(model):
    """Parameters whose gradients are sparse after a pass."""
    return [n for n, p in model.named_parameters() if p.grad is not None and p.grad.is_sparse]
