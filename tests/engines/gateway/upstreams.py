"""Real Hive Metastores as a gateway finds them, each on a database of another kind."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.fixtures.databases.mariadb import mariadb
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.peers import event_listener

GENERATIONS = ("2.3", "3.1", "4.0")
ON_MARIADB = "3.1"
"""The generation that is on MariaDB; the others are on PostgreSQL, since 2.3 keeps locks there and not on Derby."""
LOGGING = "4.0"
"""The generation whose log proves to a gateway what need not be compared, so that it answers from memory too."""


@contextmanager
def upstream(generation: str, folder: Path, postgres_server: str) -> Iterator[int]:
    """The port of a Hive Metastore whose warehouse is in the folder. Managed tables stay so."""
    prefix = "hive.metastore" if generation == "2.3" else "metastore"
    warehouse = f"file:{folder}/warehouse"
    settings = [f"{prefix}.warehouse.dir={warehouse}", "hive.metastore.event.db.notification.api.auth=false"]
    if generation == LOGGING:
        settings += [f"metastore.warehouse.external.dir={warehouse}", "metastore.metadata.transformer.class= "]
        settings += [event_listener.TRANSACTIONAL]
    with ExitStack() as stack:
        if generation == ON_MARIADB:
            (folder / "mariadb").mkdir()
            url = stack.enter_context(mariadb(folder / "mariadb"))
        else:
            url = stack.enter_context(fresh_database(postgres_server))
        jars = event_listener.class_path(generation) if generation == LOGGING else ()
        yield stack.enter_context(hive(generation, folder, *settings, database=url, jars=jars))


@contextmanager
def in_front_of(upstream_port: int, folder: Path, *, writes: str = "behind") -> Iterator[int]:
    """The port of a gateway as users start it; `writes` says when the upstream gets statistics."""
    place = folder / "gateway"
    place.mkdir()
    settings = {"upstream_writes": writes}
    with serving(place, "--upstream", f"thrift://127.0.0.1:{upstream_port}", settings=settings) as port:
        yield port
