"""The health report on a terminal: as wide as that is, in its colours, nothing of recorded text obeyed."""

from rich.console import Console
from rich.text import Text

from health.layout import INDENT, NAME_WIDTH, Row, rows
from health.report import Report
from health.signal import Level
from transcript.telling import visible

STYLES = {Level.OK: "green", Level.WARN: "bold yellow", Level.FAIL: "bold red"}
BESIDE_AT = INDENT + NAME_WIDTH + 1
BESIDE = 70  # columns from which a figure stands beside its name, and not below it


def show(report: Report, console: Console, *, every: bool = False) -> None:
    """Print the report; its lines are those of Report.to_text, broken between words where the terminal ends.

    The console decides on colours (NO_COLOR, TERM=dumb, a pipe) and width.
    """
    for row in rows(report, every=every):
        words = Text(visible(row.text), style="bold" if row.to_do else "")
        begin, hang = _begin(row, console.width)
        if hang < len(begin):  # the figure goes below
            console.print(begin)
            begin = Text(" " * hang)
        for line in words.wrap(console, console.width - hang) if row.text else ():
            line.rstrip()
            console.print(begin + line)
            begin = Text(" " * hang)
        if not row.text:
            console.print()


def _begin(row: Row, width: int) -> tuple[Text, int]:
    """What a line begins with, and how far its text is indented."""
    if row.level is None:
        return Text(" " * row.indent), row.indent
    level = (f"{row.level.name.lower():<{INDENT}}", STYLES[row.level])
    if not row.name:
        return Text.assemble(level), INDENT
    begin = Text.assemble(level, (visible(row.name), "bold" if row.level else ""))
    if width < BESIDE:
        return begin, INDENT
    begin.pad_right(max(1, BESIDE_AT - len(begin)))
    return begin, BESIDE_AT
