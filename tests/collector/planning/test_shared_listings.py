"""Very many places of an object store are listed by the directories above them, and nothing is found otherwise."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore, object_store

from hmstats.collector.planning import shared_listings as module
from hmstats.collector.planning.data_files import DataFile, data_files, list_each, list_files
from hmstats.collector.planning.shared_listings import shared_listings
from hmstats.files import file_systems

MOST = 20


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ALONE", MOST)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ObjectStore, Path]]:
    """A store, and the log of its requests."""
    folder = tmp_path_factory.mktemp("store")
    with object_store(folder) as found:
        yield found, folder / "object-store.log"


def tops(*locations: str) -> dict[str, list[str]]:
    """The places of each directory that is listed."""
    return {each.directory: list(each.places) for each in shared_listings(locations)}


def test_few_places_and_those_of_a_file_system_are_listed_one_by_one() -> None:
    assert tops(*(f"s3a://b/t/k={each}" for each in range(MOST))) == {}
    assert tops(*(f"file:/t/k={each}" for each in range(2 * MOST))) == {}
    assert tops(*(f"hdfs://n/t/k={each}" for each in range(2 * MOST))) == {}
    assert tops(*(f"s3://bucket{each}/t" for each in range(2 * MOST))) == {}


def test_many_places_are_listed_by_the_deepest_directories_that_are_few() -> None:
    days = [f"s3a://b/t/year={year}/month={month}/day={day}" for year in (1, 2) for month in range(9) for day in (1, 2)]
    found = tops(*days, "s3://c/alone")
    assert found.keys() == {f"s3://b/t/year={year}/month={month}" for year in (1, 2) for month in range(9)}
    assert sorted(each for some in found.values() for each in some) == sorted(days)


def test_a_bucket_is_never_listed_as_a_whole() -> None:
    assert tops(*(f"s3://b/k={each}" for each in range(2 * MOST))) == {}


@pytest.mark.slow
def test_a_shared_listing_finds_what_each_place_alone_does(
    store: tuple[ObjectStore, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store[0].environment.items():
        monkeypatch.setenv(name, value)
    file_systems.open_root.cache_clear()
    files = store[0].files()
    names = [f"t/k={each}/part-0" for each in range(MOST)]
    names += ["t/k=1/_SUCCESS", "t/k=1/deep/part-1", "t/k=1/_hidden/part-2", "t/k=10/.part-3", "t/k=x%2Fy z/part-4"]
    names += ["t/one.parquet", "t/orphan/part-5", "t/part-6", "tt/k=1/part-7"]
    for name in names:
        with files.open_output_stream(f"{BUCKET}/{name}") as out:
            out.write(b"abc")
    files.open_output_stream(f"{BUCKET}/t/k=1/empty").close()
    places = {str(each): f"s3a://{BUCKET}/t/k={each}" for each in range(MOST)}
    places |= {"slash": f"s3://{BUCKET}/t/k=x%2Fy z/", "one file": f"s3a://{BUCKET}/t/one.parquet"}
    places |= {"nothing": f"s3://{BUCKET}/t/nothing", "around": f"s3://{BUCKET}/t/k=1/deep", "none": ""}
    before = _listings(store[1])
    found = list_files(places)
    assert _listings(store[1]) - before <= 4  # t, t/k=1 for the place in it, and what was not found again
    assert isinstance(list_each(places)["nothing"], FileNotFoundError)
    assert found == {key: _alone(location) for key, location in places.items()}
    assert [len(found[each]) for each in ("1", "2", "10", "one file", "nothing")] == [2, 1, 1, 1, 0]
    file_systems.open_root.cache_clear()


def _alone(location: str) -> list[DataFile]:
    with suppress(FileNotFoundError):
        return data_files(location)
    return []


def _listings(log: Path) -> int:
    return log.read_text().count("list-type=2")
