"""The reasons for the health of statistics, in words."""

from hmstats.model.health.health import Health, Reason
from hmstats.outlets.people.cells import amount

_WORDS = {
    Reason.MISSING: "no statistics",
    Reason.CHANGED: "changed",
    Reason.UNMARKED: "changed, nobody knows how much",
    Reason.EMPTY: "empty",
    Reason.FRESH: "unchanged",
}


def reason_text(health: Health) -> str:
    """The reason for the health, in words."""
    parts = [] if health.partitions is None else [_of_partitions(health)]
    if health.reason is Reason.CHANGED and health.partitions is None:
        parts.append(_change_text(health))
    elif health.reason is Reason.INCOMPLETE:
        parts.append(f"{health.analyzed} of {health.columns} columns")
    elif health.reason is not Reason.FRESH or not parts:
        parts.append(_WORDS[health.reason])
    return ", ".join(parts)


def _of_partitions(health: Health) -> str:
    return f"{health.stale_partitions:,} of {health.partitions:,} partitions stale"


def _change_text(health: Health) -> str:
    """The first count that has changed: rows, else bytes, else files."""
    counts = (
        ("rows", health.now.rows, health.then.rows),
        ("bytes", health.now.size_bytes, health.then.size_bytes),
        ("files", health.now.files, health.then.files),
    )
    for unit, now, then in counts:
        if now is not None and then is not None and now != then:
            return f"{unit} {then:,} to {now:,}"
    return f"{amount(health.moved_rows, 'row')} came and went"
