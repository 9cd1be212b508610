"""Hive's listener that writes events to NOTIFICATION_LOG, for each generation: what to add to its class path.

That of 2.3 and 3.1 is Apache's, from Maven. That of 4.0 was never published there; listener/DbNotificationListener.java
stands for it, and is compiled with the jars of the server. They are kept where start_hive.py keeps its own.
"""

import os
from pathlib import Path

from tests.peers import start_hive

TRANSACTIONAL = "hive.metastore.transactional.event.listeners=org.apache.hive.hcatalog.listener.DbNotificationListener"
"""The setting that has it called within the transactions of changes; every generation knows this name."""
_PUBLISHED = {"2.3": "2.3.10", "3.1": "3.1.3"}
_ARTIFACT = "org.apache.hive.hcatalog:hive-hcatalog-server-extensions"


def class_path(generation: str) -> list[str]:
    """The jars and folders that a Hive of the generation needs to have its listener; made on first use."""
    folder = start_hive.CACHE / f"listener-{generation}"
    if generation in _PUBLISHED:
        _download(generation, folder)
        return [str(folder / "*")]
    _compile(generation, folder)
    return [str(folder)]


def _download(generation: str, folder: Path) -> None:
    if folder.exists():
        return
    wanted = f"-Dartifact={_ARTIFACT}:{_PUBLISHED[generation]}"
    start_hive.run(["mvn", "-B", "-q", "dependency:copy", wanted, f"-DoutputDirectory={folder}"])


def _compile(generation: str, folder: Path) -> None:
    source = start_hive.HERE / "listener" / "DbNotificationListener.java"
    made = folder / "org/apache/hive/hcatalog/listener/DbNotificationListener.class"
    if made.exists() and made.stat().st_mtime >= source.stat().st_mtime:
        return
    folder.mkdir(parents=True, exist_ok=True)
    jars = [str(start_hive.home(generation) / "lib" / "*"), str(start_hive.package(generation) / "*")]
    start_hive.run(["javac", "-nowarn", "-cp", os.pathsep.join(jars), "-d", str(folder), str(source)])
