"""Directories in Azure's emulator are made, listed, moved and removed, as the environment names it."""

from collections.abc import Iterator

import pytest
from pyarrow import fs
from tests.files.test_directories import FILES, fill, read
from tests.fixtures.object_stores.azure import CONTAINER, NEEDS_NPM, Account, azure_account

from hmstats.collector.planning.data_files import data_files
from hmstats.files import file_systems
from hmstats.service.warehouse.warehouse import EVERYWHERE, Warehouse

pytestmark = [pytest.mark.slow, NEEDS_NPM]


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with azure_account(tmp_path_factory.mktemp("azure")) as found:
        yield found


@pytest.fixture
def container(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[fs.FileSystem]:
    """The container, empty, as a server finds it by its environment."""
    for name, value in account.environment.items():
        monkeypatch.setenv(name, value)
    file_systems.open_root.cache_clear()
    files, path = file_systems.open_location(account.root)
    files.delete_dir_contents(path, missing_dir_ok=True)
    yield files
    file_systems.open_root.cache_clear()


def test_all_schemes_reach_the_container(account: Account, container: fs.FileSystem) -> None:
    fill(container, f"{CONTAINER}/t")
    blob = account.root.replace("abfss:", "wasbs:").replace(".dfs.", ".blob.")
    for root in (account.root, account.root.replace("abfss:", "abfs:"), blob, blob.replace("wasbs:", "wasb:")):
        files, path = file_systems.open_location(f"{root}/t/k=x%2Fy z/b#1")
        assert files.get_file_info(path).size == 2
    assert [each.bytes for each in data_files(f"{account.root}/t/k=1")] == [3]


def test_a_directory_moves_whole(account: Account, container: fs.FileSystem) -> None:
    fill(container, f"{CONTAINER}/w/t")
    warehouse = Warehouse(f"{account.root}/w")
    move = warehouse.planned_move(f"{account.root}/w/t", f"{account.root}/w/new/u")
    assert move is not None
    move.prepare()
    assert move.finish()
    assert read(container, f"{CONTAINER}/w/new/u") == FILES
    warehouse.remove_directories([f"{account.root}/w/t"])
    assert container.get_file_info(f"{CONTAINER}/w/t").type is fs.FileType.NotFound


def test_a_directory_is_made_emptied_and_removed(account: Account, container: fs.FileSystem) -> None:
    warehouse = Warehouse("s3://elsewhere/w", [EVERYWHERE])
    place = f"{account.root}/x/made"
    warehouse.make_directory(place)
    assert container.get_file_info(f"{CONTAINER}/x/made").type is fs.FileType.Directory
    fill(container, f"{CONTAINER}/x/made")
    fill(container, f"{CONTAINER}/x/made-2")
    warehouse.empty_directories([place])
    assert read(container, f"{CONTAINER}/x/made") == {}
    warehouse.remove_directories([place])
    assert container.get_file_info(f"{CONTAINER}/x/made").type is fs.FileType.NotFound
    assert read(container, f"{CONTAINER}/x/made-2") == FILES
