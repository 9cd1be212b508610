"""What was read is summed, and what is unknown of a part is unknown of the whole."""

from hmstats.files.counted_reads import NOTHING_READ, ReadCount


def test_counts_are_summed_and_what_is_unknown_stays_so() -> None:
    one, other = ReadCount(10, 2), ReadCount(5, None)
    assert one.plus(one) == ReadCount(20, 4)
    assert NOTHING_READ.plus(other) == other.plus(NOTHING_READ) == other
    assert one.plus(other) == ReadCount(15, None)
    assert one.plus(None) is None


def test_unknown_requests_are_said_to_be_unknown() -> None:
    assert ReadCount(1_000, 2_000).sentence == "read 1,000 bytes in 2,000 requests"
    assert ReadCount(1_000, None).sentence == "read 1,000 bytes in an unknown number of requests"
