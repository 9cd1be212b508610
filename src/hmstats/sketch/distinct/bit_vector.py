"""The bytes of a `bitVectors` field: a HyperLogLog sketch, an FM sketch, or nothing.

Source: org.apache.hadoop.hive.common.ndv.NumDistinctValueEstimatorFactory, which looks at the first two bytes. Hive
writes "HL" where a database cannot hold an empty value; that, an empty value and None mean that there is no sketch.
"""

import math
from collections.abc import Sequence

import numpy as np

from hmstats.errors import SketchError
from hmstats.sketch.distinct import fm, hll_bytes
from hmstats.sketch.distinct.fm import FmSketch
from hmstats.sketch.distinct.hive_hll import HiveHll

_PLACEHOLDER = b"HL"


def is_absent(data: bytes | None) -> bool:
    """Whether the bytes stand for no sketch."""
    return not data or data == _PLACEHOLDER


def check(data: bytes | None) -> None:
    """Raise SketchError unless the bytes are a valid sketch or stand for none."""
    estimate(data)


def estimate(data: bytes | None) -> int | None:
    """The number of distinct values, at least 1, as Hive estimates it; None when there is no sketch.

    Raises SketchError when the bytes are corrupt or of another kind.
    """
    if data is None or is_absent(data):
        return None
    return _class_of(data).from_bytes(data).estimate()


def count(data: bytes) -> int:
    """The number of distinct values; 0 for an empty sketch. Raises SketchError as `estimate` does."""
    sketch = _class_of(data).from_bytes(data)
    return sketch.count() if isinstance(sketch, HiveHll) else sketch.estimate()


def standard_error(data: bytes | None) -> float | None:
    """The relative standard error of the estimate, None when there is no sketch; only the header is read.

    1.04 / sqrt(2^p) of a HyperLogLog sketch, whose sparse form has the precision of its keys (Heule et al. 2013), and
    0.78 / sqrt(m) of an FM sketch of m vectors (Flajolet, Martin 1985). Raises SketchError for bytes of another kind.
    """
    if data is None or is_absent(data):
        return None
    if _class_of(data) is FmSketch:
        return 0.78 / math.sqrt(len(FmSketch.from_bytes(data).vectors))
    header = hll_bytes.read_header(data)
    return 1.04 / math.sqrt(1 << (header.p if header.width else hll_bytes.KEY_BITS))


def standard_errors(sketches: Sequence[bytes | None]) -> list[float | None]:
    """The standard error of each HyperLogLog sketch, as `standard_error` has it; None if there is no sketch.

    Computed once for each distinct header, of which many sketches have few. Raises SketchError for corrupt bytes.
    """
    examples = {each[: hll_bytes.HEADER_BYTES]: each for each in sketches if each}
    known = {header: standard_error(each) for header, each in examples.items()}
    return [known[each[: hll_bytes.HEADER_BYTES]] if each else None for each in sketches]


def merge(sketches: Sequence[bytes | None]) -> bytes | None:
    """The merged sketch; None if there are no sketches, or if one is absent or does not merge.

    HyperLogLog sketches merge whatever their precision, FM sketches only when they have as many vectors, and the two
    kinds never. Raises SketchError when one is corrupt.
    """
    present = [sketch for sketch in sketches if sketch is not None and not is_absent(sketch)]
    if not present or len(present) < len(sketches):
        return None
    classes = {_class_of(sketch) for sketch in present}
    sizes = {len(sketch) for sketch in present}
    if len(classes) > 1 or (classes == {FmSketch} and len(sizes) > 1):
        for sketch in present:
            check(sketch)
        return None
    return classes.pop().merge_many(present).to_bytes()


def in_order(data: bytes) -> bytes:
    """The sketch with the codes of a sparse one ordered by key, where a union has them as its parts came."""
    if not data.startswith(hll_bytes.MAGIC) or hll_bytes.read_header(data).width:
        return data
    sketch = HiveHll.from_bytes(data)
    sketch.codes = np.sort(sketch.codes)
    return sketch.to_bytes()


def _class_of(data: bytes) -> type[HiveHll] | type[FmSketch]:
    if data.startswith(fm.MAGIC):
        return FmSketch
    if data.startswith(hll_bytes.MAGIC):
        return HiveHll
    raise SketchError(f"a bit vector is an HLL or an FM sketch; these {len(data)} bytes start with {data[:4].hex()}")
