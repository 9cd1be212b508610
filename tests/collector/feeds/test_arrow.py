"""Batches of any DataFrame are told apart by partition, and give what files give."""

import pyarrow as pa
from tests.collector.checks import check_all
from tests.collector.data import TYPES, rows

from hmstats.collector.feeds import arrow
from hmstats.collector.feeds.states import States


def test_rows_go_to_their_partition() -> None:
    batch = pa.record_batch(
        {
            "a": [0, 1, 2, 3, 4, 5],
            "year": ["1994", "1995", "1994", None, "", "1994"],
            "place": ["a/b", "x", "a/b", "x", "x", "ü"],
        }
    )
    found = [(name, part["a"].to_pylist()) for name, part in arrow.by_partition(batch, ["Year", "place"], 1)]
    assert sorted(found) == [
        ("year=1994/place=a%2Fb", [0, 2]),
        ("year=1994/place=ü", [5]),
        ("year=1995/place=x", [1]),
        ("year=__HIVE_DEFAULT_PARTITION__/place=x", [3]),
        ("year=__HIVE_DEFAULT_PARTITION__/place=x", [4]),
    ]


def test_a_task_gives_one_state_for_each_partition() -> None:
    table = rows(1000)
    keyed = table.append_column("key", pa.array([str(number % 3) for number in range(1000)]))
    encoded = list(arrow.task_states(keyed.to_batches(max_chunksize=100), ["k"], TYPES))
    assert [batch.schema.names for batch in encoded] == [["piece", "state"]] * 3
    states = States(TYPES)
    states.merge((batch["piece"][0].as_py(), batch["state"][0].as_py()) for batch in encoded)
    for number in range(3):
        wanted = [place for place in range(1000) if place % 3 == number]
        check_all(states.of(f"k={number}").statistics(TYPES), table.take(wanted))
    check_all(states.total().statistics(TYPES), table)


def test_no_column_still_counts_rows() -> None:
    keyed = pa.table({"key": ["1", "2", "1"]})
    states = States({})
    for batch in arrow.task_states(keyed.to_batches(), ["k"], {}):
        states.merge([(batch["piece"][0].as_py(), batch["state"][0].as_py())])
    assert (states.of("k=1").rows, states.of("k=2").rows) == (2, 1)
