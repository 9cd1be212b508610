"""A real HDFS that asks for Kerberos, and encrypts what it sends."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import fs
from tests.files.test_directories import FILES, fill, read
from tests.fixtures.hdfs import NEEDS_MAVEN, hdfs
from tests.fixtures.identity.kerberos import REALM, Kerberos, running
from tests.peers import launch, start_hdfs

from hmstats.collector.planning.data_files import data_files
from hmstats.files import file_systems
from hmstats.files.file_systems import open_location

pytestmark = [pytest.mark.slow, NEEDS_MAVEN]
_NODE = f"hdfs/localhost@{REALM}"


@pytest.fixture(scope="module")
def kerberos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberos]:
    """A KDC that knows the nodes."""
    with running(tmp_path_factory.mktemp("kerberos")) as found:
        found.admin("add_principal -randkey hdfs")
        found.admin(f"ktadd -k {found.keytab('hdfs')} hdfs")
        for each in (_NODE, f"HTTP/localhost@{REALM}"):
            found.admin(f"add_principal -randkey {each}")
            found.admin(f"ktadd -k {found.keytab('nodes')} {each}")
        yield found


@pytest.fixture(scope="module")
def root(kerberos: Kerberos, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = {
        "hadoop.security.authentication": "kerberos",
        "hadoop.security.authorization": "true",
        "hadoop.security.auth_to_local": "RULE:[2:$1](hdfs)s/.*/hdfs/ DEFAULT",
        "hadoop.rpc.protection": "privacy",
        "dfs.block.access.token.enable": "true",
        "dfs.data.transfer.protection": "privacy",
        "ignore.secure.ports.for.testing": "true",
    }
    for each in ("dfs.namenode", "dfs.datanode"):
        settings |= {f"{each}.kerberos.principal": _NODE, f"{each}.keytab.file": kerberos.keytab("nodes")}
    settings["dfs.web.authentication.kerberos.principal"] = f"HTTP/localhost@{REALM}"
    settings["dfs.web.authentication.kerberos.keytab"] = kerberos.keytab("nodes")
    with hdfs(tmp_path_factory.mktemp("hdfs"), settings) as name_node:
        yield f"hdfs://localhost:{name_node}"


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hadoop's files, as a client of such a cluster has them."""
    names = {
        "hadoop.security.authentication": "kerberos",
        "hadoop.rpc.protection": "privacy",
        "dfs.data.transfer.protection": "privacy",
        "dfs.namenode.kerberos.principal": _NODE,
    }
    found = "".join(f"<property><name>{name}</name><value>{value}</value></property>" for name, value in names.items())
    for each in ("core-site.xml", "hdfs-site.xml"):
        (tmp_path / each).write_text(f"<configuration>{found}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    file_systems.open_root.cache_clear()


@pytest.fixture
def as_hdfs(kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has a ticket of the superuser."""
    monkeypatch.setenv("KRB5CCNAME", kerberos.tickets("hdfs"))


@pytest.mark.usefixtures("conf", "as_hdfs")
def test_whoever_has_a_ticket_reads_and_writes(root: str) -> None:
    files = open_location(root)[0]
    fill(files, "/w/t")
    assert read(files, "/w/t") == FILES
    assert len(data_files(f"{root}/w/t")) == len(FILES)


@pytest.mark.usefixtures("conf")
def test_a_key_is_as_good_as_a_ticket(
    root: str, kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a server has it, which runs for longer than a ticket is valid."""
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "tickets"))
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", kerberos.keytab("alice"))
    files = open_location(root)[0]
    assert files.get_file_info("/").type is fs.FileType.Directory
    with pytest.raises(PermissionError, match="user=alice, access=WRITE"):
        files.create_dir("/of_alice")


@pytest.mark.usefixtures("conf")
def test_whoever_has_neither_is_told_so(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "tickets"))
    with pytest.raises(OSError, match=r"(?i)credentials|ticket") as found:
        open_location(root)[0].get_file_info("/")
    assert "\n" not in str(found.value)


@pytest.mark.usefixtures("conf")
def test_a_token_of_the_name_node_is_as_good_as_a_ticket(
    root: str, kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Spark gives it to executors on YARN, in a file."""
    with monkeypatch.context() as patch:
        patch.setenv("KRB5CCNAME", kerberos.tickets("hdfs"))
        fill(open_location(root)[0], "/w/token")
    token = tmp_path / "tokens"
    command = [launch.find_java(11, 22), f"-Djava.security.krb5.conf={os.environ['KRB5_CONFIG']}"]
    command += ["-cp", f"{tmp_path}:{start_hdfs.class_path()}", "org.apache.hadoop.hdfs.tools.DelegationTokenFetcher"]
    given = {**os.environ, "KRB5CCNAME": kerberos.tickets("alice")}
    subprocess.run(
        [*command, "-fs", root, "--renewer", "alice", str(token)], check=True, env=given, capture_output=True
    )
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "none"))
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(token))
    # Tokens name the address of a name node, or its name service.
    files = open_location(root.replace("localhost", "127.0.0.1"))[0]
    with pytest.raises(PermissionError, match="user=alice, access=WRITE"):
        files.create_dir("/of_alice")
    assert read(files, "/w/token") == FILES
