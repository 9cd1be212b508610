"""Whoever lacks an optional part is told a command that installs it."""

import re
import tomllib
from pathlib import Path

from hmstats.extras import install_advice

ROOT = Path(__file__).parents[1]
TEXTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
BY_NAME = re.compile(r"pip install (?:-\S+ )*['\"]?hmstats\b")


def test_nobody_is_told_to_install_a_package_of_an_index() -> None:
    """Its name there is anybody's."""
    assert [str(text.relative_to(ROOT)) for text in TEXTS if BY_NAME.search(text.read_text())] == []


def test_each_extra_that_is_named_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {name for text in TEXTS for name in re.findall(r"install_advice\(['\"](\w+)['\"]\)", text.read_text())}
    assert named == {"delta", "hdfs", "iceberg", "spark", "jwt", "kerberos", "ldap", "mcp", "otel", "web"}
    assert named <= extras.keys()
    assert install_advice("spark") == "pip install '.[spark]' in the folder of hmstats"
