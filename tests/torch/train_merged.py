# SPDX-License-Identifier: Apache-2.0
"""One of two ranks that train with mergewise_torch: runs scenarios, prints what came out as JSON.

    train_merged.py RANK RENDEZVOUS-FILE PLAN-FILE
"""

import json
import sys
import traceback
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "reports"))

from mergewise_torch import MergedAllReduce, Plan, load_plan  # noqa: E402

RANKS = 2


class Net(torch.nn.Module):
    """A small CNN with batch normalisation, a weight that is used twice and a frozen one."""

    def __init__(self, unused=False):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.first = torch.nn.Linear(8, 8)
        self.second = torch.nn.Linear(8, 8)
        self.second.weight = self.first.weight
        self.frozen = torch.nn.Linear(8, 8)
        self.head = torch.nn.Linear(8, 5)
        for parameter in self.frozen.parameters():
            parameter.requires_grad_(False)
        self.unused = unused

    def forward(self, images):
        x = torch.relu(self.norm(self.conv(images))).mean((2, 3))
        x = self.frozen(torch.relu(self.second(torch.relu(self.first(x)))))
        return x.sum() if self.unused else self.head(x).square().mean()


def model(unused=False):
    torch.manual_seed(1)
    return Net(unused)


def names():
    """The trained parameters, those of the last layer first."""
    return [name for name, p in model().named_parameters() if p.requires_grad][::-1]


def plan(*ends):
    ends = [e if e > 0 else len(names()) + e for e in ends]
    return Plan(tuple(tuple(names()[a:b]) for a, b in zip([0] + ends, ends)))


PLANS = {"wfbp": plan(*range(1, len(names()) + 1)), "single": plan(len(names())), "three": plan(1, 4, len(names()))}


def batch(step, rank=None):
    generator = torch.Generator().manual_seed(10 * step + (dist.get_rank() if rank is None else rank))
    return torch.randn(4, 3, 6, 6, generator=generator)


def gradients(net):
    return {name: p.grad.clone() for name, p in net.named_parameters() if p.grad is not None}


def same(first, second):
    """Names whose tensors are not equal bit by bit."""
    return sorted(first.keys() ^ second.keys()) + [n for n in first if not torch.equal(first[n], second[n])]


def of_ddp(passes):
    """What DistributedDataParallel makes of some micro-batches."""
    net = model()
    wrapped = DistributedDataParallel(net)
    with wrapped.no_sync():
        for step in range(passes - 1):
            wrapped(batch(step)).backward()
    wrapped(batch(passes - 1)).backward()
    return gradients(net)


def local():
    net = model()
    net(batch(0)).backward()
    return gradients(net)


def same_as_ddp(chosen, passes):
    net = model()
    merged = MergedAllReduce(net, chosen)
    with merged.no_sync():
        for step in range(passes - 1):
            net(batch(step)).backward()
    with merged:
        net(batch(passes - 1)).backward()
    return {"differ": same(gradients(net), of_ddp(passes)), "all": sorted(gradients(net)), "local": same(gradients(net), local())}


def training_is_ddps():
    states = []
    for wrap in (False, True):
        net = model()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        run = DistributedDataParallel(net) if wrap else net
        merged = None if wrap else MergedAllReduce(net, PLANS["three"])
        for step in range(4):
            optimizer.zero_grad()
            run(batch(step)).backward()
            if merged:
                merged.finish()
            optimizer.step()
        states.append({n: p.detach().clone() for n, p in net.named_parameters()})
    return {"differ": same(*states)}


def sends_beside_the_backward_pass():
    """Groups sent, and the first layer's gradient, in the order in which they come."""
    net, events, send = model(), [], dist.all_reduce
    merged = MergedAllReduce(net, PLANS["three"])
    net.conv.bias.register_hook(lambda _: events.append("gradient of the first layer"))

    def record(buffer, *arguments, **options):
        events.append(buffer.numel())
        return send(buffer, *arguments, **options)

    dist.all_reduce = record
    try:
        with merged:
            net(batch(0)).backward()
    finally:
        dist.all_reduce = send
    return {"events": events}


def groups_keep_the_plans_order():
    """A plan whose first group is ready last."""
    backwards = Plan(tuple((name,) for name in reversed(names())))
    return same_as_ddp(backwards, 1)


def unused_parameters_are_named():
    net = model(unused=True)
    merged = MergedAllReduce(net, PLANS["three"])
    told = refusal(lambda: finish(merged, net))
    net.unused = False
    net.zero_grad()
    finish(merged, net)  # it goes on from there
    return {"told": told, "differ": same(gradients(net), of_ddp(1))}


def finish(merged, net):
    with merged:
        net(batch(0)).backward()


def other_parameters_are_those_of_rank_0():
    torch.manual_seed(dist.get_rank())
    net = Net()
    MergedAllReduce(net, PLANS["single"])
    torch.manual_seed(0)
    return {"differ": same(dict(net.named_parameters()), dict(Net().named_parameters()))}


def after_remove_gradients_are_local():
    net = model()
    MergedAllReduce(net, PLANS["wfbp"]).remove()
    net(batch(0)).backward()
    return {"differ": same(gradients(net), local())}


def refusal(action):
    try:
        action()
    except Exception as error:  # any: the test looks at its text
        return f"{type(error).__name__}: {error}"
    return "was not refused"


def refusals():
    net, good = model(), PLANS["three"]
    mixed = model()
    mixed.head.double()
    merged = MergedAllReduce(model(), good)
    twice = model()
    again = MergedAllReduce(twice, good)
    twice(batch(0)).backward()
    wrong = {
        "unknown": Plan(good.groups + (("layer9.weight",),), "p.json"),
        "missing": Plan(good.groups[1:], "p.json"),
        "frozen": Plan(good.groups + (("frozen.bias",),), "p.json"),
        "twice": Plan(good.groups + (("head.bias",),), "p.json"),
        "empty": Plan((), "p.json"),
    }
    told = {name: refusal(lambda p=p: MergedAllReduce(net, p)) for name, p in wrong.items()}
    told["mixed"] = refusal(lambda: MergedAllReduce(mixed, Plan((tuple(names()),), "p.json")))
    told["wrapped"] = refusal(lambda: MergedAllReduce(DistributedDataParallel(model()), good))
    told["ranks"] = refusal(lambda: MergedAllReduce(model(), list(PLANS.values())[dist.get_rank()]))
    told["nothing"] = refusal(merged.finish)
    told["second"] = refusal(lambda: twice(batch(1)).backward())
    again.finish()
    return told


def main():
    rank, rendezvous, file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    torch.set_num_threads(1)
    early = refusal(lambda: MergedAllReduce(model(), PLANS["single"]))
    dist.init_process_group(
        "gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=RANKS, timeout=timedelta(seconds=60)
    )
    scenarios = {f"{n} {passes}": (same_as_ddp, p, passes) for n, p in PLANS.items() for passes in (1, 3)}
    alone = (
        training_is_ddps, sends_beside_the_backward_pass, groups_keep_the_plans_order, unused_parameters_are_named,
        other_parameters_are_those_of_rank_0, after_remove_gradients_are_local, refusals,
    )  # fmt: skip
    scenarios.update({action.__name__: (action,) for action in alone})
    scenarios["file"] = (lambda: same_as_ddp(load_plan(file), 1),)
    found = {"early": early}
    for name, (action, *arguments) in scenarios.items():
        try:
            found[name] = action(*arguments)
        except Exception:
            found[name] = {"failed": traceback.format_exc()}
            break  # the other rank may wait for ever
    print(json.dumps(found))


if __name__ == "__main__":
    main()
