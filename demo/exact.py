"""Exact distinct counts, by DuckDB from the very files that Spark wrote."""

from collections.abc import Iterable
from pathlib import Path

import duckdb
from readers import Read


def exact_ndvs(folder: Path, columns: Iterable[Read]) -> dict[str, int]:
    """Column to its number of distinct values in the Parquet files under the folder."""
    names = [read.column for read in columns]
    counts = ", ".join(f'count(DISTINCT "{name}")' for name in names)
    with duckdb.connect() as connection:
        query = f"SELECT {counts} FROM read_parquet(?)"
        row = connection.execute(query, [str(folder / "**" / "*.parquet")]).fetchone() or ()
    return dict(zip(names, row, strict=True))
