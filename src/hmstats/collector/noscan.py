"""Statistics without a look at the data: files and bytes, and rows where the footers of Parquet files tell them."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain

import pyarrow.parquet as pq

from hmstats.collector.file_systems import Settings
from hmstats.collector.files import DataFile, open_location
from hmstats.collector.fingerprint import PARAMETER
from hmstats.collector.pieces import Piece
from hmstats.collector.plan import Plan
from hmstats.collector.report import Finding

_FOOTER_THREADS = 16
UNTRUE: Mapping[str, None] = dict.fromkeys(("numRows", "rawDataSize", "COLUMN_STATS_ACCURATE", PARAMETER))
"""Parameters that are removed when the files are others than those that they speak of."""


def found_without_scan(
    plan: Plan, files: Mapping[str, Sequence[DataFile]], *, row_counts: bool
) -> tuple[dict[str, Finding], Finding | None]:
    """The finding of each piece, by its name, and of the table when every piece was asked for.

    `row_counts`: read the footers of Parquet files for the number of rows. Without it a number of rows that is stored
    stays while the files are as many and as large as they were, and is removed when they are not.
    """
    rows = _footer_rows(plan.pieces, files, plan.settings) if row_counts else {}
    pieces = {each.name: _finding(files[each.name], rows.get(each.name), each.parameters) for each in plan.pieces}
    if not plan.whole:
        return pieces, None
    if not plan.keys:
        return pieces, next(iter(pieces.values()))
    every = list(chain.from_iterable(files.values()))
    total = sum(rows.values()) if plan.pieces and len(rows) == len(plan.pieces) else None
    return pieces, _finding(every, total, plan.parameters)


def _finding(files: Sequence[DataFile], rows: int | None, stored: Mapping[str, str]) -> Finding:
    total_bytes = sum(file.bytes for file in files)
    same = (stored.get("totalSize"), stored.get("numFiles")) == (str(total_bytes), str(len(files)))
    return Finding(rows, total_bytes, len(files), (), other={} if same else UNTRUE)


def _footer_rows(
    pieces: Sequence[Piece], files: Mapping[str, Sequence[DataFile]], settings: Settings
) -> dict[str, int]:
    """Rows of the pieces that are Parquet, by name; one thread a file."""
    wanted = [(piece, file) for piece in pieces if piece.parquet for file in files[piece.name]]
    rows = {piece.name: 0 for piece in pieces if piece.parquet}
    with ThreadPoolExecutor(_FOOTER_THREADS) as threads:
        for (piece, _), count in zip(wanted, threads.map(partial(_rows, settings=settings), wanted), strict=True):
            rows[piece.name] += count
    return rows


def _rows(place: tuple[Piece, DataFile], settings: Settings) -> int:
    piece, file = place
    system, _ = open_location(piece.location, settings)
    return int(pq.read_metadata(file.path, filesystem=system).num_rows)
