"""Opens a server's database, after detecting whether it is hmstats' own or a Hive's."""

from hmstats.errors import SchemaError
from hmstats.store.beside_hive import present_tables
from hmstats.store.database.store import Store
from hmstats.store.migration import schema_revision


def open_store(
    url: str, *, pool_size: int, statement_seconds: float, read_only: bool = False, hive_logs: bool = False
) -> Store:
    """A store over a database whose schema is current, or over a Hive's; other arguments are as in Store.open.

    Beside a Hive our own tables must exist, unless the store is `read_only`. `hive_logs` says that all writers
    log their changes in their transactions; the log is then used if it has enough in it. Raises SchemaError.
    """
    schema_revision.require_database(url)
    store = Store.open(url, pool_size=pool_size, statement_seconds=statement_seconds, read_only=read_only)
    with store.read() as connection:
        found = present_tables.read(connection)
    store.use_shape(found)
    if hive_logs and found.can_follow:
        store.follow_hive()
    if found.beside_hive and not found.adopted:
        if not read_only:
            raise SchemaError(
                f"database {store.name} is of a Hive with schema {found.hive}, and our tables are not in it: "
                "run `hmstats adopt --write` first, or serve it with --read-only"
            )
    else:
        schema_revision.require_current(store)
    return store
