"""Tables for people, printed where no terminal is: as Rich would print them, in a hundredth of the time."""

import random
from typing import Any

import pytest
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.text import Text

from hmstats.cli.output.tables import plain_table, print_table

TEXTS = ["", "a", "ünï", "表表", "😀", "x" * 120, "a\nbb", "- ", "[b]x[/b]", "a b  c ", "\x1b[31m", "é", "👩‍👩‍👧", "\t"]
TITLES = ["A", "Long title", "two\nlines"]


def printed(capsys: pytest.CaptureFixture[str], rows: list[list[str]], **titles: list[str]) -> str:
    table = plain_table(**titles)
    table.add_column("Least", min_width=8)
    for row in rows:
        table.add_row(*row, row[0])
    print_table(table)
    return capsys.readouterr().out


def test_a_table_is_printed_as_rich_would(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    chosen = random.Random(7)
    cases = []
    for _ in range(200):
        texts, numbers = ([chosen.choice(TITLES) for _ in range(chosen.randint(1, 3))] for _ in range(2))
        width = len(texts) + len(numbers)
        rows = [[chosen.choice(TEXTS) + chosen.choice(TEXTS) for _ in range(width)] for _ in range(chosen.randrange(5))]
        cases.append((rows, texts, numbers))
    ours = [printed(capsys, rows, texts=texts, numbers=numbers) for rows, texts, numbers in cases]
    monkeypatch.setattr("hmstats.cli.output.tables.lines_of", lambda _table: None)
    assert ours == [printed(capsys, rows, texts=texts, numbers=numbers) for rows, texts, numbers in cases]
    assert len({*ours}) > 100


def test_a_long_list_is_not_laid_out_cell_by_cell(capsys: pytest.CaptureFixture[str]) -> None:
    class Counted(Text):
        """A text that counts how often Rich asks for its lines or its width."""

        asked = 0

        def wrap(self, *arguments: Any, **more: Any) -> Any:
            Counted.asked += 1
            return super().wrap(*arguments, **more)

        def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
            Counted.asked += 1
            return super().__rich_measure__(console, options)

    table = plain_table(["Table"], ["Rows"])
    for number in range(100):
        table.add_row(Counted(f"shop.t{number}"), Counted(str(number)))
    print_table(table)
    assert capsys.readouterr().out.splitlines()[-1].split() == ["shop.t99", "99"]
    assert Counted.asked == 0
