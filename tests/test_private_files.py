"""Files that hold values of data are their owner's alone: the database, its log and claim, spool and exported files."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.client.sending.test_spool import parcel

from hmstats.client.sending.spool import Spool
from hmstats.errors import DatabaseTaken
from hmstats.outlets.arrow import ipc
from hmstats.outlets.export.file import write
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    """Files of this process are for all by default."""
    before = os.umask(0)
    yield
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert files
    return [each.name for each in files if stat.S_IMODE(each.stat().st_mode) & 0o077]


def test_a_database_and_the_files_beside_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/hmstats.sqlite"
    migrate.upgrade(url)
    store = Store.open(url)
    store.write(lambda unit: unit.connection.exec_driver_sql("DELETE FROM DBS WHERE DB_ID < 0"))
    assert {each.name for each in tmp_path.iterdir()} >= {
        "hmstats.sqlite",
        "hmstats.sqlite-wal",
        "hmstats.sqlite-claim",
    }
    assert readable_by_others(tmp_path) == []
    store.close()


def test_a_spool_folder(tmp_path: Path) -> None:
    Spool(str(tmp_path / "spool")).put("one", parcel())
    assert readable_by_others(tmp_path) == []


@pytest.mark.parametrize("name", ["found.json", "found.parquet"])
def test_an_exported_file(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, [])
    assert readable_by_others(tmp_path) == []


def test_an_arrow_file(tmp_path: Path) -> None:
    ipc.write_file(tmp_path / "found.arrow", [])
    assert readable_by_others(tmp_path) == []


@pytest.mark.parametrize("write_to", [write, ipc.write_file])
def test_what_a_link_leads_to_is_written_and_the_link_stays(
    tmp_path: Path, write_to: Callable[[Path, list[Any]], object]
) -> None:
    """As /dev/stdout, a link to the file that the output goes to."""
    link, aim = tmp_path / "link.json", tmp_path / "elsewhere" / "aim"
    aim.parent.mkdir()
    aim.write_text("old")
    link.symlink_to(aim)
    write_to(link, [])
    assert link.readlink() == aim
    assert aim.read_bytes() != b"old"
    assert [each.name for each in aim.parent.iterdir()] == ["aim"]


def test_a_server_that_has_a_database_alone_is_noticed_through_a_link(tmp_path: Path) -> None:
    url, linked = f"sqlite:///{tmp_path}/hmstats.sqlite", f"sqlite:///{tmp_path}/folder/link.sqlite"
    migrate.upgrade(url)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.sqlite").symlink_to(tmp_path / "hmstats.sqlite")
    alone, other = Store.open(url), Store.open(linked)
    alone.claim_exclusively()
    with pytest.raises(DatabaseTaken):
        other.claim_exclusively()
    with pytest.raises(DatabaseTaken):
        other.write(lambda unit: unit.connection.exec_driver_sql("DELETE FROM DBS WHERE DB_ID < 0"))
    alone.close()
    other.close()


def test_a_database_with_two_names_is_nobodys_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/hmstats.sqlite"
    migrate.upgrade(url)
    os.link(tmp_path / "hmstats.sqlite", tmp_path / "second.sqlite")
    store = Store.open(url)
    with pytest.raises(DatabaseTaken, match="has several names"):
        store.claim_exclusively()
    store.close()


def test_who_comes_by_a_second_name_after_a_server_is_alone_is_refused(tmp_path: Path) -> None:
    first, second = (f"sqlite:///{tmp_path}/{name}.sqlite" for name in ("hmstats", "second"))
    migrate.upgrade(first)
    alone = Store.open(first)
    alone.claim_exclusively()
    os.link(tmp_path / "hmstats.sqlite", tmp_path / "second.sqlite")
    other = Store.open(second)
    with pytest.raises(DatabaseTaken, match="has several names"):
        other.claim_exclusively()
    other.close()
    alone.close()


@pytest.mark.parametrize("exclusive", [True, False], ids=["exclusive", "shared"])
def test_who_writes_by_a_second_name_is_refused_and_the_first_goes_on(tmp_path: Path, exclusive: bool) -> None:
    first, second = (f"sqlite:///{tmp_path}/{name}.sqlite" for name in ("hmstats", "second"))
    migrate.upgrade(first)
    served = Store.open(first)
    if exclusive:
        served.claim_exclusively()
    served.write(lambda unit: versions.bump(unit, 1))
    os.link(tmp_path / "hmstats.sqlite", tmp_path / "second.sqlite")
    other = Store.open(second)
    with pytest.raises(DatabaseTaken, match="has several names"):
        other.write(lambda unit: versions.bump(unit, 1))
    served.write(lambda unit: versions.bump(unit, 1))
    other.close()
    served.close()
    (tmp_path / "second.sqlite").unlink()
    again = Store.open(first)
    assert again.current_versions([1]) == {1: 2}
    again.close()
