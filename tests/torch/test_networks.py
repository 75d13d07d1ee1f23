# SPDX-License-Identifier: Apache-2.0
"""Every network that torchvision has is what torchvision runs."""

from collections import Counter

import pytest

# At their own image sizes.
NETWORKS = {
    **{f"resnet{depth}": 224 for depth in (18, 34, 50, 101, 152)},
    **{f"vgg{depth}": 224 for depth in (11, 13, 16, 19)},
    "googlenet": 224, "googlenet_noaux": 224, "inception_v3": 299, "inception_v3_noaux": 299,
    **{f"densenet{depth}": 224 for depth in (121, 161, 169, 201)}}

# One of each family, at a size at which windows do not fit evenly.
ODD_SIZES = {"resnet18": 231, "vgg11": 231, "googlenet": 231, "inception_v3": 331, "inception_v3_noaux": 231,
             "densenet121": 231}

# The smallest image that each family takes, and the layer that refuses a smaller one.
SMALLEST = {
    "vgg11": (32, "features.20"), "googlenet": (15, "maxpool3"), "inception_v3": (299, "AuxLogits.conv1.conv"),
    "inception_v3_noaux": (75, "Mixed_7a.branch3x3_2.conv"), "densenet121": (29, "features.transition3.pool")}


def without_ones(shape: list[int]) -> list[int]:
    """Flattening {channels, 1, 1} moves nothing; ours may do it a layer earlier."""
    return [size for size in shape if size != 1]


def compare(described: dict, recorded: dict) -> None:
    assert [{"name": t["name"], "shape": t["shape"]} for t in described["tensors"]] == recorded["tensors"]
    assert described["ready_order"] == recorded["ready_order"]

    # Modules, in the order in which they ran, are layers; functions between them are layers as well, ...
    calls = {name: (without_ones(shape), macs) for name, shape, macs in recorded["calls"]}
    layers = [(layer["name"], (without_ones(layer["output"]), layer["macs"])) for layer in described["layers"]]
    assert [layer for layer in layers if layer[0] in calls] == list(calls.items())
    assert described["total_macs"] == sum(macs for _, macs in calls.values())

    # ... as many of each kind as the graph of the backward pass has.
    assert Counter(layer["kind"] for layer in described["layers"]) == recorded["kinds"]


@pytest.mark.parametrize(("model", "size"), NETWORKS.items(), ids=NETWORKS)
def test_network_is_torchvisions(torch, describe, model: str, size: int):
    compare(describe(model, size), torch.record(model, size))


@pytest.mark.parametrize(("model", "size"), ODD_SIZES.items(), ids=ODD_SIZES)
def test_shapes_at_an_odd_image_size_are_torchvisions(torch, describe, model: str, size: int):
    compare(describe(model, size), torch.record(model, size))


@pytest.mark.parametrize("model", SMALLEST)
def test_the_smallest_image_is_torchvisions(torch, describe, model: str):
    size, layer = SMALLEST[model]
    compare(describe(model, size), torch.record(model, size))
    assert "refused" in torch.record(model, size - 1)
    assert f"layer '{layer}'" in describe(model, size - 1)["refused"]


def test_a_residual_network_takes_a_single_pixel(torch, describe):
    compare(describe("resnet18", 1), torch.record("resnet18", 1))
