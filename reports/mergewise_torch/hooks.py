# SPDX-License-Identifier: Apache-2.0
"""A call when a parameter's gradient is complete, in every version of torch from 1.13 on."""

import torch


class _NodeHook:
    """A hook on the node that adds to parameter.grad, which lives only as long as somebody holds it."""

    def __init__(self, node, handle):
        self._node = node
        self._handle = handle

    def remove(self):
        self._handle.remove()
        self._node = None


def after_gradient(parameter, call):
    """Calls `call()` each time a backward pass has added all it has to parameter.grad.

    A parameter that is used several times gets one call for each backward pass. Returns an object with remove().
    """
    if hasattr(parameter, "register_post_accumulate_grad_hook"):  # torch 2.1 and later
        return parameter.register_post_accumulate_grad_hook(lambda _: call())
    with torch.enable_grad():
        node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
    return _NodeHook(node, node.register_hook(lambda *_: call()))
