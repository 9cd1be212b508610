"""Runs Hive 4.0.1's or 3.1.3's own metastore client tests, unchanged, against metastores that a command starts.

    python -m tests.peers.hive_suite.run [--generation 3.1] --start 'COMMAND {port} {dir}' [CLASS[#METHOD] ...]

For each class COMMAND is run with a free port and a new folder (its warehouse must be file:{dir}/wh, into which tests
look), and ended by SIGTERM. The tests come as Apache's test jar from Maven; two of its helper classes are replaced by
those in src/, so that they start nothing themselves. Prints a line per test (ok, FAIL, skip), then
`passed P failed F skipped S`. Needs Java 17 with its compiler, Maven, and start_hive's jars of the generation.
A real Hive, for comparison:
    --start 'python -m tests.peers.start_hive 4.0 --port {port} --db derby --dir {dir}
        --set metastore.warehouse.dir=file:{dir}/wh --set metastore.warehouse.external.dir=file:{dir}/wh
        --set "metastore.metadata.transformer.class= " --set metastore.limit.partition.request=100
        --set fs.trash.interval=30 --set fs.trash.checkpoint.interval=30'
and the same with 3.1. What passes on them is in passes-on-hive-4.0.1.txt and passes-on-hive-3.1.3.txt.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.fixtures.ports import free_port
from tests.peers import cache, start_hive

HERE = Path(__file__).resolve().parent
RELEASES = {"3.1": "3.1.3", "4.0": "4.0.1"}
"""The release of each generation whose tests are run."""
START_SECONDS, CLASS_SECONDS, STOP_SECONDS = 600, 1_800, 120
_CLIENT = """AddPartitions AddPartitionsFromPartSpec AlterPartitions AppendPartitions Catalogs CheckConstraint Databases
DefaultConstraint DropPartitions ExchangePartitions ForeignKey Functions GetPartitions GetTableMeta ListPartitions
NotNullConstraint PrimaryKey TablesCreateDropAlterTruncate TablesGetExists TablesList UniqueConstraint"""
_OF_BOTH = ("TestStats", "TestRemoteHiveMetaStore", *(f"client.Test{name}" for name in _CLIENT.split()))
CLASSES = {
    "3.1": (*_OF_BOTH, "client.TestRuntimeStats", "TestHiveMetaStorePartitionSpecs"),
    "4.0": (*_OF_BOTH, "client.TestGetAllTableConstraints", "client.TestPartitionStat"),
}
"""The classes of each generation."""


def class_path(generation: str) -> str:
    """Jars resolved and the sources compiled, on first use."""
    place = cache.CACHE / f"hive-suite-{generation}"
    lib, classes = place / "lib", place / "classes"
    with cache.filling(place) as empty:
        if empty:
            copy = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={lib}")
            start_hive.run(["mvn", "-B", "-q", "-f", str(HERE / f"pom-{generation}.xml"), *copy])
    jars = (f"{lib}/*", f"{start_hive.home(generation)}/lib/*", f"{start_hive.package(generation)}/*")
    path = os.pathsep.join([str(classes), *jars])
    _compile(classes, path)
    return path


def _compile(classes: Path, path: str) -> None:
    sources = list((HERE / "src").rglob("*.java"))
    if classes.exists() and classes.stat().st_mtime >= max(each.stat().st_mtime for each in sources):
        return
    classes.mkdir(parents=True, exist_ok=True)
    start_hive.run(["javac", "-nowarn", "-cp", path, "-d", str(classes), *map(str, sources)])
    os.utime(classes)


def run_class(name: str, command: str, path: str, *, own_home: bool = False) -> list[str]:
    """One class against a metastore of its own: the lines that it printed.

    `own_home`: the user's home, where tests look for the trash, is the metastore's folder.
    """
    folder = Path(tempfile.mkdtemp(prefix="hive-suite-"))
    (folder / "wh").mkdir()
    port = free_port()
    filled = shlex.split(command.replace("{port}", str(port)).replace("{dir}", str(folder)))
    log = folder / "metastore.log"
    with log.open("w") as output:
        metastore = subprocess.Popen(filled, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
    try:
        if not _started(metastore, port):
            last = log.read_text().strip()[-200:].replace("\n", " ")
            return [f"FAIL {name} no metastore: {last}"]
        return _run_tests(name, port, folder, path, [f"-Duser.home={folder}"] if own_home else [])
    finally:
        metastore.terminate()
        metastore.wait(STOP_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def _started(metastore: subprocess.Popen[bytes], port: int) -> bool:
    until = time.monotonic() + START_SECONDS
    while not start_hive.answers(port):
        if metastore.poll() is not None or time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True


def _run_tests(name: str, port: int, folder: Path, path: str, more_options: Sequence[str]) -> list[str]:
    log = folder / "log4j2.properties"
    log.write_text(start_hive.LOG4J.replace("warn", "off"))
    options = (
        *more_options,
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        f"-Duri=thrift://127.0.0.1:{port}",
        f"-Dwarehouse=file:{folder}/wh",
        f"-Dlog4j2.configurationFile={log}",
    )
    done = subprocess.run(
        [start_hive.JAVA, *options, "-cp", path, "Suite", name],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=CLASS_SECONDS,
        check=False,
    )
    lines = done.stdout.replace(str(folder), "DIR").splitlines()
    return [line for line in lines if not line.startswith("passed ")]


def main() -> None:
    """Run the named classes, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--generation", choices=RELEASES, default="4.0")
    parser.add_argument("--start", required=True, metavar="COMMAND")
    parser.add_argument("classes", nargs="*")
    given = parser.parse_args()
    path = class_path(given.generation)
    outcomes: Counter[str] = Counter()
    for name in given.classes or CLASSES[given.generation]:
        for line in run_class(name, given.start, path):
            outcomes[line.split(" ", 1)[0]] += 1
            print(line, flush=True)
    print(f"passed {outcomes['ok']} failed {outcomes['FAIL']} skipped {outcomes['skip']}")


if __name__ == "__main__":
    main()
