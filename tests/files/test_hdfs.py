"""Directories and files of a real HDFS, which no Hadoop on this machine reaches."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hdfs_native import Client
from pyarrow import fs
from tests.files.test_directories import FILES, fill, read
from tests.fixtures.hdfs import NEEDS_MAVEN, hdfs
from tests.fixtures.ports import free_port

from hmstats.cli.diagnosis.storage import write_rights
from hmstats.collector.planning.data_files import data_files
from hmstats.files import directories, file_systems, trash
from hmstats.files import hdfs as hdfs_files
from hmstats.files.file_systems import NoFileSystem, open_location, settings_of
from hmstats.service.warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.slow, NEEDS_MAVEN]


@pytest.fixture(scope="module")
def name_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Its port."""
    with hdfs(tmp_path_factory.mktemp("hdfs")) as port:
        yield port


@pytest.fixture
def root(name_node: int) -> Iterator[str]:
    """The location of the cluster, which is empty."""
    found = f"hdfs://127.0.0.1:{name_node}"
    client = Client(found)
    for each in client.list_status("/", False):
        client.delete(each.path, True)
    file_systems.open_root.cache_clear()
    yield found
    file_systems.open_root.cache_clear()


@pytest.fixture
def cluster(root: str) -> fs.FileSystem:
    return open_location(root)[0]


def test_files_are_listed_with_sizes_and_times(root: str, cluster: fs.FileSystem) -> None:
    fill(cluster, "/w/t")
    cluster.create_dir("/w/t/_temporary")
    fill(cluster, "/w/t/_temporary")
    found = {each.path: each for each in data_files(f"{root}/w/t")}
    assert {path: each.bytes for path, each in found.items()} == {f"/w/t/{path}": len(FILES[path]) for path in FILES}
    written_ms = Client(root).get_file_info("/w/t/a").modification_time
    assert found["/w/t/a"].modified_ns == written_ms * 1_000_000
    assert [each.path for each in data_files(f"{root}/w/t/k=x%2Fy z/b#1")] == ["/w/t/k=x%2Fy z/b#1"]
    with pytest.raises(FileNotFoundError):
        data_files(f"{root}/w/none")
    assert read(cluster, "/w/t") == {**FILES, **{f"_temporary/{name}": data for name, data in FILES.items()}}


def test_a_directory_is_renamed_in_one_step(root: str, cluster: fs.FileSystem) -> None:
    fill(cluster, "/w/t")
    before = Client(root).get_file_info("/w/t/a").modification_time
    move = Warehouse(f"{root}/w").planned_move(f"{root}/w/t", f"{root}/w/new/u")
    assert move is not None
    assert not move.copies
    move.prepare()
    assert move.finish()
    assert read(cluster, "/w/new/u") == FILES
    assert cluster.get_file_info("/w/t").type is fs.FileType.NotFound
    assert Client(root).get_file_info("/w/new/u/a").modification_time == before


def test_removed_and_emptied(cluster: fs.FileSystem) -> None:
    for each in ("/w/t", "/w/u", "/w/v"):
        fill(cluster, each)
    directories.empty(cluster, "/w/t")
    directories.remove(cluster, "/w/u")
    directories.remove(cluster, "/w/none")
    directories.empty(cluster, "/w/none")
    cluster.delete_file("/w/v/a")
    with pytest.raises(FileNotFoundError, match="/w/v should be a file, found directory"):
        cluster.delete_file("/w/v")
    with pytest.raises(PermissionError):
        cluster.delete_dir_contents("/", accept_root_dir=True)
    assert [each.path for each in cluster.get_file_info(fs.FileSelector("/w/t"))] == []
    assert read(cluster, "/w") == {f"v/{name}": data for name, data in FILES.items() if name != "a"}


def test_dropped_data_goes_to_the_trash_of_the_user(cluster: fs.FileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(cluster, "/w/t")
    monkeypatch.setenv("HADOOP_USER_NAME", "ann")
    trash.move_to_trash(cluster, "/w/t")
    assert read(cluster, "/user/ann/.Trash/Current/w/t") == FILES


@pytest.mark.parametrize("permissions", [0o750, 0o775, 0o1777])
def test_a_new_directory_has_the_permissions_of_the_one_above(
    root: str, cluster: fs.FileSystem, permissions: int
) -> None:
    client = Client(root)
    client.mkdirs("/w", 0o700, True)
    client.set_permission("/w", permissions)
    client.set_owner("/w", None, "analysts")
    cluster.create_dir("/w/d.db/t", recursive=True)
    for each in ("/w/d.db", "/w/d.db/t"):
        found = client.get_file_info(each)
        assert (found.permission, found.group) == (permissions & 0o777, "analysts")


def test_doctor_makes_no_warehouse(root: str, cluster: fs.FileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = write_rights(f"{root}/new/warehouse")
    assert "is not there yet; the server makes it" in found.found
    assert cluster.get_file_info("/new").type is fs.FileType.NotFound
    cluster.create_dir("/new/warehouse")
    (found,) = write_rights(f"{root}/new/warehouse")
    assert "this user can write" in found.found
    assert cluster.get_file_info(fs.FileSelector("/new/warehouse")) == []
    monkeypatch.setenv("HADOOP_USER_NAME", "bob")
    file_systems.open_root.cache_clear()
    (found,) = write_rights(f"{root}/new/warehouse")
    assert "Permission denied: user=bob, access=WRITE" in found.found


def test_a_copy_is_whole(cluster: fs.FileSystem) -> None:
    cluster.create_dir("/w")
    data = bytes(range(256)) * 20_000
    with cluster.open_output_stream("/w/a") as out:
        out.write(data)
    cluster.copy_file("/w/a", "/w/b")
    with cluster.open_input_file("/w/b") as copy:
        assert copy.size() == len(data)
        assert copy.read_at(5, 1_000_003) == data[1_000_003:1_000_008]
        copy.seek(0)
        assert copy.read() == data
    with cluster.open_append_stream("/w/b") as out:
        out.write(b"more")
    assert cluster.get_file_info("/w/b").size == len(data) + 4


def test_what_the_name_node_refuses_is_one_sentence(
    root: str, cluster: fs.FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(root)
    client.mkdirs("/private", 0o700, True)
    client.create("/file").close()
    with pytest.raises(NotADirectoryError, match=r"^/file .is not a directory.$"):
        cluster.create_dir("/file/below")
    file_systems.open_root.cache_clear()
    monkeypatch.setenv("HADOOP_USER_NAME", "bob")
    files = open_location(f"{root}/private")[0]
    with pytest.raises(
        PermissionError, match=r'^Permission denied: user=bob, access=READ_EXECUTE, inode="/private":[^\n]*$'
    ):
        files.get_file_info(fs.FileSelector("/private"))
    with pytest.raises(PermissionError, match="user=bob, access=WRITE"):
        files.create_dir("/private2")
    with pytest.raises(FileNotFoundError, match=r"^[^\n]*/none$"):
        files.open_input_file("/none")


def test_a_name_service_is_found_by_hadoops_settings(root: str, cluster: fs.FileSystem) -> None:
    """Of its two name nodes one does not answer."""
    fill(cluster, "/w/t")
    given = {
        "dfs.nameservices": "lake",
        "dfs.ha.namenodes.lake": "a,b",
        "dfs.namenode.rpc-address.lake.a": f"127.0.0.1:{free_port()}",
        "dfs.namenode.rpc-address.lake.b": root.removeprefix("hdfs://"),
        "fs.defaultFS": "hdfs://lake",
        "fs.s3a.secret.key": "other",
    }
    for location in ("hdfs://lake/w/t", "hdfs:///w/t"):
        place = ("hdfs", location.removeprefix("hdfs://").partition("/")[0])
        settings = settings_of([place], given.get)
        assert "fs.s3a.secret.key" not in dict(settings)
        assert len(data_files(location, settings)) == len(FILES)


def test_a_host_without_a_port_has_hadoops(root: str, cluster: fs.FileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(cluster, "/w/t")
    monkeypatch.setattr(hdfs_files, "_PORT", int(root.rpartition(":")[2]))
    assert len(data_files("hdfs://localhost/w/t")) == len(FILES)


def test_settings_come_from_hadoops_files(
    root: str, cluster: fs.FileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(cluster, "/w/t")
    address = f"<property><name>dfs.namenode.rpc-address.lake.a</name><value>{root[7:]}</value></property>"
    nodes = "<property><name>dfs.ha.namenodes.lake</name><value>a</value></property>"
    (tmp_path / "hdfs-site.xml").write_text(f"<configuration>{nodes}{address}</configuration>")
    (tmp_path / "core-site.xml").write_text("<configuration></configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    assert len(data_files("hdfs://lake/w/t")) == len(FILES)


def test_a_cluster_that_does_not_answer_is_an_error() -> None:
    port = free_port()
    with pytest.raises(OSError, match="refused"):
        data_files(f"hdfs://127.0.0.1:{port}/w", (("dfs.client.failover.max.attempts", "1"),))
    with pytest.raises(NoFileSystem, match=r"neither .* say where hdfs://nowhere is .*No NameNode hosts found"):
        data_files("hdfs://nowhere/w")


def test_without_a_client_the_error_says_what_to_install(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdfs_files, "is_installed", lambda: False)
    for variable in ("JAVA_HOME", "HADOOP_HOME", "ARROW_LIBHDFS_DIR"):
        monkeypatch.setenv(variable, "/none")
    for _ in range(2):  # Arrow says something else the second time
        with pytest.raises(NoFileSystem, match=r"neither a client of HDFS .* pip install '.\[hdfs\]'"):
            open_location(f"{root}/w")
