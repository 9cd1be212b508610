"""HDFS as a file system of Arrow, by hdfs-native: without Java and without Hadoop's libraries.

Settings are read from Hadoop's files (HADOOP_CONF_DIR, or HADOOP_HOME/etc/hadoop), and those that are given win. The
user is that of HADOOP_USER_NAME, of the process's Kerberos ticket, or of HADOOP_TOKEN_FILE_LOCATION, as for Hadoop's
own client.
"""

import posixpath
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
from pyarrow import fs

from hmstats.model.catalog.location import parts_of

SCHEMES = ("hdfs", "viewfs")
TYPE_NAMES = ("hdfs", "py::hdfs")
"""Arrow's names of file systems that are HDFS: through Hadoop's libraries, and through this module."""
_PORT = 8020
"""Hadoop's port of a name node that is given without one."""
_DEFAULT = "fs.defaultFS"
_ATTEMPTS = "dfs.client.failover.max.attempts"
_NAMES = (
    _DEFAULT,
    _ATTEMPTS,
    "dfs.client.failover.random.order",
    "dfs.client.socket-timeout",
    "dfs.client.use.datanode.hostname",
    "dfs.data.transfer.protection",
    "dfs.nameservices",
    "hadoop.security.authentication",
)
_PREFIXES = (_DEFAULT, "dfs.", "hadoop.")
_MOST_ATTEMPTS = "4"
"""How often a name node is asked that does not answer: for some 20 seconds, where the client's default is 3 minutes."""
_READ_WRITE_ENTER = 0o777
"""The bits of permissions that a new directory gets from the one above it: a sticky bit is that one's own."""
_JAVA_CLASS = re.compile(r'RPCError\("[\w.$]*?(\w+)", "(.*)', re.DOTALL)
_TRACE = re.compile(r"\\n|\n")


def is_installed() -> bool:
    """Whether the package that this module needs is installed."""
    return find_spec("hdfs_native") is not None


def setting_names(authority: str, get: Callable[[str], str | None]) -> set[str]:
    """The names of Hadoop's settings for a cluster; some depend on the values of others."""
    service = authority or parts_of(get(_DEFAULT) or "")[1]
    nodes = f"dfs.ha.namenodes.{service}"
    addresses = (f"dfs.namenode.rpc-address.{service}.{node.strip()}" for node in (get(nodes) or "").split(","))
    return {*_NAMES, nodes, *addresses}


def open_cluster(root: str, settings: Mapping[str, str]) -> fs.FileSystem:
    """The file system of a cluster, given as `hdfs://AUTHORITY`, which is not asked yet.

    Raises ValueError if its authority is neither a host nor a name service that a setting explains.
    """
    given = {name: value for name, value in settings.items() if name.startswith(_PREFIXES)}
    try:
        client = _client(root, given)
    except RuntimeError as error:
        host = _with_port(root)
        if host is None:
            reason = f"neither Hadoop's files on this machine nor other settings say where {root} is"
            raise ValueError(f"{reason} ({error})") from error
        client = _client(host, given)
    return fs.PyFileSystem(_Files(client, root))


def _client(root: str, settings: Mapping[str, str]) -> Any:
    from hdfs_native import Client  # noqa: PLC0415 - an extra

    return Client(root, {_ATTEMPTS: _MOST_ATTEMPTS, **settings})


def _with_port(root: str) -> str | None:
    """The root with Hadoop's port of a name node, if it is a host without one."""
    scheme, authority, _ = parts_of(root)
    if scheme != "hdfs" or not authority or ":" in authority:
        return None
    try:
        socket.getaddrinfo(authority, _PORT)
    except OSError:
        return None
    return f"{scheme}://{authority}:{_PORT}"


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise an error of the name node as OSError, without the trace of its Java."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(_TRACE.split(str(error))[0]) from error
    except RuntimeError as error:
        raise _os_error(str(error)) from error


def _os_error(text: str) -> OSError:
    found = _JAVA_CLASS.match(text)
    if found is None:
        return OSError(_TRACE.split(text)[0])
    kind, sentence = found[1], _TRACE.split(found[2])[0].replace('\\"', '"')
    if kind == "AccessControlException":
        return PermissionError(sentence)
    return NotADirectoryError(sentence) if kind == "ParentNotDirectoryException" else OSError(sentence)


class _Files(fs.FileSystemHandler):  # type: ignore[misc] # Arrow has no types
    """The methods of a file system that Arrow calls, over a client of HDFS."""

    def __init__(self, client: Any, root: str) -> None:
        self._client = client
        self._root = root

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Files) and other._root == self._root

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._root)

    def get_type_name(self) -> str:
        """Its name."""
        return "hdfs"

    def normalize_path(self, path: str) -> str:
        """The path as it is."""
        return path

    def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
        """The kind, size and time of what is at each path."""
        return [self._info(path) for path in paths]

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        """The kind, size and time of everything below a directory."""
        if self._info(selector.base_dir).is_file:
            raise NotADirectoryError(f"{selector.base_dir} is a file")
        try:
            with _translate_errors():
                return [_info(each) for each in self._client.list_status(selector.base_dir, selector.recursive)]
        except FileNotFoundError:
            if selector.allow_not_found:
                return []
            raise

    def create_dir(self, path: str, recursive: bool) -> None:  # noqa: FBT001 - as Arrow has it
        """Make a directory with the permissions of the one that it is made in, as HDFS gives it its group."""
        with _translate_errors():
            self._client.mkdirs(path, self._permissions_above(path), recursive)

    def delete_dir(self, path: str) -> None:
        """Remove a directory and all below it."""
        self._check(path, fs.FileType.Directory)
        self._delete(path)

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:  # noqa: FBT001, FBT002
        """Remove all below a directory."""
        found = fs.FileSelector(path, allow_not_found=missing_dir_ok)
        for each in self.get_file_info_selector(found):
            self._delete(each.path)

    def delete_root_dir_contents(self) -> None:
        """Refused: nobody empties a cluster."""
        raise PermissionError(f"{self._root} cannot be emptied")

    def delete_file(self, path: str) -> None:
        """Remove a file."""
        self._check(path, fs.FileType.File)
        self._delete(path)

    def move(self, source: str, target: str) -> None:
        """Rename a file or a directory in one step."""
        with _translate_errors():
            self._client.rename(source, target, False)

    def copy_file(self, source: str, target: str) -> None:
        """Copy a file through this machine."""
        with self.open_input_stream(source) as original, self.open_output_stream(target, {}) as copy:
            while some := original.read(1 << 20):
                copy.write(some)

    def open_input_stream(self, path: str) -> pa.NativeFile:
        """A file to read from its beginning."""
        return self.open_input_file(path)

    def open_input_file(self, path: str) -> pa.NativeFile:
        """A file to read anywhere."""
        with _translate_errors():
            return pa.PythonFile(self._client.read(path), mode="r")

    def open_output_stream(self, path: str, metadata: Mapping[str, str]) -> pa.NativeFile:  # noqa: ARG002 - as Arrow has it
        """A file to write, in place of one that is there."""
        from hdfs_native import WriteOptions  # noqa: PLC0415 - an extra

        with _translate_errors():
            return pa.PythonFile(self._client.create(path, WriteOptions(overwrite=True)), mode="w")

    def open_append_stream(self, path: str, metadata: Mapping[str, str]) -> pa.NativeFile:  # noqa: ARG002 - as Arrow has it
        """A file to write on at its end."""
        with _translate_errors():
            return pa.PythonFile(self._client.append(path), mode="w")

    def _permissions_above(self, path: str) -> int:
        """The permissions of the nearest directory above a path that exists; the last is the root."""
        above = posixpath.dirname(path)
        while self._info(above).type is fs.FileType.NotFound:
            above = posixpath.dirname(above)
        return int(self._client.get_file_info(above).permission) & _READ_WRITE_ENTER

    def _info(self, path: str) -> fs.FileInfo:
        try:
            with _translate_errors():
                return _info(self._client.get_file_info(path))
        except FileNotFoundError:
            return fs.FileInfo(path, fs.FileType.NotFound)

    def _check(self, path: str, kind: fs.FileType) -> None:
        found = self._info(path).type
        if found is not kind:
            raise FileNotFoundError(f"{path} should be a {kind.name.lower()}, found {found.name.lower()}")

    def _delete(self, path: str) -> None:
        with _translate_errors():
            self._client.delete(path, True)


def _info(status: Any) -> fs.FileInfo:
    kind = fs.FileType.Directory if status.isdir else fs.FileType.File
    size = None if status.isdir else status.length
    return fs.FileInfo(status.path, kind, size=size, mtime_ns=status.modification_time * 1_000_000)
