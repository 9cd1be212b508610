"""`hmstats show --plot`: a picture of each column in a terminal."""

import pytest
from tests.web.fixture import Shown, metastore_port, shown
from tests.web.tables import DAYS
from typer.testing import CliRunner, Result

from hmstats.cli.main import app

__all__ = ["metastore_port", "shown"]


def run(port: int, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["show", "--metastore", f"thrift://127.0.0.1:{port}", *arguments, "--plot"])


def test_each_column_is_drawn(shown: Shown, metastore_port: int) -> None:
    lines = run(metastore_port, f"{shown.database}.visits").stdout.splitlines()
    assert "\x1b" not in "".join(lines)
    age = lines.index(next(line for line in lines if line.startswith("age int  ")))
    assert lines[age].endswith("distinct (about), 100 null (exact)")
    assert set("".join(lines[age + 1 : age + 5])) <= set(" ▁▂▃▄▅▆▇█")
    assert lines[age + 5].split() == ["1", "79"]
    assert lines[age + 6].split() == ["null", "████", "10", "%"]
    mail = next(line for line in lines if line.startswith("  mail "))
    assert mail.split() == ["mail", "█" * 24, "60", "%"]
    assert lines[lines.index("empty int  ") + 1] == ""


def test_a_partition_is_drawn_for_itself(shown: Shown, metastore_port: int) -> None:
    done = run(metastore_port, f"{shown.database}.by_day", "--partition", f"ds={DAYS[0]}")
    assert "100 null (exact)" in done.stdout
    assert "ds string  1 distinct (exact)" in done.stdout


@pytest.mark.parametrize("more", [["--json"], ["--csv"], ["--partitions"], ["--sort", "age"]])
def test_a_picture_has_no_other_form(shown: Shown, metastore_port: int, more: list[str]) -> None:
    done = run(metastore_port, f"{shown.database}.by_day", *more)
    assert str(done.exception).startswith("--plot draws a table or one partition")
