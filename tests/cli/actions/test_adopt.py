"""`hmstats adopt`, as people start it: a report, and our own tables when they ask for them."""

import json
import subprocess
from functools import partial
from pathlib import Path

import pytest
from tests.fixtures.databases.hive_schemas import SCHEMAS
from tests.fixtures.servers import HMSTATS
from tests.store.beside import store_beside
from tests.store.migration.test_only_ours import OWN, look, own_tables
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.errors import SchemaError
from hmstats.model.catalog.objects import Database, DatabaseName
from hmstats.store.catalog import databases
from hmstats.store.migration import migrate, schema_revision


def _adopt(url: str, *arguments: str) -> str:
    result = CliRunner().invoke(app, ["adopt", "--database", url, *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_report_says_what_works(hive_database: str, hive_generation: str) -> None:
    before = look(hive_database)
    said = [" ".join(line.split()) for line in _adopt(hive_database).splitlines()]
    vectors = "no" if hive_generation == "2.3" else "yes"
    assert said[1] == f"Hive's schema {SCHEMAS[hive_generation]}"
    assert "our own tables: not there; --write makes them" in said
    assert any(line.startswith(f"bit vectors {vectors} distinct values") for line in said)
    assert "write to Hive's tables yes" in said
    assert look(hive_database) == before
    assert own_tables(hive_database) == set()


def test_our_tables_are_made_when_asked_for(hive_database: str, hive_generation: str) -> None:
    before = look(hive_database)
    report = json.loads(_adopt(hive_database, "--write", "--json"))
    assert report["hive_schema"] == SCHEMAS[hive_generation]
    assert report["own_tables"] == schema_revision.head()
    assert report["rows"]["tables"] == 0
    assert own_tables(hive_database) == OWN
    assert look(hive_database) == before


@pytest.mark.parametrize("hive_generation", ["4.0"], indirect=True)
def test_the_roots_that_databases_need_are_proposed(hive_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__WAREHOUSE", "s3://default/warehouse")
    with store_beside(hive_database) as store:
        for name in ("default", "other"):
            new = Database(name=DatabaseName("hive", name), location=f"s3a://{name}/warehouse")
            store.write(partial(databases.insert_one, database=new))
    assert _adopt(hive_database).splitlines()[-1] == 'warehouse_roots = ["s3://other/warehouse"]'
    assert json.loads(_adopt(hive_database, "--json"))["roots"] == ["s3://other/warehouse"]


def test_a_database_of_ours_is_not_adopted(postgres_url: str) -> None:
    with pytest.raises(SchemaError, match="is not the database of a Hive Metastore"):
        _adopt(postgres_url, "--write")


def test_the_password_is_not_in_the_report(hive_database: str) -> None:
    _, _, rest = hive_database.partition("://")
    user, _, place = rest.rpartition("@")
    said = _adopt(f"postgresql://{user.partition(':')[0]}:topsecret@{place}")
    assert "topsecret" not in said


@pytest.mark.slow
@pytest.mark.parametrize("hive_generation", ["4.0"], indirect=True)
def test_a_hives_database_is_nobodys_alone(hive_database: str, tmp_path: Path) -> None:
    migrate.adopt(hive_database)
    command = [HMSTATS, "serve", "--port", "0", "--workers", "1", "--exclusive", "--database", hive_database]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert (
        ended.stderr
        == "hmstats: a server beside a Hive cannot have exclusive use of the database: set exclusive to false\n"
    )
