"""Calls of canaries, which read a table as if its pending statistics were published.

They are published in a transaction that reads for the call and is then rolled back. So every call and every rule of an
answer sees them, and no other client does. Tables without pending statistics are read as by everybody.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from hmstats.model.access.rules import ANONYMOUS
from hmstats.model.catalog.objects import TableName
from hmstats.server.access.call_rules import CALL_RULES
from hmstats.server.calls.call_kinds import READS
from hmstats.server.rpc.caller import Session
from hmstats.service.statistics.pending import PendingStatistics

Calls = Mapping[str, Callable[..., Any]]
_AS_STORED = frozenset(
    {"get_pending_statistics", "list_pending_statistics", "get_past_statistics", "get_statistics_history"}
)
"""Calls that return stored statistics to canaries too."""
_PARTS_OF_A_TABLE = 3


def with_canary(calls: Calls, pending: PendingStatistics) -> Calls:
    """The calls, changed so that reads by a canary see pending statistics."""
    return {
        name: _with_pending(name, call, pending) if name in READS and name not in _AS_STORED else call
        for name, call in calls.items()
    }


def _with_pending(name: str, call: Callable[..., Any], pending: PendingStatistics) -> Callable[..., Any]:
    @wraps(call)
    def read(session: Session, **arguments: Any) -> Any:
        if not session.is_canary:
            return call(session, **arguments)
        return pending.read_as_published(_tables(name, arguments), lambda: call(session, **arguments))

    return read


def _tables(name: str, arguments: Mapping[str, Any]) -> list[TableName]:
    """The tables that a call names, as its access rule finds them."""
    rule = CALL_RULES.get(name)
    needs = rule.needs(dict(arguments), ANONYMOUS) if rule is not None and rule.needs is not None else ()
    names = {each.name for each in needs if len(each.name) == _PARTS_OF_A_TABLE}
    return [TableName(*each) for each in sorted(names)]
