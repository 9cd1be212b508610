"""Hive's listener that writes events to NOTIFICATION_LOG, for each generation: what to add to its class path.

That of 2.3 and 3.1 is Apache's, from Maven. That of 4.0 was never published there; listener/DbNotificationListener.java
stands for it, and is compiled with the jars of the server. They are kept where start_hive.py keeps its own.
"""

import os
from zlib import crc32

from tests.peers import start_hive
from tests.peers.cache import CACHE, filling

TRANSACTIONAL = "hive.metastore.transactional.event.listeners=org.apache.hive.hcatalog.listener.DbNotificationListener"
"""The setting that has it called within the transactions of changes; every generation knows this name."""
_PUBLISHED = {"2.3": "2.3.10", "3.1": "3.1.3"}
_ARTIFACT = "org.apache.hive.hcatalog:hive-hcatalog-server-extensions"


def class_path(generation: str) -> list[str]:
    """The jars and folders that a Hive of the generation needs to have its listener; made on first use."""
    return _published(generation) if generation in _PUBLISHED else _compiled(generation)


def _published(generation: str) -> list[str]:
    folder = CACHE / f"listener-{generation}"
    with filling(folder) as empty:
        if empty:
            wanted = f"-Dartifact={_ARTIFACT}:{_PUBLISHED[generation]}"
            start_hive.run(["mvn", "-B", "-q", "dependency:copy", wanted, f"-DoutputDirectory={folder}"])
    return [str(folder / "*")]


def _compiled(generation: str) -> list[str]:
    source = start_hive.HERE / "listener" / "DbNotificationListener.java"
    folder = CACHE / f"listener-{generation}-{crc32(source.read_bytes()):08x}"
    with filling(folder) as empty:
        if empty:
            jars = [str(start_hive.home(generation) / "lib" / "*"), str(start_hive.package(generation) / "*")]
            start_hive.run(["javac", "-nowarn", "-cp", os.pathsep.join(jars), "-d", str(folder), str(source)])
    return [str(folder)]
