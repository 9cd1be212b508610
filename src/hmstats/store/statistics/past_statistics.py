"""Rows of earlier statistics as the model's dataclasses."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.store.history.replaced_rows import CONTENT, HASHES_AT
from hmstats.store.history.steps import OF_TABLE, Key
from hmstats.store.history.stored_values import Content
from hmstats.store.statistics import provenance, statistics_rows
from hmstats.store.statistics.statistics_rows import VALUES

_SKETCHES = ("BIT_VECTOR", "HISTOGRAM")


def sets(
    rows: Mapping[Key, Content], partitions: Mapping[int, str], sketches: Mapping[bytes, bytes]
) -> list[StatisticsSet]:
    """The sets of a table and of its partitions (names by id), in the order of names, engines and columns."""
    by_owner: dict[tuple[str, str], list[tuple[ColumnStatistics, int]]] = {}
    for key, content in rows.items():
        values = dict(zip(CONTENT, content, strict=True))
        column = _column(key, values, [_sketch(sketches, each) for each in content[HASHES_AT]])
        if column is not None:
            name = "" if key.partition_id == OF_TABLE else partitions[key.partition_id]
            by_owner.setdefault((name, key.engine), []).append((column, values["LAST_ANALYZED"]))
    return [
        StatisticsSet(
            tuple(sorted((column for column, _ in each), key=lambda column: column.column)),
            name or None,
            engine,
            min(analyzed for _, analyzed in each),
        )
        for (name, engine), each in sorted(by_owner.items())
    ]


def _column(key: Key, values: dict[str, Any], sketch_bytes: list[bytes | None]) -> ColumnStatistics | None:
    bit_vector, histogram, top_k = sketch_bytes
    stored = values | {"BIT_VECTOR": bit_vector, "HISTOGRAM": histogram}
    column = statistics_rows.column_statistics(key.column, values["COLUMN_TYPE"], [stored[name] for name in VALUES])
    if column is None:
        return None
    text = values["PROVENANCE"]
    column_provenance = None if text is None else provenance.read(f'{{"":{text}}}')[""]
    if column_provenance is not None and (column_provenance.written_at_seconds or 0) < values["LAST_ANALYZED"]:
        column_provenance = None
    return replace(column, top_k=top_k, provenance=column_provenance)


def _sketch(sketches: Mapping[bytes, bytes], hashed: bytes | None) -> bytes | None:
    return None if hashed is None else sketches[bytes(hashed)]
