"""A metastore and a gateway to it, each with clients, and short ways to write and read statistics."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from tests.fixtures.metastores import Metastore
from tests.server.serving import PATIENCE_SECONDS

from hmstats.client import Metastore as Client
from hmstats.client import connect
from hmstats.model.statistics.column_statistics import (
    ColumnStatistics,
    DoubleStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
)
from hmstats.sketch.frequent.top_k import TopK

COLUMNS = {"a": "bigint", "d": "double", "s": "string"}


SECONDS = 0.2


Found = TypeVar("Found")


@dataclass
class Doors:
    """A metastore and a gateway to it, each with a plain client and with hmstats' own."""

    direct: Metastore
    here: Metastore

    @property
    def there(self) -> Client:
        """hmstats' client at the upstream."""
        return self._opened(self.direct)

    @property
    def ours(self) -> Client:
        """hmstats' client at the gateway."""
        return self._opened(self.here)

    def name(self, table: str = "t") -> str:
        return f"{self.direct.database}.{table}"

    def _opened(self, metastore: Metastore) -> Client:
        made = connect(f"thrift://127.0.0.1:{metastore.port}", retries=0)
        self.direct.clients.callback(made.close)
        return made


def long(low: int, high: int, ndv: int = 5, *, values: tuple[str, ...] = ()) -> ColumnStatistics:
    """Statistics of column a, with frequent values if there are some."""
    sketch = None
    if values:
        made = TopK()
        made.add(list(values), [1] * len(values), len(values), 0)
        sketch = made.to_bytes()
    return ColumnStatistics("a", "bigint", LongStatistics(low=low, high=high, nulls=0, ndv=ndv), sketch)


def of_all(low: int) -> tuple[ColumnStatistics, ...]:
    return (
        long(low, low + 9),
        ColumnStatistics("d", "double", DoubleStatistics(low=low + 0.123456789, high=1e300, nulls=1, ndv=7)),
        ColumnStatistics("s", "string", StringStatistics(max_length=9, average_length=3.3333333333, nulls=0, ndv=4)),
    )


def bounds(found: Any) -> list[tuple[Any, Any]]:
    return [(each.data.low, each.data.high) for each in found]


def until(wanted: Found, look: Callable[[], Found]) -> None:
    """Return when `look` gives what is wanted."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (found := look()) != wanted:
        assert time.monotonic() < end, found
        time.sleep(0.1)


def of_partition(name: str, low: int) -> StatisticsSet:
    return StatisticsSet((long(low, low + 1),), name)
