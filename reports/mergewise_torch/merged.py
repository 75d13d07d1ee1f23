# SPDX-License-Identifier: Apache-2.0
"""Averages gradients over the ranks group by group of a merge plan, beside the backward pass."""

import hashlib
from contextlib import contextmanager

import torch
import torch.distributed as dist

from mergewise_torch.hooks import after_gradient
from mergewise_torch.plan import Plan, PlanError


class UnusedParameterError(RuntimeError):
    """Parameters of the plan that got no gradient; the message names them."""


class _Group:
    """A flat buffer, and the parameters that lie in it one after the other."""

    def __init__(self, names, parameters):
        self.names = names
        self.parameters = parameters
        first = parameters[0]
        self.buffer = torch.zeros(sum(p.numel() for p in parameters), dtype=first.dtype, device=first.device)
        self.slices = self.buffer.split([p.numel() for p in parameters])
        self.reset()

    def reset(self):
        self.work = None
        self.seen = [False] * len(self.names)
        self.left = len(self.names)

    def missing(self):
        return [name for name, seen in zip(self.names, self.seen) if not seen]


class MergedAllReduce:
    """Hooks on a model's parameters; in place of DistributedDataParallel, not beside it.

        merged = MergedAllReduce(model, load_plan("plan.json"))
        with merged:
            loss.backward()
        optimizer.step()

    A group is sent as soon as its gradients and those of the groups before it are complete, so all ranks send in the
    plan's order. At the end of the `with` (or in finish()) every gradient is the mean over the ranks. All ranks must
    have the same model and the same plan; parameters and buffers of the first rank are sent to the others at the
    start. Neither thread-safe nor for models on several devices.

    Throws PlanError where plan and model do not fit, RuntimeError where torch.distributed is not initialised.
    """

    def __init__(self, model, plan: Plan, process_group=None):
        if not dist.is_available() or not dist.is_initialized():
            raise RuntimeError("torch.distributed is not initialised: call init_process_group() first")
        self._process_group = process_group
        self._ranks = dist.get_world_size(process_group)
        self._sends = True
        self._next = 0
        self._groups = [_Group(names, found) for names, found in zip(plan.groups, match(model, plan))]
        self._check_ranks_agree(plan)
        self._copy_first_rank(model)
        self._hooks = [
            after_gradient(parameter, self._caller(group, index))
            for group in self._groups
            for index, parameter in enumerate(group.parameters)
        ]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.finish()
        else:
            self._reset()

    @contextmanager
    def no_sync(self):
        """Backward passes inside only accumulate; the next one outside sends the sum."""
        before, self._sends = self._sends, False
        try:
            yield
        finally:
            self._sends = before

    def finish(self):
        """Waits for all groups and writes the means to the gradients; to be called before the optimizer's step.

        Throws UnusedParameterError, with the gradients as they were, where one did not come.
        """
        for group in self._groups:
            if group.work is not None:
                group.work.wait()
        missing = [name for group in self._groups for name in group.missing()]
        count = sum(len(group.names) for group in self._groups)
        if not missing:
            for group in self._groups:
                for parameter, mean in zip(group.parameters, group.slices):
                    parameter.grad.copy_(mean.view_as(parameter.grad))
        self._reset()
        if len(missing) == count:
            raise UnusedParameterError("there is nothing to finish: no backward pass outside no_sync() came before")
        if missing:
            raise UnusedParameterError(
                f"{len(missing)} of {count} parameters got no gradient in this backward pass: {_listed(missing)}; "
                "the plan waits for each of them: freeze them (requires_grad_(False)) and plan without them"
            )

    def remove(self):
        """Takes the hooks off the model; gradients are local from then on."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def _caller(self, group, index):
        return lambda: self._on_gradient(group, index)

    def _on_gradient(self, group, index):
        if not self._sends:
            return
        parameter = group.parameters[index]
        if group.seen[index]:
            raise RuntimeError(
                f"'{group.names[index]}' got a second gradient before finish(): "
                "run all but the last backward pass inside no_sync()"
            )
        if parameter.grad.is_sparse:
            raise RuntimeError(f"'{group.names[index]}' has a sparse gradient, which a flat buffer cannot hold")
        group.slices[index].copy_(parameter.grad.reshape(-1))
        group.seen[index] = True
        group.left -= 1
        self._send_what_is_ready()

    def _send_what_is_ready(self):
        while self._next < len(self._groups) and self._groups[self._next].left == 0:
            group = self._groups[self._next]
            group.buffer.div_(self._ranks)  # before the sum: no overflow of half precision
            group.work = dist.all_reduce(group.buffer, group=self._process_group, async_op=True)
            self._next += 1

    def _reset(self):
        self._next = 0
        for group in self._groups:
            group.reset()

    def _check_ranks_agree(self, plan):
        """A mismatch would hang or mix up gradients; it is an error here, on every rank."""
        shapes = [[tuple(p.shape) for p in group.parameters] for group in self._groups]
        digest = hashlib.sha256(repr((plan.groups, shapes)).encode()).digest()
        mine = torch.tensor([int.from_bytes(digest[:7], "big")], device=self._groups[0].buffer.device)
        all_of_them = [torch.empty_like(mine) for _ in range(self._ranks)]
        dist.all_gather(all_of_them, mine, group=self._process_group)
        others = [rank for rank, theirs in enumerate(all_of_them) if theirs.item() != all_of_them[0].item()]
        if others:
            ranks = ", ".join(map(str, others))
            raise PlanError(f"{plan.source}: rank {ranks} has another plan or model than rank 0")

    def _copy_first_rank(self, model):
        first = 0 if self._process_group is None else dist.get_global_rank(self._process_group, 0)
        for tensor in [*model.parameters(), *model.buffers()]:
            dist.broadcast(tensor.detach(), first, group=self._process_group)


def match(model, plan):
    """The model's parameters by group of the plan. Throws PlanError unless they are the trainable ones, each once."""
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        raise PlanError(f"{plan.source}: the model is wrapped in DistributedDataParallel, which communicates by itself")
    parameters = dict(model.named_parameters())
    planned = [name for group in plan.groups for name in group]

    def refuse(names, what):
        if names:
            raise PlanError(f"{plan.source}: {what}: {_listed(names)}")

    refuse([n for n in dict.fromkeys(planned) if planned.count(n) > 1], "tensors are in it twice")
    refuse([n for n in planned if n not in parameters], "the model has no parameters of these names")
    refuse([n for n in planned if not parameters[n].requires_grad], "parameters of the plan are frozen")
    trained = [name for name, parameter in parameters.items() if parameter.requires_grad]
    refuse([n for n in trained if n not in set(planned)], "trained parameters of the model are not in it")
    if not planned:
        raise PlanError(f"{plan.source}: has no tensors")
    found = [[parameters[name] for name in group] for group in plan.groups]
    for index, (names, group) in enumerate(zip(plan.groups, found)):
        kinds = {(p.dtype, p.device) for p in group}
        if len(kinds) > 1:
            text = " and ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds))
            raise PlanError(f"{plan.source}: group {index} ({_listed(names)}) mixes {text}")
    return found


def _listed(names, most=5):
    text = ", ".join(f"'{name}'" for name in names[:most])
    return text + (f" and {len(names) - most} more" if len(names) > most else "")
