"""What `--json` prints is one JSON value, whatever the command."""

import json
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.version import __version__

ALONE = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


def told(*arguments: str) -> Any:
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_version_and_settings() -> None:
    assert told("version") == {"version": __version__}
    shown = told("config", "show")
    assert shown["port"] == {"value": 9083, "from": "default"}
    assert [shown[name]["value"] for name in ("trash", "hive_site", "web_names")] == [False, None, []]


@ALONE
def test_a_metastore_that_is_alive(our_metastore: Metastore) -> None:
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    assert told("ping", "--metastore", address) == {
        "alive": True,
        "version": f"hmstats {__version__}",
        "address": address,
    }


@ALONE
def test_statistics_that_are_deleted(our_metastore: Metastore) -> None:
    table = f"{our_metastore.database}.{our_metastore.table('t', keys=('k',))}"
    our_metastore.add_partitions(("a",), ("b",))
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    arguments = ("delete", table, "--columns", "L,s", "--where", "k = 'b'", "--metastore", address)
    assert told(*arguments) == {"table": table, "partitions": ["k=b"], "columns": ["l", "s"]}


@ALONE
def test_a_description_and_an_exported_file(our_metastore: Metastore, tmp_path: Any) -> None:
    table = f"{our_metastore.database}.{our_metastore.table('t')}"
    address = ("--metastore", f"thrift://127.0.0.1:{our_metastore.port}")
    plain = CliRunner().invoke(app, ["describe", table, *address], catch_exceptions=False).stdout
    assert told("describe", table, *address) == {"text": plain}
    file = tmp_path / "all.jsonl"
    found = told("export", str(file), table, *address)
    assert found == {"file": str(file), "written": len(file.read_text().splitlines()) - 2}


def test_a_schema_that_is_made(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/x.sqlite"
    first, again = told("migrate", "--database", url), told("migrate", "--database", url)
    assert (first["before"], first["after"]) == (None, again["before"])
    assert again["before"] == again["after"]
