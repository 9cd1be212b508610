"""The values that a plain write of statistics stored, as a text in its step: the next write need not copy them.

The text is a JSON object with one value for all rows, or a list of one for each, by column of CONTENT. The rows are in
the order of the step's PART_IDS and, for each of these, COLUMN_NAMES. A sketch is represented by the index of its hash
in the step's STORED_SKETCHES, which are SHA-256 in hex, one after the other.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, count, product
from typing import Any

from hmstats.store.history.replaced_rows import CONTENT
from hmstats.store.history.steps import OF_TABLE
from hmstats.store.statements.upserts import is_single

_HASHES = {"BIT_VECTOR": "BIT_VECTOR_HASH", "HISTOGRAM": "HISTOGRAM_HASH"}
_DOUBLES = frozenset({"DOUBLE_LOW_VALUE", "DOUBLE_HIGH_VALUE", "AVG_COL_LEN"})
_REPLACED = frozenset({"COLUMN_TYPE", "NUM_DISTINCTS", "LAST_ANALYZED", "TOP_K_HASH", "PROVENANCE"})
"""The columns whose stored value is replaced by an unknown one too."""
_TYPE = CONTENT.index("COLUMN_TYPE")
_HEX_DIGITS = 64
_COMPACT = json.JSONEncoder(separators=(",", ":"))

Content = tuple[Any, ...]
"""The values of a row by CONTENT: numbers, the hashes of sketches, and the text of the provenance."""
Row = Mapping[str, Any]
"""New values of a row by the columns of CONTENT; None where they are unknown."""


@dataclass(frozen=True, slots=True)
class StoredValues:
    """The stored values of a write: the text, the hashes of its sketches (STORED_SKETCHES), and the columns of their
    kinds.
    """

    text: str
    hashes: str | None = None
    kinds: tuple[str, ...] = ()


def pack(values: Mapping[str, Sequence[Any]]) -> StoredValues:
    """The rows of a write, given as the values of all rows by column of TAB_COL_STATS, and by PROVENANCE its texts."""
    each = dict.fromkeys(chain.from_iterable(values.get(name, ()) for name in _HASHES))
    each.pop(None, None)
    hashes = [sha256(sketch).hexdigest() for sketch in each]
    places = dict(zip(each, count()))
    said: dict[str, Any] = {}
    for name, of_rows in values.items():
        hashed = _HASHES.get(name)
        stored = of_rows if hashed is None else [places.get(sketch) for sketch in of_rows]
        said[hashed or name] = stored[0] if is_single(stored) else stored
    kinds = tuple(name for name in _HASHES if name in values) if hashes else ()
    return StoredValues(_COMPACT.encode(said), "".join(hashes) or None, kinds)


def rows(step: Any) -> Iterator[tuple[int, str, Row]]:
    """The owner, the column and the new values of each row that a step (a row of HMSTATS_HISTORY) has stored."""
    said, digests = json.loads(step.STORED), [bytes.fromhex(each) for each in split(step.STORED_SKETCHES)]
    owners = (OF_TABLE,) if step.PART_IDS is None else json.loads(step.PART_IDS)
    for at, (owner, column) in enumerate(product(owners, json.loads(step.COLUMN_NAMES))):
        row = {name: values[at] if isinstance(values, list) else values for name, values in said.items()}
        for name in _HASHES.values():
            if row.get(name) is not None:
                row[name] = digests[row[name]]
        for name in _DOUBLES.intersection(row):
            row[name] = None if row[name] is None else float(row[name])
        yield owner, column, row


def apply_write(before: Content | None, row: Row) -> Content:
    """A row after a write: unknown values leave the stored ones, except for _REPLACED, if the type is the same.

    As column_statistics writes it.
    """
    if before is None or before[_TYPE] != row["COLUMN_TYPE"]:
        return tuple([row.get(name) for name in CONTENT])
    named = zip(CONTENT, before, strict=True)
    return tuple([old if row.get(name) is None and name not in _REPLACED else row.get(name) for name, old in named])


def split(hashes: str | None) -> Collection[str]:
    """The hashes of a step's STORED_SKETCHES, in hex."""
    return [(hashes or "")[start : start + _HEX_DIGITS] for start in range(0, len(hashes or ""), _HEX_DIGITS)]
