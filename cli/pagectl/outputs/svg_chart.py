"""Charts over time as inline SVG: step lines, bands and bars that share one axis. Plain shapes, no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from pagectl.terminal.sanitise import one_line
from pageengine.replay.series import Points

# widths of a chart in pixels: on a screen or paper, and on a phone, with letters of the same size
WIDE, NARROW = 960, 400
LEFT, RIGHT = 84, 12


def safe(text: str) -> str:
    """Any text, made visible and escaped for HTML and SVG."""
    return escape(one_line(text))


@dataclass(slots=True)
class Chart:
    """A chart of rows that are added from the top; ``svg`` completes it.

    ``start`` and ``end`` are the bounds of the axis. A narrow chart shows every second of its ``marks``.
    """

    title: str
    start: int
    end: int
    marks: Sequence[tuple[int, str]]
    width: int = WIDE
    parts: list[str] = field(default_factory=list)
    y: int = 4

    @property
    def plot(self) -> int:
        """Return the length of the axis in pixels."""
        return self.width - LEFT - RIGHT

    def x(self, value: int) -> float:
        """Return the horizontal position of a time in pixels."""
        span = max(self.end - self.start, 1)
        return round(LEFT + self.plot * min(max(value - self.start, 0), span) / span, 1)

    def curve(self, css: str, points: Points, peak: int, top: str, limit: int | None = None, note: str = "") -> None:
        """Add a step line with its own scale; ``top`` labels its peak.

        ``limit`` is drawn as a line unless it is far above the peak. ``note`` describes the limit in either case.
        """
        height, drawn = 72, limit is not None and limit <= 2 * peak
        scale = max(peak, limit or 0) if drawn else max(peak, 1)
        self.y += 14
        base = self.y + height
        for share in (0.0, 0.5, 1.0):
            self._across("grid", base - height * share)
        self._label(base - height * peak / scale + 4, top)
        self._label(base - 12, css)
        self._label(base, "0")
        self.parts.append(
            f'<path class="{css}" d="{self._steps(points, scale, base, height)}"><title>{css}</title></path>'
        )
        if drawn:
            self._across("limit", base - height * (limit or 0) / scale)
        if note:
            self.parts.append(
                f'<text class="limited" x="{self.width - RIGHT}" y="{self.y - 4}" text-anchor="end">{safe(note)}</text>'
            )
        self.y = base + 10

    def _across(self, css: str, y: float) -> None:
        self.parts.append(f'<line class="{css}" x1="{LEFT}" x2="{self.width - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')

    def _steps(self, points: Points, peak: int, base: int, height: int) -> str:
        """Return the path of a step line: each bucket rises to its highest value and continues at its last."""
        path, level, drawn = [f"M{LEFT} {base}"], 0, -1.0

        def y(value: int) -> str:
            return f"{base - height * value / max(peak, 1):.1f}"

        for at, high, last in points:
            if (x := round(self.x(at))) != drawn:
                path.append(f"H{x}")
            drawn = x
            if high != level:
                path.append(f"V{y(high)}")
            if last != high:
                path.append(f"V{y(last)}")
            level = last
        return "".join([*path, f"H{self.width - RIGHT}"])

    def band(self, css: str, name: str, points: Points) -> None:
        """Add a row that is filled while the level is not zero."""
        self._label(self.y + 10, name)
        y, since = self.y, None
        self.parts.append(f'<rect class="track" x="{LEFT}" y="{y}" width="{self.plot}" height="12"/>')
        for at, high, last in points:
            if since is None and high:
                since = at
            if since is not None and not last:
                self._bar(css, since, at, y)
                since = None
        if since is not None:
            self._bar(css, since, self.end, y)
        self.y += 18

    def _bar(self, css: str, start: int, end: int, y: int) -> None:
        left = self.x(start)
        width = max(self.x(end) - left, 1.5)
        self.parts.append(f'<rect class="{css}" x="{left}" y="{y}" width="{width:.1f}" height="12"/>')

    def bars(self, css: str, name: str, sums: Sequence[int], top: str) -> None:
        """Add a row of bars, one total for each equal part of the axis."""
        self._label(self.y + 10, name)
        self._label(self.y + 24, top)
        peak, wide = max(max(sums, default=0), 1), self.plot / max(len(sums), 1)
        base = self.y + 28
        for n, value in enumerate(sums):
            if value:
                tall = max(2.0, 28 * value / peak)
                box = f'x="{LEFT + n * wide:.1f}" y="{base - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}"'
                self.parts.append(f'<rect class="{css}" {box}><title>{value}</title></rect>')
        self.y = base + 8

    def _label(self, y: float, text: str) -> None:
        self.parts.append(f'<text class="label" x="{LEFT - 6}" y="{y:g}" text-anchor="end">{safe(text)}</text>')

    def svg(self) -> str:
        """Return the whole chart with its axis."""
        y = self.y + 12
        marks = self.marks if self.width == WIDE else self.marks[::2]
        for n, (at, text) in enumerate(marks):
            anchor = "start" if n == 0 else "end" if n == len(marks) - 1 else "middle"
            self.parts.append(
                f'<text class="label" x="{self.x(at)}" y="{y}" text-anchor="{anchor}">{safe(text)}</text>'
            )
        css = "wide" if self.width == WIDE else "narrow"
        head = f'<svg class="{css}" role="img" viewBox="0 0 {self.width} {y + 6}" aria-label="{safe(self.title)}">'
        return head + "".join(self.parts) + "</svg>"
