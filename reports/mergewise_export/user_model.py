# SPDX-License-Identifier: Apache-2.0
"""The file: a Mergewise user model as YAML. Scalars are JSON, which YAML is a superset of."""

import json
import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def to_yaml(name, batch, source, times, shapes):
    """`shapes`: the shape of every tensor in times.order."""
    lines = [
        "schema: mergewise/model/1",
        f"name: {scalar(name)}",
        f"batch: {batch}",
        "times: measured",
        f"source: {json.dumps(source, ensure_ascii=False)}",
        f"forward_ns: {times.forward_ns}",
        "tensors:  # in ready order",
    ]
    for index, tensor in enumerate(times.order):
        shape = ", ".join(str(size) for size in shapes[tensor])
        layer = tensor.rpartition(".")[0] or tensor
        forward = "" if times.forward is None else f", forward_ns: {times.forward[index]}"
        lines.append(
            f"  - {{name: {scalar(tensor)}, shape: [{shape}], layer: {scalar(layer)}, "
            f"backward_ns: {times.backward[index]}{forward}}}"
        )
    return "\n".join(lines) + "\n"


def scalar(text):
    """A word as it is where no reader could take it for something else, else quoted."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return json.dumps(text, ensure_ascii=False)
