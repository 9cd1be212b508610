"""A server before two metastores, with tables of its own beside theirs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.wire.idl import hive_metastore as api


@dataclass
class Several:
    """Two metastores, the second with the databases b_*, and the server before both, whose own are own_*."""

    first: Metastore
    second: Metastore
    front: Metastore
    folder: Path

    def make(self, database: str, metastore: Metastore | None = None) -> str:
        """Make a database through the server, or at a metastore; its name."""
        made = api.Database(name=database, description="", parameters={})
        (metastore or self.front).client().create_database(made)
        return database

    def table(self, database: str, name: str, metastore: Metastore | None = None, **more: Any) -> None:
        """Make a table with a column a, through the server or at a metastore."""
        place = metastore or self.front
        place.database = database
        place.table(name, {"a": "bigint"}, **more)


@contextmanager
def several(
    folder: Path,
    first: Metastore,
    second: Metastore,
    *,
    patterns: Sequence[str] = ("b_*", "elsewhere.c_*"),
    uris: Mapping[str, str] | None = None,
    database: str | None = None,
    workers: int = 2,
    **settings: object,
) -> Iterator[Several]:
    """A server before both, whose settings are in the file hmstats.toml of the folder."""
    found = {"first": f"thrift://127.0.0.1:{first.port}", "second": f"thrift://127.0.0.1:{second.port}", **(uris or {})}
    own = database or f"sqlite:///{folder}/hmstats.sqlite"
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    lines += [f'database = "{own}"', 'own_databases = ["own_*"]', "upstream_write_seconds = 0.2"]
    for name, uri in found.items():
        lines += [
            "[[upstreams]]",
            f'name = "{name}"',
            f'uris = "{uri}"',
            f'database = "sqlite:///{folder}/{name}.sqlite"',
        ]
        lines += [f"databases = {json.dumps(list(patterns))}"] if name == "second" else []
    (folder / "hmstats.toml").write_text("\n".join(lines))
    with serving(folder, "--workers", str(workers), database=own) as port:
        front = Metastore("gateway", port, 4.0)
        with first.clients, second.clients, front.clients:
            yield Several(first, second, front, folder)
