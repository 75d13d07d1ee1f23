# SPDX-License-Identifier: Apache-2.0
"""What all figures share: sizes, colours that follow the page's theme, and tidy inline SVG.

Figures are drawn at 72 dpi, so one point is one CSS pixel, and all text stays text.
"""

import io
import re
import warnings
from dataclasses import dataclass
from functools import partial
from xml.etree import ElementTree

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from mergewise_report.units import shorten

# Every colour is drawn as a placeholder that becomes var(--NAME) of report.css.
INKS = (
    "ink muted grid panel compute compute-2 forward tax transfer transfer-2 wait "
    "pack pack-2 update idle other exposed mark band bad predicted s0 s1 s2 s3 s4 s5 s6 s7 s8 s9"
).split()
SERIES = 10  # colours that tell strategies apart
_PLACEHOLDER = re.compile(r"#fe01([0-9a-f]{2})")
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "mergewise",
    "text.parse_math": False,
    "path.simplify": False,
    "font.family": "DejaVu Sans",
    "font.size": 12.0,
    "axes.unicode_minus": True,
}
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class Size:
    """A rendition: its width in CSS pixels, and whether names go above their rows."""

    width: int
    narrow: bool = False


WIDE = Size(1020)
NARROW = Size(336, narrow=True)
HALF = Size(492)

_LETTER = 7.6  # a bold character at 12 px, on the wide side


def gutter(names, longest):
    """The margin that names of at most `longest` characters need, and the names cut to that."""
    cut = [shorten(name, longest) for name in names]
    return int(_LETTER * max(map(len, cut), default=0)) + 14, cut


def axis_end(times):
    """Where a time axis ends: at the longest, unless that would squeeze the others out of sight.

    A time of more than 2.5 medians is cut, with a mark; the axis then ends behind the longest that
    is not.
    """
    times = sorted(times)
    if not times:
        return 1.0
    ordinary = [t for t in times if t <= 2.5 * times[(len(times) - 1) // 2]]
    if not ordinary or len(ordinary) == len(times):
        return times[-1] or 1.0
    return 1.25 * ordinary[-1] or 1.0


def ink(name):
    return f"#fe01{INKS.index(name):02x}"


def series(index):
    """The colour of the strategy with this number; after SERIES they come again."""
    return ink(f"s{index % SERIES}")


def axes(figure, left, top, width, height):
    """Axes at a place given in pixels from the top left, with neither frame nor tick marks."""
    total_width, total_height = figure.get_size_inches() * 72
    ax = figure.add_axes(
        (
            left / total_width,
            1 - (top + height) / total_height,
            width / total_width,
            height / total_height,
        )
    )
    ax.patch.set_visible(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0, labelcolor=ink("muted"), labelsize=11, pad=5)
    ax.set_axisbelow(True)
    return ax


def row_axes(size, height, left, right, top, bottom, largest, unit):
    """A figure whose y axis counts pixels downwards and whose x axis is time from 0 in `unit`."""
    figure = Figure(figsize=(size.width / 72, height / 72), dpi=72)
    plot_height = height - top - bottom
    ax = axes(figure, left, top, size.width - left - right, plot_height)
    ax.set_ylim(plot_height, 0)
    ax.set_yticks([])
    largest = max(largest / unit[1], 1e-9)
    ax.set_xlim(0, largest)
    ticks = MaxNLocator(4 if size.width < 500 else 8).tick_values(0, largest)
    ticks = [t for t in ticks if 0 <= t <= largest * 1.0001]
    labels = [f"{t:,g}" for t in ticks]
    labels[-1] += "\u00a0" + unit[0]
    ax.set_xticks(ticks, labels)
    ax.grid(axis="x", color=ink("grid"), linewidth=1)
    return figure, ax


def beside(ax, y, text, side="left", colour="ink", offset=8, **style):
    """Text in the margin at height y: right-aligned left of the plot, or left-aligned right of it."""
    left = side == "left"
    ax.annotate(
        text,
        xy=(0 if left else 1, y),
        xycoords=("axes fraction", "data"),
        xytext=(-offset if left else offset, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        color=ink(colour),
        annotation_clip=False,
        **style,
    )


def within(ax, fraction, y, text, align="left", colour="ink", **style):
    """Text at a fraction of the plot's width and height y in data units."""
    ax.annotate(
        text,
        xy=(fraction, y),
        xycoords=("axes fraction", "data"),
        ha=align,
        va="center",
        color=ink(colour),
        annotation_clip=False,
        **style,
    )


def boxes(ax, rectangles, colour, outline=None, width=1.0):
    """Many (x0, x1, y0, y1) as one path: small files, whatever the number of spans."""
    if not rectangles:
        return
    corners = np.array(
        [[(a, c), (b, c), (b, d), (a, d), (a, c)] for a, b, c, d in rectangles], dtype=float
    ).reshape(-1, 2)
    codes = ([Path.MOVETO] + 3 * [Path.LINETO] + [Path.CLOSEPOLY]) * len(rectangles)
    patch = PathPatch(
        Path(corners, codes),
        facecolor=ink(colour),
        edgecolor=ink(outline) if outline else "none",
        linewidth=width if outline else 0,
        clip_on=False,
    )
    ax.add_patch(patch)


def strokes(ax, lines, colour, width=1.0, round_ends=False, zorder=3):
    """Many (x0, y0, x1, y1) as one path; with round ends, a line of no length is a dot."""
    if not lines:
        return
    ends = np.array(lines, dtype=float).reshape(-1, 2)
    patch = PathPatch(
        Path(ends, [Path.MOVETO, Path.LINETO] * len(lines)),
        facecolor="none",
        edgecolor=ink(colour),
        linewidth=width,
        capstyle="round" if round_ends else "butt",
        clip_on=False,
        zorder=zorder,
    )
    ax.add_patch(patch)


def whisker(ax, y, low, high, half=4.0, colour="ink", width=1.4):
    """A horizontal interval with end caps of `half` pixels; y in pixels."""
    strokes(
        ax,
        [(low, y, high, y), (low, y - half, low, y + half), (high, y - half, high, y + half)],
        colour,
        width,
    )


def cut_mark(ax, middle, thick):
    """Two slanted gaps near the end of the axis, through a bar that goes on beyond it."""
    end = ax.get_xlim()[1]
    pixel = end / ax.get_window_extent().width
    half = thick / 2 + 1
    for back in (14, 22):
        x = end - back * pixel
        line = (x - 3 * pixel, middle + half, x + 3 * pixel, middle - half)
        strokes(ax, [line], "panel", 3, zorder=5)


def render(draw, ident, label):
    """The figure that draw() makes, as inline SVG with ids of its own and `label` as alt text."""
    buffer = io.StringIO()
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = draw()
        figure.patch.set_visible(False)
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return Markup(_tidy(buffer.getvalue(), ident, label))


def renditions(module, data, ident, wide):
    """A wide and a narrow rendition of what the module draws; the style sheet shows what fits."""
    label = module.describe(data)
    return [
        (name, render(partial(module.draw, data, size), f"{ident}-{name}", label))
        for name, size in (("wide", wide), ("narrow", NARROW))
    ]


def _tidy(text, ident, label):
    root = ElementTree.fromstring(text)
    for child in list(root):
        # One of the definitions is a style sheet, which would apply to the whole page.
        if child.tag == f"{_SVG}metadata" or child.find(f"{_SVG}style") is not None:
            root.remove(child)
    used = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", text))
    names = {name for pair in used for name in pair if name}
    _strip(root, ident, names)
    width, height = root.get("viewBox").split()[2:]
    root.attrib.clear()
    root.set("class", "chart")
    root.set("viewBox", f"0 0 {float(width):g} {float(height):g}")
    root.set("style", f"max-width:{float(width):g}px")
    root.set("role", "img")
    root.set("aria-label", label)
    out = ElementTree.tostring(root, encoding="unicode")
    out = re.sub(r"(</?)(?:ns\d+|svg):", r"\1", out)
    out = re.sub(r' xmlns(:\w+)?="[^"]*"', "", out)
    return _PLACEHOLDER.sub(lambda m: f"var(--{INKS[int(m[1], 16)]})", out)


def _strip(element, ident, names):
    """Drops what a page does not need; makes the ids that are used unique to this figure."""
    if element.get("id") in names:
        element.set("id", f"{ident}-{element.get('id')}")
    else:
        element.attrib.pop("id", None)
    for key, value in list(element.attrib.items()):
        if key == _LINK:
            del element.attrib[key]
            element.set("href", f"#{ident}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{ident}-"))
    if element.get("d"):
        element.set("d", compact_path(element.get("d")))
    if element.tag == f"{_SVG}text":
        _strip_text(element)
    else:
        element.text = None
    element.tail = None
    children = []
    for child in list(element):
        element.remove(child)
        _strip(child, ident, names)
        children += list(child) if child.tag == f"{_SVG}g" and not child.attrib else [child]
    element.extend(children)


def _strip_text(element):
    """Keeps size, weight and anchor; the family is the page's."""
    style = element.get("style", "")
    size = re.search(r"([\d.]+)px", style)
    kept = [f"font-size:{float(size[1]):g}px"] if size else []
    if re.search(r"\b(bold|[6-9]00)\b", style):
        kept.append("font-weight:600")
    kept += re.findall(r"text-anchor:\s*\w+|fill:\s*#\w+", style)
    element.set("style", ";".join(kept))
    if re.match(r"rotate\(-?0(\.0+)?[ ,]", element.get("transform", "")):
        del element.attrib["transform"]
    for key in ("x", "y"):
        if element.get(key):
            element.set(key, _short(element.get(key)))


def compact_path(d):
    """The same path with two decimals and H and V for straight steps."""
    out, previous = [], (None, None)
    for command, arguments in re.findall(r"([A-Za-z])([^A-Za-z]*)", d):
        points = [_short(v) for v in arguments.split()]
        if command == "L" and len(points) == 2 and points[0] == previous[0]:
            out.append(f"V{points[1]}")
        elif command == "L" and len(points) == 2 and points[1] == previous[1]:
            out.append(f"H{points[0]}")
        else:
            out.append(command + " ".join(points))
        previous = tuple(points[-2:]) if points else (None, None)
    return "".join(out)


def _short(value):
    text = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
