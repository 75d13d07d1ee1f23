# SPDX-License-Identifier: Apache-2.0
"""One screen on what was measured and what to do with the file."""

from math import prod

SLOWEST = 5


def summary(name, batch, source, times, passes, shapes, warnings, output):
    elements = {tensor: prod(shapes[tensor]) for tensor in times.order}
    forward = [one.forward for one in passes]
    backward = [one.backward for one in passes]
    lines = [f"warning: {text}" for text in warnings]
    lines += [
        f"{name}, batch {batch}: {len(times.order)} tensors, {sum(elements.values()):,} parameters",
        f"  {source}",
        f"  forward   {_ms(times.forward_ns)} ms ({_ms(min(forward))} to {_ms(max(forward))}), loss included",
        f"  backward  {_ms(times.backward_ns)} ms ({_ms(min(backward))} to {_ms(max(backward))})",
        f"            of it {_ms(times.tail_ns)} ms after the last gradient, counted with {times.order[-1]}",
        "  slowest tensors, backward:",
    ]
    by_time = sorted(zip(times.order, times.backward), key=lambda item: -item[1])[:SLOWEST]
    width = max(len(tensor) for tensor, _ in by_time)
    for tensor, time in by_time:
        share = 100 * time / times.backward_ns
        lines.append(f"    {tensor:<{width}}  {_ms(time):>9} ms {share:5.1f} %  {elements[tensor]:>12,} parameters")
    if output == "-":
        lines.append("next: mergewise describe FILE, or in a run config  workloads: [{file: FILE}]")
    else:
        lines.append(f"wrote {output}")
        lines.append(f"next: mergewise describe {output}, or in a run config  workloads: [{{file: {output}}}]")
    return "\n".join(lines)


def _ms(ns):
    return f"{ns / 1e6:.3f}" if ns < 10e6 else f"{ns / 1e6:.1f}"
