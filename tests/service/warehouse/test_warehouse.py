"""The warehouse touches what lies inside its root, and nothing else."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hmstats.errors import InvalidOperation, MetaError
from hmstats.model.catalog.location import below
from hmstats.service.warehouse.warehouse import EVERYWHERE, Warehouse


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
    assert below(table, "p=a%2Fb") == f"file:{root}/db.db/t/p=a%2Fb"


def test_a_directory_inside_is_made_and_removed(root: Path) -> None:
    warehouse = Warehouse(str(root))
    location = warehouse.database_location("db")
    warehouse.make_directory(location + "/t")
    (root / "db.db" / "t" / "file").write_text("x")
    warehouse.remove_directories([location])
    assert not (root / "db.db").exists()
    warehouse.remove_directories([location])
    assert root.exists()


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file:///{}"])
def test_every_way_to_write_a_local_place_is_understood(root: Path, form: str) -> None:
    assert Warehouse(str(root)).may_change(form.format(root / "t"))
    assert Warehouse(form.format(root)).may_change(str(root / "t"))


def test_the_root_itself_is_not_inside(root: Path) -> None:
    warehouse = Warehouse(str(root))
    assert not warehouse.may_change(f"file:{root}")
    assert not warehouse.may_change(f"file:{root}/")
    assert not warehouse.may_change(f"file:{root}-other/t")
    assert not warehouse.may_change(None)
    assert not warehouse.may_change("s3://bucket/t")


@pytest.mark.parametrize("way_out", ["../outside", "t/../../outside", "link"])
def test_what_leaves_the_root_is_never_removed(root: Path, tmp_path: Path, way_out: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    (root / "link").symlink_to(outside)
    Warehouse(str(root)).remove_directories([f"file:{root}/{way_out}"])
    assert (outside / "precious").exists()


def test_of_directories_of_which_one_cannot_be_made_none_stays(root: Path) -> None:
    (root / "file").write_text("x")
    (root / "t" / "k=there").mkdir(parents=True)
    locations = [f"file:{root}/t/k=there", f"file:{root}/t/k=1", f"file:{root}/file/t", f"file:{root}/t/k=2"]
    with pytest.raises(MetaError, match=f"^file:{root}/file/t is not a directory or unable to create one: .+"):
        Warehouse(str(root)).make_directories(locations)
    assert (root / "file").read_text() == "x"
    assert [each.name for each in (root / "t").iterdir()] == ["k=there"]


def test_a_file_is_no_directory_unless_it_may_be_one(root: Path) -> None:
    (root / "file").write_text("x")
    warehouse = Warehouse(str(root))
    warehouse.make_directory(f"file:{root}/file", may_be_files=True)
    with pytest.raises(MetaError, match=r"^no way: a file is there$"):
        warehouse.make_directory(f"file:{root}/file", "no way")
    assert (root / "file").read_text() == "x"


def test_a_store_without_a_client_on_this_machine_is_left_to_engines() -> None:
    warehouse = Warehouse("/nowhere", [EVERYWHERE])
    with capture_logs() as logs:
        warehouse.make_directory("viewstore://cluster/t")
    assert [each["event"] for each in logs] == ["directory_not_made"]


def test_percent_signs_are_characters_of_a_name(root: Path) -> None:
    """Partition names have them; engines write to directories that are called so."""
    warehouse = Warehouse(str(root))
    location = f"file:{root}/t/p=a%2Fb c"
    warehouse.make_directory(location)
    assert [each.name for each in (root / "t").iterdir()] == ["p=a%2Fb c"]
    warehouse.remove_directories([location])
    assert list((root / "t").iterdir()) == []


def test_a_partitions_directory_goes_with_the_empty_ones_above_it(root: Path) -> None:
    warehouse = Warehouse(str(root))
    for each in ("k=a/j=1", "k=a/j=2"):
        warehouse.make_directory(f"file:{root}/t/{each}")
    warehouse.remove_directories([f"file:{root}/t/k=a/j=1"], keys=2)
    assert [each.name for each in (root / "t" / "k=a").iterdir()] == ["j=2"]
    warehouse.remove_directories([f"file:{root}/t/k=a/j=2", None], keys=2)
    assert list((root / "t").iterdir()) == []


def test_an_emptied_directory_is_still_there(root: Path) -> None:
    warehouse = Warehouse(str(root))
    (root / "t" / "inner").mkdir(parents=True)
    (root / "t" / "part-0").write_text("rows")
    warehouse.empty_directories([f"file:{root}/t"])
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


def test_locations_are_compared_with_each_other_in_linear_time(root: Path, tmp_path: Path) -> None:
    class Counted(str):
        """A location that counts how often it is looked up."""

        hashed = 0

        def __hash__(self) -> int:
            Counted.hashed += 1
            return super().__hash__()

    many = [Counted(f"file:{root}/k={number}") for number in range(300)]
    many += [Counted(f"file:{tmp_path}/elsewhere/k={number}") for number in range(300)]
    Warehouse(str(root)).make_directories(many)
    assert len(many) <= Counted.hashed < 50 * len(many)


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
    Warehouse(str(root)).remove_directories([f"file:{root}/{each}" for each in named])
    assert [each.name for each in (root / "t").iterdir()] == ["k=out"]
    assert (outside / "k").exists()


@pytest.fixture
def everywhere(root: Path) -> Warehouse:
    return Warehouse(str(root), [EVERYWHERE])


def test_roots_are_prefixes_of_locations(root: Path, tmp_path: Path) -> None:
    warehouse = Warehouse(str(root), [str(tmp_path / "lake"), "s3://bucket/tables"])
    assert warehouse.may_change(f"file:{root}/t")
    assert warehouse.may_change(f"file:{tmp_path}/lake/t")
    assert warehouse.may_change("s3a://bucket/tables/t")
    assert not warehouse.may_change(f"file:{tmp_path}/lakes/t")
    assert not warehouse.may_change("s3://bucket/tablets/t")
    assert not warehouse.may_change("gs://bucket/tables/t")


def test_everywhere_is_every_location_but_roots(everywhere: Warehouse, root: Path, tmp_path: Path) -> None:
    assert everywhere.may_change(f"file:{tmp_path}/anything")
    assert everywhere.may_change("hdfs://node/a")
    for kept in ("/", "file:///", "s3://bucket", "s3://bucket/", str(root), str(root.parent), "relative/path", "/a/.."):
        assert not everywhere.may_change(kept)


def test_what_holds_a_root_is_never_removed(everywhere: Warehouse, root: Path, tmp_path: Path) -> None:
    (root / "precious").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path)
    for location in (
        f"file:{root}",
        f"file:{tmp_path}",
        f"file:{root}/t/..",
        f"{tmp_path}/link",
        f"{tmp_path}/link/warehouse",
    ):
        everywhere.remove_directories([location])
    assert (root / "precious").exists()


def test_what_would_be_made_outside_is_refused(root: Path, tmp_path: Path, everywhere: Warehouse) -> None:
    warehouse = Warehouse(str(root))
    warehouse.check_inside("database d", f"file://{root}")
    warehouse.check_inside("database d", f"file:{root}/d.db")
    everywhere.check_inside("database d", "s3://bucket")
    with pytest.raises(
        MetaError, match=rf"database d must lie in file:{root}, found file:{tmp_path}/d.*warehouse_roots"
    ):
        warehouse.check_inside("database d", f"file:{tmp_path}/d")
    with pytest.raises(MetaError, match=r"absolute location, found d.db"):
        everywhere.check_inside("database d", "d.db")


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%23b"])
def test_no_character_cuts_a_location(everywhere: Warehouse, tmp_path: Path, name: str) -> None:
    for each in ("a", name):
        (tmp_path / each / "inner").mkdir(parents=True)
    everywhere.remove_directories([f"file:{tmp_path}/{name}"])
    assert not (tmp_path / name).exists()
    assert (tmp_path / "a" / "inner").exists()


def test_of_a_link_the_link_goes(everywhere: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "behind").mkdir()
    (tmp_path / "behind" / "precious").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "behind")
    everywhere.remove_directories([f"file:{tmp_path}/link"])
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "behind" / "precious").exists()


def test_what_is_left_is_said(root: Path, tmp_path: Path) -> None:
    with capture_logs() as lines:
        Warehouse(str(root)).remove_directories([f"file:{tmp_path}/t"])
    (line,) = lines
    assert (line["log_level"], line["event"], line["locations"]) == (
        "warning",
        "directories_left",
        [f"file:{tmp_path}/t"],
    )


def test_directories_above_a_partition_go_up_to_the_tables(everywhere: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "t" / "k=1" / "j=1").mkdir(parents=True)
    (tmp_path / "far" / "j=1").mkdir(parents=True)
    gone = [f"file:{tmp_path}/t/k=1/j=1", f"file:{tmp_path}/far/j=1"]
    everywhere.remove_directories(gone, keys=2, within=f"file:{tmp_path}/t")
    assert [each.name for each in (tmp_path / "t").iterdir()] == []
    assert [each.name for each in (tmp_path / "far").iterdir()] == []


def test_a_directory_moves_out_of_the_warehouse(everywhere: Warehouse, root: Path, tmp_path: Path) -> None:
    (tmp_path / "a#1").mkdir()
    (tmp_path / "a#1" / "part-0").write_text("rows")
    move = everywhere.planned_move(f"file:{tmp_path}/a#1", f"file:///{tmp_path}/new/b?2")
    assert move is not None
    move.prepare()
    assert (tmp_path / "a#1" / "part-0").exists()
    assert move.finish()
    assert (tmp_path / "new" / "b?2" / "part-0").read_text() == "rows"
    assert not (tmp_path / "a#1").exists()
    assert everywhere.planned_move(f"file:{tmp_path}/none", f"file:{tmp_path}/other") is None
    with pytest.raises(InvalidOperation, match="two stores"):
        everywhere.planned_move(f"file:{tmp_path}/new", "s3://bucket/new")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_dropped_data_goes_to_the_trash_where_there_is_one(root: Path, home: Path) -> None:
    warehouse = Warehouse(str(root), trash=True)
    for turn in ("first", "second", "third"):
        (root / "t").mkdir()
        (root / "t" / "part-0").write_text(turn)
        warehouse.remove_directories([f"file:{root}/t"], purge=turn == "third")
        assert not (root / "t").exists()
    found = [path.read_text() for path in (home / ".Trash" / "Current").rglob("part-0")]
    assert sorted(found) == ["first", "second"]
    assert (home / f".Trash/Current{root}/t/part-0").read_text() == "first"


def test_an_emptied_directory_goes_to_the_trash_too(root: Path, home: Path) -> None:
    (root / "t").mkdir()
    (root / "t" / "part-0").write_text("rows")
    Warehouse(str(root), trash=True).empty_directories([f"file:{root}/t"])
    assert list((root / "t").iterdir()) == []
    assert (home / f".Trash/Current{root}/t/part-0").read_text() == "rows"


def test_without_the_setting_nothing_goes_to_the_trash(root: Path, home: Path) -> None:
    (root / "t").mkdir()
    Warehouse(str(root)).remove_directories([f"file:{root}/t"])
    assert not home.exists()


def test_another_warehouse_of_a_client_is_logged_once(tmp_path: Path) -> None:
    warehouse = Warehouse(f"{tmp_path}/ours", ("*",))
    with capture_logs() as logs:
        for name in ("a", "b"):
            warehouse.warn_of_other_warehouse(name, f"file:{tmp_path}/theirs/{name}.db", f"{tmp_path}/ours/{name}.db")
        warehouse.warn_of_other_warehouse("c", f"file://{tmp_path}/ours/c.db", f"{tmp_path}/ours/c.db")
        warehouse.warn_of_other_warehouse("d", f"{tmp_path}/chosen", f"{tmp_path}/ours/d.db")
    (line,) = logs
    assert (line["log_level"], line["event"]) == ("warning", "client_has_another_warehouse")
    assert line["advice"] == f"give it the server's: spark.sql.warehouse.dir=file:{tmp_path}/ours"
