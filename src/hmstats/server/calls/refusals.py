"""Calls that a server always refuses: changes if it is read-only, locks and transactions if it runs beside a Hive.

Hive grants locks and transactions from rows and from the memory of its process. If two servers did that over one
database, both would grant the same ones.
"""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from hmstats.errors import MetaError
from hmstats.server.calls.call_kinds import CHANGES
from hmstats.server.rpc.transactions.locks import LockCalls
from hmstats.server.rpc.transactions.transactions import TransactionCalls
from hmstats.store.database.store import Store
from hmstats.store.schema import TXNS

_ONLY_READS = "this server is read-only"
_HIVE_KEEPS = "the Hive Metastore beside this server keeps locks and transactions: send the call there"

Calls = Mapping[str, Callable[..., Any]]


def with_refusals(calls: Calls, store: Store) -> Calls:
    """The calls, where each call that a server over this store refuses raises MetaError."""
    refused = _of_hive(calls, store) if store.shape.beside_hive else {}
    if store.read_only:
        refused |= {name: _ONLY_READS for name in calls if name in CHANGES}
    return {name: _refusal(name, refused[name]) if name in refused else call for name, call in calls.items()}


def _of_hive(calls: Calls, store: Store) -> dict[str, str]:
    names = [name for name in calls if hasattr(LockCalls, name) or hasattr(TransactionCalls, name)]
    # If Hive's tables of transactions differ from ours, even a read would be wrong.
    return {name: _HIVE_KEEPS for name in names if store.shape.lacks(TXNS) or name in CHANGES}


def _refusal(name: str, reason: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise MetaError(f"{name} is refused: {reason}")

    return refuse
