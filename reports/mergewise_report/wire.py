# SPDX-License-Identifier: Apache-2.0
"""What a case's record says of its compressor (`compression`, docs/result.md)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Compression:
    """Of a rank and an iteration; `sent` counts what a ring passes on."""

    id: str
    options: dict
    memory_bytes: int | None
    dense_bytes: int | None
    planned_bytes: int | None
    planned_compress_ns: float | None
    planned_decompress_ns: float | None
    message_bytes: float | None
    sent_bytes: float | None
    received_bytes: float | None
    planned_sent_bytes: float | None
    dense_sent_bytes: float | None
    nans: int | None
    infinities: int | None
    error: float | None
    worst_error: float | None


def compression(node):
    """From the Node of a case's `compression`, which is there."""
    wholes = ("memory_bytes", "dense_bytes", "planned_bytes", "nans", "infinities")
    numbers = (
        "planned_compress_ns",
        "planned_decompress_ns",
        "message_bytes",
        "sent_bytes",
        "received_bytes",
        "planned_sent_bytes",
        "dense_sent_bytes",
    )
    error = node["error"]
    return Compression(
        id=node["id"].required_text(),
        options={k: v.value for k, v in node["options"].members()},
        error=None if error.is_null() else error["whole"].number(),
        worst_error=None if error.is_null() else error["worst_tensor"].number(),
        **{name: node[name].whole() for name in wholes},
        **{name: node[name].number() for name in numbers},
    )
