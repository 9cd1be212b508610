"""What a lock would drop is named by those who write it, and not called stored or deleted."""

import json
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.main import app
from hmstats.client import connect
from hmstats.client.metastore import Metastore as Client
from hmstats.errors import StatementError
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.statistics_locks import LockedObject

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


def run(metastore: Metastore, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*arguments, "--metastore", f"thrift://127.0.0.1:{metastore.port}"])
    if isinstance(result.exception, StatementError):
        raise result.exception
    return result.exit_code, result.output


def of(low: int) -> StatisticsSet:
    columns = (ColumnStatistics(each, "bigint", LongStatistics(low=low, high=9, nulls=0, ndv=3)) for each in "ab")
    return StatisticsSet(tuple(columns))


def lows(service: Client, name: str) -> list[int | None]:
    found = service.table_statistics(name, ["a", "b"])
    return [each.data.low for each in found if isinstance(each.data, LongStatistics)]


@pytest.mark.parametrize(("locked", "left"), [((), [2, 2]), (("a",), [2, 1])], ids=["all", "a column"])
def test_an_import_says_what_it_leaves_out(
    our_metastore: Metastore, tmp_path: Path, locked: tuple[str, ...], left: list[int]
) -> None:
    our_metastore.table("t", {"a": "bigint", "b": "bigint"})
    name, file = f"{our_metastore.database}.t", str(tmp_path / "all.json")
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        service.put_table_statistics(name, of(1))
        assert run(our_metastore, "export", file, name)[0] == 0
        service.put_table_statistics(name, of(2))
        parent = service.existing_table(name).name.parent
        service.locks.lock(LockedObject(parent, "t", columns=locked), refuse=False)
        code, said = run(our_metastore, "import", file)
        assert code == ExitCode.PARTLY_DONE
        assert "is locked, so that writes are dropped" in said
        assert lows(service, name) == left


def test_a_delete_of_what_is_locked_is_refused(our_metastore: Metastore) -> None:
    our_metastore.table("t", {"a": "bigint", "b": "bigint"})
    name = f"{our_metastore.database}.t"
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        service.put_table_statistics(name, of(1))
        parent = service.existing_table(name).name.parent
        service.locks.lock(LockedObject(parent, "t", columns=("a",)), refuse=False)
        for columns in ([], ["--columns", "a"]):
            with pytest.raises(StatementError, match=r"are not deleted: column a of table .* is locked"):
                run(our_metastore, "delete", name, *columns)
        code, said = run(our_metastore, "delete", name, "--columns", "b", "--json")
        assert (code, json.loads(said)["columns"]) == (0, ["b"])
        assert lows(service, name) == [1]
