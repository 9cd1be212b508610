"""An upstream that is stopped while statistics wait to be sent, and started again.

The gateway has one worker: a second one might not have tried while the upstream was away.
"""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from tests.fixtures.metastores import Metastore
from tests.fixtures.ports import free_port
from tests.fixtures.servers import serving
from tests.gateway.doors import COLUMNS, Doors, bounds, of_all, until

from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api


def test_what_waited_for_an_upstream_is_sent_as_soon_as_it_is_back(tmp_path: Path) -> None:
    folder, port = tmp_path / "upstream", free_port()
    folder.mkdir()
    upstream, direct = f"thrift://127.0.0.1:{port}", Metastore("hmstats-sqlite", port, 4.0)
    settings = {"upstream_write_seconds": 2, "workers": 1}
    with ExitStack() as started, direct.clients:
        started.enter_context(serving(folder, "--port", str(port)))
        with serving(tmp_path, "--upstream", upstream, settings=settings) as gateway:
            doors = Doors(direct, replace(direct, port=gateway))
            direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
            direct.table(columns=COLUMNS)
            doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
            started.close()
            until(True, lambda: "cannot be reached" in (tmp_path / "server.log").read_text())
            started.enter_context(serving(folder, "--port", str(port)))
            until([(1, 10)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
