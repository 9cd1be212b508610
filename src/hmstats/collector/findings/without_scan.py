"""Makes findings without reading data: files and bytes, and rows by the footers of Parquet files."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain

import pyarrow as pa
import pyarrow.parquet as pq

from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.fingerprint import PARAMETER
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.planning.plan import Plan
from hmstats.collector.report import Finding
from hmstats.errors import UnreadableFile
from hmstats.files.file_systems import Settings, open_location

_FOOTER_THREADS = 16
STALE_PARAMETERS: Mapping[str, None] = dict.fromkeys(("numRows", "rawDataSize", "COLUMN_STATS_ACCURATE", PARAMETER))
"""Parameters that are removed if the files have changed."""


def count_without_scan(
    plan: Plan, files: Mapping[str, Sequence[DataFile]], *, row_counts: bool
) -> tuple[dict[str, Finding], Finding | None]:
    """The finding about each piece, by name, and about the table if every piece was requested.

    `row_counts`: read the footers of Parquet files for the number of rows. Without it a stored number of rows stays if
    the number and the size of the files are unchanged, and is removed otherwise.
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
    return Finding(rows, total_bytes, len(files), (), other={} if same else STALE_PARAMETERS)


def _footer_rows(
    pieces: Sequence[Piece], files: Mapping[str, Sequence[DataFile]], settings: Settings
) -> dict[str, int]:
    """The rows of the pieces that are Parquet, by name; each file is read in a thread."""
    wanted = [(piece, file) for piece in pieces if piece.parquet for file in files[piece.name]]
    rows = {piece.name: 0 for piece in pieces if piece.parquet}
    with ThreadPoolExecutor(_FOOTER_THREADS) as threads:
        for (piece, _), count in zip(wanted, threads.map(partial(_rows, settings=settings), wanted), strict=True):
            rows[piece.name] += count
    return rows


def _rows(place: tuple[Piece, DataFile], settings: Settings) -> int:
    piece, file = place
    system, _ = open_location(piece.location, settings)
    try:
        return int(pq.read_metadata(file.path, filesystem=system).num_rows)
    except (OSError, pa.ArrowException) as error:
        raise UnreadableFile(f"file {file.path} cannot be read: {error}") from error
