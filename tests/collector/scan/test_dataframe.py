"""Batches of any DataFrame are told apart by partition, and give what files give."""

import pyarrow as pa
from tests.collector.checks import check_all
from tests.collector.data import TYPES, rows

from hmstats.collector.options import Options
from hmstats.collector.scan import dataframe
from hmstats.collector.scan.states import States
from hmstats.sketch.accumulator import TableAccumulator


def test_rows_go_to_their_partition() -> None:
    batch = pa.record_batch(
        {
            "a": [0, 1, 2, 3, 4, 5],
            "year": ["1994", "1995", "1994", None, "", "1994"],
            "place": ["a/b", "x", "a/b", "x", "x", "ü"],
        }
    )
    found = [(name, part["a"].to_pylist()) for name, part in dataframe.by_partition(batch, ["Year", "place"], 1)]
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
    encoded = list(dataframe.task_states(keyed.to_batches(max_chunksize=100), ["k"], TYPES))
    assert [batch.schema.names for batch in encoded] == [["piece", "state"]] * 3
    states = States(TYPES)
    states.merge((batch["piece"][0].as_py(), batch["state"][0].as_py()) for batch in encoded)
    for number in range(3):
        wanted = [place for place in range(1000) if place % 3 == number]
        check_all(states.of(f"k={number}").statistics(TYPES), table.take(wanted))
    check_all(states.total().statistics(TYPES), table)


def test_no_column_still_counts_rows() -> None:
    keyed = pa.table({"row": [True] * 3, "key": ["1", "2", "1"]})
    states = States({})
    for batch in dataframe.task_states(keyed.to_batches(), ["k"], {}):
        states.merge([(batch["piece"][0].as_py(), batch["state"][0].as_py())])
    assert (states.of("k=1").rows, states.of("k=2").rows) == (2, 1)


def test_a_sample_of_rows_knows_how_many_there_are() -> None:
    table = pa.table({"n": pa.array(range(20_000)), "key": ["a", "b"] * 10_000})
    states = States({"n": "bigint"})
    for batch in dataframe.task_states(table.to_batches(3_000), ["k"], {"n": "bigint"}, Options(sample_fraction=0.1)):
        states.merge([(batch["piece"][0].as_py(), batch["state"][0].as_py())])
    assert (states.of("k=a").rows, states.of("k=b").rows) == (10_000, 10_000)
    assert 700 < states.of("k=a").columns["n"].rows < 1300


def test_a_sample_of_rows_is_the_same_every_time() -> None:
    batches = pa.table({"n": pa.array(range(20_000))}).to_batches(3_000)
    options = Options.bounds_only(sample_fraction=0.01)
    made = [list(dataframe.task_states(batches, (), {"n": "bigint"}, options)) for _ in range(2)]
    assert made[0] == made[1]


def test_options_reach_the_states() -> None:
    table = pa.table({"n": pa.array(range(10))})
    (batch,) = dataframe.task_states(table.to_batches(), (), {"n": "bigint"}, Options.bounds_only())
    column = TableAccumulator.from_bytes(batch["state"][0].as_py()).columns["n"]
    assert (column.hll, column.kll, column.top_k, column.low, column.high) == (None, None, None, 0, 9)
