"""Reads all recent runs: a metastore lists a page of them at a time."""

from collections.abc import Mapping

from hmstats.client import Metastore
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.runs import Lease, Run


def recent_runs(
    service: Metastore, database: str, catalog: str, since_ms: int
) -> tuple[list[Run], Mapping[TableName, tuple[Lease, str | None]]]:
    """The runs of a database's tables since a time or somewhat earlier, newest first, and the leases."""
    page, leases = service.runs.listed(database, None, catalog=catalog)
    found = {each.id: each for each in page}
    while page and page[-1].started_ms >= since_ms:
        # Those of the same millisecond once more: a page may end among them.
        page, _ = service.runs.listed(database, None, catalog=catalog, before_ms=page[-1].started_ms + 1)
        page = [each for each in page if each.id not in found]
        found |= {each.id: each for each in page}
    return list(found.values()), {name: (lease, runner) for name, lease, runner in leases}
