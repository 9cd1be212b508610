"""How a server opens its database: what it has is found out first, ours or a Hive's."""

from hmstats.errors import SchemaError
from hmstats.store import migrate, shape
from hmstats.store.engine import Store


def open_store(
    url: str, *, pool_size: int, statement_seconds: float, read_only: bool = False, hive_logs: bool = False
) -> Store:
    """A store over a database whose schema is current, or over a Hive's; see Store.open.

    Beside a Hive our own tables must be there, unless the store is `read_only`. `hive_logs`: all who write
    there log their changes in the same transactions, which is made use of where it tells enough. Raises SchemaError.
    """
    store = Store.open(url, pool_size=pool_size, statement_seconds=statement_seconds, read_only=read_only)
    with store.read() as connection:
        found = shape.read(connection)
    store.take_shape(found)
    if hive_logs and found.can_follow:
        store.follow_hive()
    if found.beside_hive and not found.adopted:
        if not read_only:
            raise SchemaError(
                f"database {store.name} is of a Hive with schema {found.hive}, and our tables are not in it: "
                "run `hmstats adopt --write` first, or serve it with --read-only"
            )
    else:
        migrate.require_current(store)
    return store
