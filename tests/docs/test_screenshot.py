"""docs/images/show.svg has the shape that `hmstats show` prints today; scripts/screenshot.py draws it."""

import re
import sys
from xml.etree import ElementTree as ET

from scripts.screenshot import IMAGE, TABLE, WIDTH, drawn, in_terminal

from hmstats.cli.output.show_table import NOTE, show_table
from hmstats.client.tables.stored_statistics import StoredStatistics
from hmstats.model.catalog.objects import Table, TableName
from hmstats.model.statistics.column_statistics import StatisticsSet

_TEXT = "{http://www.w3.org/2000/svg}text"
_CHARACTER = 12.2
"""How wide a character is in the image."""


def lines(svg: str) -> list[str]:
    """The lines of text in an image of a terminal."""
    rows: dict[float, list[str]] = {}
    for text in ET.fromstring(svg).iter(_TEXT):
        if text.get("clip-path") and text.text and text.text.strip():
            row = rows.setdefault(float(text.attrib["y"]), [])
            place = round(float(text.attrib["x"]) / _CHARACTER)
            row.append(" " * (place - len("".join(row))) + text.text.replace("\xa0", " ").rstrip("\n"))
    return ["".join(rows[y]).rstrip() for y in sorted(rows)]


def test_the_image_has_the_columns_of_the_command() -> None:
    found = lines(IMAGE.read_text())
    nothing = StoredStatistics(Table(name=TableName("hive", "a", "b")), {}, StatisticsSet(()))
    titles = [str(column.header).split("\n") for column in show_table(nothing, (), {}).columns]
    assert found[0] == f"$ hmstats show {TABLE}"
    assert re.fullmatch(rf"{TABLE}: [\d,]+ rows, [\d,]+ bytes, 1 file", found[1])
    assert found[2].split() == [title[0] for title in titles if len(title) > 1]
    assert found[3].split() == [title[-1] for title in titles]
    assert set(found[4]) == {"─"}
    assert found[-1] == NOTE
    assert max(map(len, found)) <= WIDTH
    columns = [line.split()[0] for line in found[5:-1] if line.startswith("o_")]
    assert len(columns) == len(set(columns)) == 9
    assert any(set(word) <= set("▁▂▃▄▅▆▇█") for line in found for word in line.split())
    assert any("=73,267" in line for line in found)


def test_an_image_loads_nothing_and_is_the_same_again() -> None:
    image = drawn("a  \x1b[1mbold\x1b[0m <line>\nanother\n")
    assert lines(image) == [f"$ hmstats show {TABLE}", "a  bold <line>", "another"]
    assert image == drawn("a  \x1b[1mbold\x1b[0m <line>\nanother\n")
    assert "url(http" not in image + IMAGE.read_text()


def test_a_command_sees_a_terminal_of_80_columns() -> None:
    program = "import os, sys; print(sys.stdout.isatty(), os.environ['COLUMNS'])"
    assert in_terminal([sys.executable, "-c", program]) == "True 80\n"
