"""Spark's text for histograms and back."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import SketchError
from hmstats.model.spark.spark_statistics import EquiHeightHistogram
from hmstats.outlets.spark import lz4_blocks
from hmstats.outlets.spark.spark_histogram import from_text, to_text

FROM_SPARK = {
    "TFo0QmxvY2smPAAAAHAAAACWgrUDQ0BvQAABABMECABBAEBvIAsAMkB/MAgAIodoCAAPGAAFIY84IAADAgAT+QgAEu0IACMBCQgAUAT/////"
    "TFo0QmxvY2sWAAAAAAAAAAAAAAAA": EquiHeightHistogram(
        250.0, (0.0, 249.0, 499.0, 749.0), (249.0, 499.0, 749.0, 999.0), (249, 237, 265, 260)
    ),
    "TFo0QmxvY2smMwAAAHAAAAD7yXQLQ0BvQAABABMECAAyAD/wCgAEGgAiQAgQAA8YAAUiQBAgAAMCABMCCAAbAQgAUAH/////TFo0QmxvY2sW"
    "AAAAAAAAAAAAAAAA": EquiHeightHistogram(250.0, (0.0, 1.0, 2.0, 3.0), (1.0, 2.0, 3.0, 4.0), (2, 1, 1, 1)),
}
"""Texts that Spark 4.3 stored of a bigint and of a tinyint column of 1000 rows, in 4 bins."""

DOUBLES = st.floats(allow_nan=False)


@st.composite
def histograms(draw: st.DrawFn) -> EquiHeightHistogram:
    """Any, with up to 300 bins."""
    bins = draw(st.lists(st.tuples(DOUBLES, DOUBLES, st.integers(0, 2**63 - 1)), max_size=300))
    low, high = (tuple(each[place] for each in bins) for place in (0, 1))
    return EquiHeightHistogram(draw(DOUBLES), low, high, tuple(distinct for _, _, distinct in bins))


@given(histograms())
def test_a_histogram_comes_back(histogram: EquiHeightHistogram) -> None:
    assert from_text(to_text(histogram)) == histogram


@pytest.mark.parametrize("text", FROM_SPARK)
def test_spark_is_understood_and_written_alike(text: str) -> None:
    assert from_text(text) == FROM_SPARK[text]
    assert to_text(FROM_SPARK[text]) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64!",
        base64.b64encode(b"LZ4Block").decode(),
        base64.b64encode(lz4_blocks.compress(b"short")).decode(),
        base64.b64encode(lz4_blocks.compress(bytes(8) + b"\x00\x00\x00\x05" + bytes(24))).decode(),
        base64.b64encode(lz4_blocks.compress(bytes(8) + b"\xff\xff\xff\xff" + bytes(24))).decode(),
    ],
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(SketchError):
        from_text(text)
