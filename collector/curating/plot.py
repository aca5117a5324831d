"""Draw two histograms in one picture: the pass rates of tasks before and after a recipe."""

from __future__ import annotations

import contextlib
import html
import importlib.util
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from collector.errors import UsageError, install_extra
from collector.terminal import counted_noun, label

if TYPE_CHECKING:
    from PIL import ImageFont

WIDTH, HEIGHT = 960, 400
PANEL_WIDTH = 396
PANEL_LEFTS = {"before": 60, "after": 536}
TOP, BOTTOM = 108, 336
"""The highest bar ends at TOP, and all bars begin at BOTTOM."""
TICKS = 4
BACKGROUND, TEXT, MUTED, GRID = "#ffffff", "#1b2130", "#566072", "#e6e9ee"
COLORS = {"before": "#7f8ba0", "after": "#2563cf"}
NARROWEST_BAR = 2.0
PNG_SCALE = 2
SYSTEM_FONT = "DejaVuSans.ttf"
SUFFIXES = (".svg", ".png")


@dataclass(frozen=True)
class Bin:
    """A bar of a histogram: how many tasks have a pass rate between two bounds."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class _Rectangle:
    left: float
    top: float
    width: float
    height: float
    color: str


@dataclass(frozen=True)
class _Caption:
    x: float
    y: float
    """The base line of the text."""
    text: str
    size: int = 12
    anchor: Literal["start", "middle", "end"] = "middle"
    color: str = TEXT


_Shape = _Rectangle | _Caption


def check_plot(path: Path) -> None:
    """Raise UsageError if the ending of the file is unknown, or if its library is not installed."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"--plot {path}: the file must end in {' or '.join(SUFFIXES)}")
    if suffix == ".png" and importlib.util.find_spec("PIL") is None:
        raise UsageError(
            f"--plot {path}: PNG needs the package pillow, which is not installed\n"
            f"  what to do: write an .svg file, or {install_extra('plot')}"
        )


def picture(path: Path, before: Sequence[Bin], after: Sequence[Bin], title: str) -> bytes:
    """Return a picture of two histograms, as SVG or PNG by the ending of the path."""
    shapes = list(_shapes(before, after, label(title, 100)))
    return _png(shapes) if path.suffix.lower() == ".png" else _svg(shapes, title)


def _shapes(before: Sequence[Bin], after: Sequence[Bin], title: str) -> Iterator[_Shape]:
    yield _Caption(PANEL_LEFTS["before"], 32, title, 18, "start")
    # both panels have the same axis of pass rates, and each its own of counts
    bounds = [bound for one in (*before, *after) for bound in (one.low, one.high)]
    low, high = min(bounds, default=0.0), max(bounds, default=1.0)
    yield from _panel("before", before, low, high if high > low else low + 1)
    yield from _panel("after", after, low, high if high > low else low + 1)


@dataclass(frozen=True)
class _Scale:
    """Where a pass rate and a count are in a panel."""

    left: float
    low: float
    high: float
    most: int
    """The count at the top of the axis."""

    def x(self, rate: float) -> float:
        return self.left + PANEL_WIDTH * (rate - self.low) / (self.high - self.low)

    def y(self, count: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * count / self.most


def _panel(
    name: Literal["before", "after"], bins: Sequence[Bin], low: float, high: float
) -> Iterator[_Shape]:
    left, total = PANEL_LEFTS[name], sum(one.count for one in bins)
    scale = _Scale(left, low, high, _axis_top(max((one.count for one in bins), default=0)))
    yield _Caption(left, 62, f"{name}: {counted_noun(total, 'task')}", 14, "start")
    yield _Caption(left - 6, 84, "tasks", 11, "end", MUTED)
    for step in range(TICKS + 1):
        count = scale.most * step / TICKS
        yield _Rectangle(left, scale.y(count), PANEL_WIDTH, 1, GRID if step else MUTED)
        yield _Caption(left - 6, scale.y(count) + 4, _short(count), 11, "end", MUTED)
    for one in bins:
        yield from _bar(one, scale, COLORS[name])
    for step in range(6):
        rate = low + (high - low) * step / 5
        yield _Caption(scale.x(rate), BOTTOM + 18, f"{rate:.2g}", 11, "middle", MUTED)
    yield _Caption(left + PANEL_WIDTH / 2, BOTTOM + 42, "pass rate", 12, "middle", MUTED)


def _bar(one: Bin, scale: _Scale, color: str) -> Iterator[_Shape]:
    """Give a bar and the count above it; an empty bin has neither."""
    if not one.count:
        return
    start, width = scale.x(one.low), scale.x(one.high) - scale.x(one.low)
    gap = 1 if width > 2 * NARROWEST_BAR else 0
    shown, top = max(width - 2 * gap, NARROWEST_BAR), scale.y(one.count)
    yield _Rectangle(start + gap, top, shown, BOTTOM - top, color)
    yield _Caption(start + gap + shown / 2, top - 4, _short(one.count), 9)


def _axis_top(most: int) -> int:
    """Return the top of an axis with whole, round ticks: 1, 2 or 5 times a power of 10."""
    step = 1
    while TICKS * step < most:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return TICKS * step


def _short(count: float) -> str:
    """Return a count in at most four characters, like 950, 1.2k, 34k or 5M."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if count >= unit * 0.9995:
            value = count / unit
            return (
                f"{value:.1f}".removesuffix(".0") + name if value < 9.95 else f"{value:.0f}{name}"
            )
    return f"{count:g}"


def _svg(shapes: Sequence[_Shape], title: str) -> bytes:
    name = html.escape(label(title, 100))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" font-family="system-ui, sans-serif" role="img">',
        f"<title>{name}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{BACKGROUND}"/>',
        *(_svg_shape(shape) for shape in shapes),
        "</svg>",
        "",
    ]
    return "\n".join(lines).encode("utf-8", "replace")


def _svg_shape(shape: _Shape) -> str:
    if isinstance(shape, _Rectangle):
        return (
            f'<rect x="{shape.left:.1f}" y="{shape.top:.1f}" width="{shape.width:.1f}"'
            f' height="{shape.height:.1f}" fill="{shape.color}"/>'
        )
    return (
        f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size}"'
        f' text-anchor="{shape.anchor}" fill="{shape.color}">{html.escape(shape.text)}</text>'
    )


def _png(shapes: Sequence[_Shape]) -> bytes:
    from PIL import Image, ImageDraw  # an extra, which few need

    image = Image.new("RGB", (WIDTH * PNG_SCALE, HEIGHT * PNG_SCALE), BACKGROUND)
    draw = ImageDraw.Draw(image)
    anchors = {"start": "ls", "middle": "ms", "end": "rs"}
    for shape in shapes:
        if isinstance(shape, _Rectangle):
            right, bottom = shape.left + shape.width, shape.top + shape.height
            corners = [round(x * PNG_SCALE) for x in (shape.left, shape.top, right, bottom)]
            # the last row and column belong to the rectangle
            corners[2:] = [max(corners[0], corners[2] - 1), max(corners[1], corners[3] - 1)]
            draw.rectangle(corners, fill=shape.color)
        else:
            draw.text(
                (shape.x * PNG_SCALE, shape.y * PNG_SCALE),
                shape.text,
                fill=shape.color,
                font=_font(shape.text, shape.size * PNG_SCALE),
                anchor=anchors[shape.anchor],
            )
    content = io.BytesIO()
    image.save(content, "PNG", optimize=True)
    return content.getvalue()


def _font(text: str, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return Pillow's own font, which has only ASCII, or a font of the system for other texts."""
    from PIL import ImageFont

    if not text.isascii():
        with contextlib.suppress(OSError):
            return ImageFont.truetype(SYSTEM_FONT, size)
    return ImageFont.load_default(size)
