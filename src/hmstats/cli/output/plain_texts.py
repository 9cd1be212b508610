"""Makes texts from outside safe for a terminal: names, reasons and frequent values may have control characters."""

import re

from rich.text import Text

_INSTEAD = "\ufffd"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def plain_text(text: str) -> str:
    """The text in one line, with U+FFFD for each control character."""
    return "".join(each if each.isprintable() else _INSTEAD for each in text)


def plain_sentence(text: str) -> str:
    """The text of an error in one line, without the colours and line breaks that a library may have put into it."""
    return plain_text(" ".join(_COLOURS.sub("", text).split()))


def plain_cell(text: str) -> Text:
    """A cell of a table: its lines as they are, without Rich's markup and control characters."""
    return Text("\n".join(map(plain_text, text.split("\n"))))
