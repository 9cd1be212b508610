"""A PostgreSQL whose processes are known, so that they can be killed and the server started again.

Its commits are on the disk before they are answered.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.harness.processes import family_of
from tests.faults.harness.worker_processes import PATIENCE_SECONDS
from tests.fixtures.databases.postgres import DURABLE, Cluster, cluster

_SETTINGS = f"{DURABLE} -c shared_buffers=32MB"
_ARCHIVING = (
    "-c wal_level=replica -c archive_mode=on -c archive_command='cp %p {folder}/part && mv {folder}/part {folder}/%f'"
)


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL on a port that stays the same."""

    _cluster: Cluster
    _settings: str

    @property
    def port(self) -> int:
        """Where it answers."""
        return self._cluster.port

    @property
    def url(self) -> str:
        """The URL of its own database."""
        return self._cluster.url

    @property
    def files(self) -> Path:
        """The folder of its data."""
        return Path(self._cluster.server.pgdata)

    def start(self) -> None:
        """Start, and recover what was killed; returns when it takes connections."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self._cluster.start(self._settings)
            except subprocess.CalledProcessError:
                # What the killed one left behind, memory shared by its last processes, is not gone at once.
                assert time.monotonic() < until, self._cluster.server.log.read_text()[-2_000:]
                time.sleep(0.1)
            else:
                return

    def kill(self) -> None:
        """kill -9 of the server, its first process first."""
        first = int((self._cluster.server.pgdata / "postmaster.pid").read_text().splitlines()[0])
        others = family_of(first).keys() - {first}
        for pid in (first, *sorted(others)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def folder(self, name: str) -> Path:
        """A new folder beside the files, in which the server's user may write."""
        made = self.files.with_name(name)
        made.mkdir(mode=0o700)
        owner = self.files.stat()
        os.chown(made, owner.st_uid, owner.st_gid)
        return made

    def base_backup(self) -> Path:
        """Copy the files while the server goes on; the folder of the copy."""
        folder = self.folder("backup")
        arguments = ("-h", "127.0.0.1", "-p", str(self.port), "-U", self._cluster.server.postgres_user)
        self._cluster.run(
            "pg_basebackup", *arguments, "-D", str(folder), "-X", "none", "--checkpoint=fast", "--no-sync"
        )
        return folder

    @property
    def archive(self) -> Path:
        """The folder of its log."""
        return self.files.with_name("archive")

    def recover(self, backup: Path, point: str) -> None:
        """Put a base backup in the place of the files, and start with the log as far as a restore point."""
        shutil.rmtree(self.files)
        shutil.move(backup, self.files)
        settings = {
            "restore_command": f"cp {self.archive}/%f %p",
            "recovery_target_name": point,
            "recovery_target_action": "promote",
            "hot_standby": "off",  # nobody is to see the database on its way to the point
        }
        with (self.files / "postgresql.auto.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        subprocess.run(["cp", "-a", str(self.files / "PG_VERSION"), str(self.files / "recovery.signal")], check=True)
        self.start()

    def stop_cleanly(self) -> None:
        """Stop with all on disk, so that the files are a backup."""
        self._cluster.control("-m", "fast", "stop")

    def stop(self) -> None:
        """Stop at once."""
        self._cluster.control("-m", "immediate", "stop")


@contextlib.contextmanager
def postgres(settings: str = "", *, archives: bool = False) -> Iterator[Postgres]:
    """A server of its own, which lives as long as the context; it may keep its log in the folder `archive`."""
    with cluster() as files:
        settings = f"{_SETTINGS} {settings}"
        found = Postgres(files, settings)
        if archives:
            found = Postgres(files, f"{settings} {_ARCHIVING.format(folder=found.folder('archive'))}")
        found.start()
        try:
            yield found
        finally:
            found.stop()
