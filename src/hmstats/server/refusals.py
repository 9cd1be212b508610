"""Calls that a server refuses whatever they are about: those that change something, where it only reads, and those of
locks and transactions, where a Hive beside it keeps them.

Hive hands out locks and transactions by rows and by what its process remembers of them. Two who do that over one
database would give what the other has given.
"""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from hmstats.errors import MetaError
from hmstats.server.rpc.locks import LockCalls
from hmstats.server.rpc.transactions import TransactionCalls
from hmstats.store.engine import Store
from hmstats.store.schema import TXNS

_READING = ("get", "fetch_", "show_", "list_", "partition_name_", "is", "alive")
"""What the names of calls begin with that change nothing."""
_OF_THE_SESSION = frozenset(
    {"set_ugi", "setMetaConf", "setOption", "flushCache", "reinitialize", "shutdown", "translate_table_dryrun"}
)
"""Other calls that change nothing that is kept."""
_ONLY_READS = "this server only reads"
_HIVE_KEEPS = "the Hive Metastore beside this server keeps locks and transactions: ask it"

Calls = Mapping[str, Callable[..., Any]]


def with_refusals(calls: Calls, store: Store) -> Calls:
    """The calls, those replaced that a server over this store refuses."""
    refused = _of_hive(calls, store) if store.shape.beside_hive else {}
    if store.read_only:
        refused |= {name: _ONLY_READS for name in calls if not _reads(name)}
    return {name: _refusal(name, refused[name]) if name in refused else call for name, call in calls.items()}


def _of_hive(calls: Calls, store: Store) -> dict[str, str]:
    kept = [name for name in calls if hasattr(LockCalls, name) or hasattr(TransactionCalls, name)]
    # Where Hive's tables of transactions are others than ours, not even a read would be true.
    return {name: _HIVE_KEEPS for name in kept if store.shape.lacks(TXNS) or not _reads(name)}


def _reads(name: str) -> bool:
    return name.startswith(_READING) or name in _OF_THE_SESSION


def _refusal(name: str, reason: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise MetaError(f"{name} is refused: {reason}")

    return refuse
