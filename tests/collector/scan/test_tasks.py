"""What tasks read, deliver and give back does not depend on how the work was cut; what is broken is named."""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.collector.delivery import deliver
from hmstats.collector.delivery.deliver import Delivery, DeliveryResult
from hmstats.collector.options import DEFAULT
from hmstats.collector.planning.data_files import data_files
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.report import Finding
from hmstats.collector.scan.files.splits import Split
from hmstats.collector.scan.scan import tasks_of
from hmstats.collector.scan.tasks import Job, Outcome, Record, Task, merge_records, read_tasks
from hmstats.errors import UnreadableFile
from hmstats.model.catalog.objects import TableName

TYPES = {"l": "bigint"}
DELIVERY = Delivery(TableName("hive", "d", "t"), ("k",), "thrift://nowhere", "run", None)
PIECES = ("k=0", "k=1", "k=2")


@pytest.fixture
def delivered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Finding]:
    """What would have been delivered."""
    found: dict[str, Finding] = {}

    def take(_: Delivery, findings: Iterable[tuple[str, Finding]], __: float) -> DeliveryResult:
        for name, finding in findings:
            assert name not in found
            found[name] = finding
        return DeliveryResult(spooled=1, refused={"k=9": "no"})

    monkeypatch.setattr(deliver, "deliver", take)
    return found


@pytest.fixture(scope="module")
def splits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Split]]:
    """Two files of each piece but the last, which has none."""
    made: dict[str, list[Split]] = {}
    for number, piece in enumerate(PIECES):
        folder = tmp_path_factory.mktemp("piece")
        for part in range(2 if number < 2 else 0):
            values = pa.array(range(100 * number + 10 * part, 100 * number + 10 * part + 10), pa.int64())
            pq.write_table(pa.table({"l": values}), folder / f"{part}.parquet")
        made[piece] = [Split(piece, str(folder), file.path, None, file.bytes) for file in data_files(str(folder))]
    return made


@given(seed=st.randoms(use_true_random=False), count=st.integers(1, 4))
def test_every_piece_is_delivered_once_however_the_work_is_cut(
    splits: dict[str, list[Split]], seed: Any, count: int
) -> None:
    every = list(chain.from_iterable(splits.values()))
    seed.shuffle(every)
    cut = [every[number::count] for number in range(count)]
    with pytest.MonkeyPatch.context() as patch:
        found: dict[str, Finding] = {}

        def take(_: Delivery, findings: Iterable[tuple[str, Finding]], __: float) -> DeliveryResult:
            found.update({name: finding for name, finding in findings if name not in found or pytest.fail(name)})
            return DeliveryResult()

        patch.setattr(deliver, "deliver", take)
        outcome = run(cut, job())
    assert bounds(found) == {"k=0": (20, 0, 19), "k=1": (20, 100, 119), "k=2": (0, None, None)}
    assert {each.bytes for each in found.values()} == {7}
    assert (outcome.rows, outcome.failed) == (40, {})
    total = outcome.total(TYPES)
    assert (total.rows, total.columns["l"].low, total.columns["l"].high) == (40, 0, 119)


def test_a_piece_that_one_task_reads_needs_no_other(
    splits: dict[str, list[Split]], delivered: dict[str, Finding]
) -> None:
    (task, rest) = tasks_of(pieces(), [[*splits["k=0"], *splits["k=1"]]], alone=False)
    assert (task.shared, rest) == (frozenset(), Task((), empty=("k=2",)))
    ((_, outcome),) = read_tasks([task], job())
    assert isinstance(outcome, Outcome)
    assert set(delivered) == {"k=0", "k=1"}
    assert (outcome.rows, outcome.spooled, outcome.refused) == (40, 1, {"k=9": "no"})


def test_the_table_itself_is_not_delivered_by_tasks(splits: dict[str, list[Split]]) -> None:
    whole = [Split("", each.location, each.path, None, each.bytes) for each in chain.from_iterable(splits.values())]
    made = tasks_of([Piece("", (), "/x", parquet=True)], [[each] for each in whole], alone=True)
    assert [task.shared for task in made] == [frozenset()] * 4
    outcomes = [part for task in made for _, part in read_tasks([task], job(delivery=None, names=("",)))]
    total = total_of(outcomes).total(TYPES)
    assert (total.rows, total.columns["l"].high) == (40, 119)


def test_a_file_that_cannot_be_read_costs_its_piece_only(
    splits: dict[str, list[Split]], delivered: dict[str, Finding], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and no more")
    gone = Split("k=1", str(tmp_path), str(tmp_path / "gone.parquet"), None, 1)
    wrong = Split("k=0", str(tmp_path), str(broken), None, 1)
    # The broken piece is shared by two tasks, the other one is read by one alone.
    outcome = run([[splits["k=0"][0], gone, *splits["k=1"]], [splits["k=0"][1], wrong]], job())
    assert set(delivered) == {"k=2"}
    assert set(outcome.failed) == {"k=0", "k=1"}
    assert outcome.failed["k=0"].startswith(f"file {broken} cannot be read: ")
    assert outcome.failed["k=1"].startswith(f"file {gone.path} cannot be read: ")
    with pytest.raises(UnreadableFile, match=r"file \S+gone\.parquet cannot be read"):
        list(read_tasks([Task((gone,))], job(reliable=True)))


def test_a_partition_that_came_meanwhile_is_left_alone(delivered: dict[str, Finding]) -> None:
    (outcome,) = merge_records([("k=0", b""), ("k=7", b"")], job())
    assert set(delivered) == {"k=0"}
    assert outcome.rows == 0


@given(
    st.lists(
        st.builds(
            Outcome,
            rows=st.integers(0, 9),
            spooled=st.integers(0, 9),
            failed=st.dictionaries(st.sampled_from("ab"), st.just("x")),
        ),
        max_size=4,
    )
)
def test_outcomes_merge_in_any_order(outcomes: list[Outcome]) -> None:
    assert total_of(outcomes) == total_of(outcomes[::-1])
    assert total_of([*outcomes, Outcome()]) == total_of(outcomes)
    assert total_of(outcomes).rows == sum(each.rows or 0 for each in outcomes)


def job(
    *,
    delivery: Delivery | None = DELIVERY,
    names: Sequence[str] = PIECES,
    reliable: bool = False,
) -> Job:
    known: Any = SimpleNamespace(value={name: Finding(None, 7, 1, ()) for name in names})
    return Job(TYPES, DEFAULT, known, delivery, whole=True, reliable=reliable)


def pieces() -> list[Piece]:
    return [Piece(name, (), "/x", parquet=True) for name in PIECES]


def run(cut: Sequence[Sequence[Split]], with_job: Job) -> Outcome:
    """What Spark does: each task on its own, then the records sorted by their keys."""
    records: list[Record] = []
    for task in tasks_of(pieces(), cut, alone=False):
        records += read_tasks([task], with_job)
    return total_of(merge_records(sorted(records, key=lambda record: record[0]), with_job))


def total_of(outcomes: Iterable[Any]) -> Outcome:
    return reduce(Outcome.merge, outcomes, Outcome())


def bounds(found: dict[str, Finding]) -> dict[str, tuple[int | None, Any, Any]]:
    data = {name: (finding, finding.columns[0].data) for name, finding in found.items()}
    return {name: (each.rows, getattr(of, "low", 0), getattr(of, "high", 0)) for name, (each, of) in data.items()}
