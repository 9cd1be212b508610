"""Impala's parameter: of which snapshot the metastore's statistics are."""

from hmstats.collector.lake.iceberg.impala_snapshots import snapshots_of, with_snapshot


def test_ranges_are_read_and_written() -> None:
    assert snapshots_of("1-3:77, 5:88") == {1: 77, 2: 77, 3: 77, 5: 88}
    assert with_snapshot("", {1, 2, 3, 5}, 77) == "1-3:77,5:77"
    assert with_snapshot("1-3:77,5:88", {2, 6}, 99) == "1:77,2:99,3:77,5:88,6:99"


def test_other_texts_are_left_out() -> None:
    assert snapshots_of("a:1,2,3-1:4,1-9999999999:5,4:6") == {4: 6}
