"""A database that comes back older, from a backup, under servers that go on: nothing stale is answered, ids are new."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.behaviour.structs import statistics, statistics_of
from tests.faults.harness.database_process import Postgres, postgres
from tests.faults.harness.server_process import ServerProcess, two_servers
from tests.faults.harness.writers import patiently
from tests.fixtures.metastores import Metastore

from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api


class Clients:
    """A client of each of two servers over one database, which connects anew after an error."""

    def __init__(self, servers: tuple[ServerProcess, ...]) -> None:
        self.metastores = [Metastore("hmstats-postgres", each.port, 4.0, database="restored") for each in servers]

    def close(self) -> None:
        """End all connections."""
        for each in self.metastores:
            each.clients.close()

    def write(self, server: int, distinct: int) -> None:
        """Write a table's number of distinct values."""
        metastore = self.metastores[server]
        sets = statistics(metastore, statistics_of("l", numDVs=distinct))
        patiently(lambda: metastore.client().update_table_column_statistics(sets))

    def read(self, server: int) -> int:
        """The number as a server answers it, three times: from the database, and from its caches."""
        found: list[int] = []
        patiently(lambda: found.extend(self._read(server) for _ in range(3)))
        assert len({*found}) == 1
        return found[0]

    def make(self, server: int, table: str) -> None:
        """Make a table."""
        patiently(lambda: self.metastores[server].table(table))

    def _read(self, server: int) -> int:
        wanted = api.TableStatsRequest(dbName="restored", tblName="t", colNames=["l"], engine="hive")
        (column,) = self.metastores[server].client().get_table_statistics_req(wanted).tableStats
        return int(column.statsData.longStats.numDVs)


def copy(source: Path, target: Path) -> None:
    """Copy a folder with its owners: the server's files may be another user's."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


@pytest.fixture
def database() -> Iterator[Postgres]:
    """A PostgreSQL of the test's own, at the newest revision."""
    with postgres() as found:
        migrate.upgrade(found.url)
        yield found


@pytest.mark.slow
def test_servers_over_a_database_that_comes_back_older(database: Postgres, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with two_servers(tmp_path, database.url) as servers, contextlib.closing(Clients(servers)) as clients:
        clients.metastores[0].client().create_database(api.Database(name="restored"))
        clients.make(0, "t")
        clients.write(0, 1)
        assert [clients.read(each) for each in (0, 1)] == [1, 1]
        database.stop_cleanly()
        copy(database.files, backup)
        database.start()
        for server in (0, 1):
            clients.write(server, 2)
            clients.make(server, f"of_{server}_and_lost")
            assert [clients.read(each) for each in (0, 1)] == [2, 2]
        database.kill()
        shutil.rmtree(database.files)
        copy(backup, database.files)
        database.start()
        for written, server in ((3, 1), (4, 0)):  # as many writes as before: versions meet those of cached answers
            clients.write(server, written)
        assert [clients.read(each) for each in (0, 1)] == [4, 4]
        servers[1].kill()
        servers[1].start()  # it reserves ids that the other one had reserved before
        for number in range(3):
            for server in (0, 1):
                clients.make(server, f"of_{server}_{number}")
        tables = clients.metastores[0].client().get_all_tables("restored")
        assert sorted(tables) == sorted(["t", *(f"of_{server}_{number}" for server in (0, 1) for number in range(3))])
