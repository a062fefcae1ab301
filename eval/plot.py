"""A bar for each engine with its interval, as an SVG file; no library draws it."""

from html import escape

from eval.result import Result

WIDTH, BAR, GAP, LEFT = 720, 22, 10, 220


def svg(result: Result, measure: str, group: str = "all") -> str:
    """Return the picture of one measure over one group; KeyError for one that the result does not have."""
    rows = [(name, engine.figures[group][measure]) for name, engine in result.engines.items()]
    scale = WIDTH - LEFT - 70
    height = 40 + len(rows) * (BAR + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
        f'font-size="13"><text x="10" y="22">{escape(f"{result.set}, {group}: {measure}")}</text>'
    ]
    for number, (name, figure) in enumerate(rows):
        y = 36 + number * (BAR + GAP)
        value = figure.value or 0.0
        parts.append(f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="{LEFT}" y="{y}" width="{value * scale:.1f}" height="{BAR}" fill="#4878a8"/>')
        if figure.low is not None and figure.high is not None:
            a, b, mid = LEFT + figure.low * scale, LEFT + figure.high * scale, y + BAR / 2
            parts.append(f'<path d="M{a:.1f} {mid}H{b:.1f}" stroke="#222" stroke-width="2"/>')
        parts.append(f'<text x="{LEFT + scale + 8}" y="{y + 16}">{100 * value:.1f} %</text>')
    return "".join([*parts, "</svg>\n"])
