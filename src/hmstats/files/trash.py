"""Hadoop's trash: removed files are moved to `.Trash/Current` in the user's home, under their whole path.

Format: Hadoop's TrashPolicyDefault. The home is that of the user who runs the server; on HDFS it is /user/NAME, where
the name node empties the trash after fs.trash.interval. Elsewhere only `hadoop fs -expunge` does.
"""

import os
import time

from pyarrow import fs

from hmstats.files import directories, hdfs
from hmstats.process_user import home_folder, user_name

_CURRENT = ".Trash/Current"


def move_to_trash(files: fs.FileSystem, path: str) -> None:
    """Move a directory or a file to the trash; an older one of the same name stays. Raises OSError."""
    if directories.is_link(files, path):
        directories.remove(files, path)
        return
    if files.get_file_info(path).type is fs.FileType.NotFound:
        return
    trash = f"{_home(files)}/{_CURRENT}"
    if path.startswith(f"{trash}/"):
        directories.remove(files, path)
        return
    target = trash + path
    if files.get_file_info(target).type is not fs.FileType.NotFound:
        target += str(time.time_ns() // 1_000_000)
    directories.move(files, path, target)


def _home(files: fs.FileSystem) -> str:
    if files.type_name in hdfs.TYPE_NAMES:
        return f"/user/{os.environ.get('HADOOP_USER_NAME') or user_name()}"
    return home_folder().as_posix()
