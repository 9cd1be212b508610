"""Messages that docs/operate/troubleshooting.md quotes are in the source: each fixed part between placeholders."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operate" / "troubleshooting.md").read_text()
SOURCE = re.sub(r"\"\s+f?\"", "", "\n".join(each.read_text() for each in (ROOT / "src").rglob("*.py")))
"""All source; strings that a line end divides are joined."""
_OF_THE_SYSTEM = "Address already in use"
_VARIES = re.compile(r"\.\.\.|\d+(?:\.\d+){3}:\d+|\b17\b|hmstats migrate")


def quoted() -> list[str]:
    """The messages in the first column of the tables: quoted, and of several words."""
    symptoms = (line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| "))
    return [text for symptom in symptoms for text in re.findall(r"`([^`]+)`", symptom) if " " in text]


@pytest.mark.parametrize("message", quoted())
def test_a_quoted_message_is_one_of_ours(message: str) -> None:
    parts = [part.strip(" :") for part in _VARIES.split(message.removesuffix(_OF_THE_SYSTEM))]
    fixed = [part for part in parts if part]
    assert fixed
    assert [part for part in fixed if part not in SOURCE] == []


def test_messages_are_found() -> None:
    assert len(quoted()) > 5
