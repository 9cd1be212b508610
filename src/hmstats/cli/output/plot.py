"""Pictures of columns for a terminal: a histogram, or the shares of values, a few lines each."""

from collections.abc import Iterator

from rich.text import Text

from hmstats.web.answers.columns import ColumnFacts, Histogram
from hmstats.web.answers.numbers import Number
from hmstats.web.answers.tables import TableFacts
from hmstats.web.pages.texts import number_text, sure_text
from hmstats.web.pictures.column import nulls_part, shares
from hmstats.web.pictures.shares import Share
from hmstats.web.pictures.words import part_text, value_text

_BLOCKS = " ▁▂▃▄▅▆▇█"
_FULL = len(_BLOCKS) - 1
_LINES = 4
_BIN_CHARACTERS = 3
_SHARE_CHARACTERS = 40
_VALUE_CHARACTERS = 24
_BAR, _DIM, _NULL = "cyan", "dim", "yellow"


def plots(found: TableFacts) -> Iterator[Text]:
    """A picture for each column, below its name and numbers; a line alone where nothing can be drawn."""
    for column in found.columns:
        yield _heading(column)
        if column.histogram is not None:
            yield from _histogram(column.histogram)
        else:
            yield from _shares(shares(column, found.rows))
        part = nulls_part(column, found.rows)
        if part:
            yield _bar("null", part, _NULL)
        yield Text()


def _heading(column: ColumnFacts) -> Text:
    numbers = [_number_text(column.distinct, "distinct"), _number_text(column.nulls, "null")]
    line = Text.assemble((column.name, "bold"), " ", (column.type, _DIM), "  ", ", ".join(filter(None, numbers)))
    if column.stale:
        line.append(f"  stale: {column.stale}", _NULL)
    return line


def _number_text(number: Number | None, what: str) -> str:
    return "" if number is None else f"{number_text(number.value)} {what} ({sure_text(number)})"


def _histogram(found: Histogram) -> Iterator[Text]:
    """Bars of so many lines, and the least and greatest value below them."""
    most = max(found.counts) or 1.0
    heights = [round(_LINES * _FULL * each / most) or int(each > 0) for each in found.counts]
    for line in reversed(range(_LINES)):
        blocks = [_BLOCKS[min(max(each - line * _FULL, 0), _FULL)] for each in heights]
        yield Text("  " + "".join(each * (_BIN_CHARACTERS - 1) + " " for each in blocks).rstrip(), _BAR)
    low = value_text(found.edges[0])
    high = value_text(found.edges[-2] if found.single else found.edges[-1])
    width = _BIN_CHARACTERS * len(found.counts) - 1
    yield Text(f"  {low}{high:>{max(width - len(low), len(high) + 1)}}", _DIM)


def _shares(found: list[Share]) -> Iterator[Text]:
    for each in found:
        yield _bar(value_text(each.value, _VALUE_CHARACTERS), each.part, _BAR)


def _bar(name: str, part: float, colour: str) -> Text:
    eighths = max(round(_SHARE_CHARACTERS * 8 * part), 1)
    bar = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
    return Text.assemble(f"  {name:<{_VALUE_CHARACTERS}} ", (bar, colour), f" {part_text(part)}")
