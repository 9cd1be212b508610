"""The warehouse touches what lies inside its root, and nothing else."""

from pathlib import Path

import pytest

from hmstats.service.warehouse import Warehouse, partition_location


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "warehouse"
    folder.mkdir()
    return folder


def test_locations_follow_hives_names(root: Path) -> None:
    warehouse = Warehouse(str(root))
    assert warehouse.root == f"file:{root}"
    assert warehouse.database_location("default") == f"file:{root}"
    assert warehouse.database_location("db") == f"file:{root}/db.db"
    table = warehouse.table_location(warehouse.database_location("db"), "t")
    assert partition_location(table, "p=a%2Fb") == f"file:{root}/db.db/t/p=a%2Fb"


def test_a_directory_inside_is_made_and_removed(root: Path) -> None:
    warehouse = Warehouse(str(root))
    location = warehouse.database_location("db")
    warehouse.make_directory(location + "/t")
    (root / "db.db" / "t" / "file").write_text("x")
    warehouse.remove_directory(location)
    assert not (root / "db.db").exists()
    warehouse.remove_directory(location)
    assert root.exists()


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file:///{}"])
def test_every_way_to_write_a_local_place_is_understood(root: Path, form: str) -> None:
    assert Warehouse(str(root)).holds(form.format(root / "t"))
    assert Warehouse(form.format(root)).holds(str(root / "t"))


def test_the_root_itself_is_not_inside(root: Path) -> None:
    warehouse = Warehouse(str(root))
    assert not warehouse.holds(f"file:{root}")
    assert not warehouse.holds(f"file:{root}/")
    assert not warehouse.holds(f"file:{root}-other/t")
    assert not warehouse.holds(None)
    assert not warehouse.holds("s3://bucket/t")


@pytest.mark.parametrize("way_out", ["../outside", "t/../../outside", "link"])
def test_what_leaves_the_root_is_never_removed(root: Path, tmp_path: Path, way_out: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    (root / "link").symlink_to(outside)
    Warehouse(str(root)).remove_directory(f"file:{root}/{way_out}")
    assert (outside / "precious").exists()


def test_a_directory_that_cannot_be_made_is_no_error(root: Path) -> None:
    (root / "file").write_text("x")
    Warehouse(str(root)).make_directory(f"file:{root}/file/t")
    assert (root / "file").read_text() == "x"


def test_percent_signs_are_characters_of_a_name(root: Path) -> None:
    """Partition names have them; engines write to directories that are called so."""
    warehouse = Warehouse(str(root))
    location = f"file:{root}/t/p=a%2Fb c"
    warehouse.make_directory(location)
    assert [each.name for each in (root / "t").iterdir()] == ["p=a%2Fb c"]
    warehouse.remove_directory(location)
    assert list((root / "t").iterdir()) == []


def test_a_partitions_directory_goes_with_the_empty_ones_above_it(root: Path) -> None:
    warehouse = Warehouse(str(root))
    for each in ("k=a/j=1", "k=a/j=2"):
        warehouse.make_directory(f"file:{root}/t/{each}")
    warehouse.remove_partition_directories([f"file:{root}/t/k=a/j=1"], 2)
    assert [each.name for each in (root / "t" / "k=a").iterdir()] == ["j=2"]
    warehouse.remove_partition_directories([f"file:{root}/t/k=a/j=2", None], 2)
    assert list((root / "t").iterdir()) == []


def test_an_emptied_directory_is_still_there(root: Path) -> None:
    warehouse = Warehouse(str(root))
    (root / "t" / "inner").mkdir(parents=True)
    (root / "t" / "part-0").write_text("rows")
    warehouse.empty_directory(f"file:{root}/t")
    assert (root / "t").is_dir()
    assert list((root / "t").iterdir()) == []


def test_of_many_directories_those_inside_are_made(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "link").symlink_to(outside)
    (root / "t" / "k=there").mkdir(parents=True)
    (root / "t" / "k=out").symlink_to(outside)
    inside = [f"file:{root}/t/{name}" for name in ("k=there", "k=1", "k=2/", "a/b/../k=3")]
    others = [None, "", f"file:{outside}/k", f"file:{root}/link/k", f"file:{root}/t/../../outside/k", "s3://bucket/k"]
    Warehouse(str(root)).make_directories([*inside, *others])
    assert {each.name for each in (root / "t").iterdir()} == {"k=there", "k=out", "k=1", "k=2", "a"}
    assert (root / "t" / "a" / "k=3").is_dir()
    assert list(outside.iterdir()) == []


def test_of_many_directories_those_inside_are_removed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "k").mkdir(parents=True)
    (root / "link").symlink_to(outside)
    (root / "t").mkdir()
    (root / "t" / "k=out").symlink_to(outside / "k")
    for name in ("k=1", "k=2"):
        (root / "t" / name).mkdir()
        (root / "t" / name / "part-0").write_text("rows")
    named = ["t/k=1", "t/k=2", "t/k=3", "t/k=out", "link/k", "t/../../outside/k", "t/.."]
    Warehouse(str(root)).remove_partition_directories([f"file:{root}/{each}" for each in named], 1)
    assert [each.name for each in (root / "t").iterdir()] == ["k=out"]
    assert (outside / "k").exists()
