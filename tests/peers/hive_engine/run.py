"""Runs a file of SQL in Hive's own query engine on a metastore: a line of JSON for each statement.

    python -m tests.peers.hive_engine.run --metastore thrift://127.0.0.1:P --warehouse file:/DIR --dir WORKDIR
        [--release {4.0|3.1}] [SESSION]

The session has a statement a line; `--` begins a remark, {w} is the warehouse, {d} is WORKDIR. 4.0.1 runs Tez, 3.1.3
MapReduce, in local mode within the one JVM; locks and transactions go through the metastore, statistics are gathered
while writing. The engine writes files itself, so the metastore must reach the warehouse too. Times, places and ids that
differ between two runs are blanked. WORKDIR/engine.log has Hive's warnings and how long each statement took. Needs Java
17 and Maven.
"""

import argparse
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from tests.peers.hive_engine import jars
from tests.peers.start_hive import JAVA, LOG4J

HERE = Path(__file__).resolve().parent
SESSION = HERE / "session.sql"

_BLANKED = (
    (r"\b(transient_lastDdlTime|last_modified_time)(['\"]?[ \t]*[=:]?[ \t]*['\"]?)\d{9,10}", r"\1\2TIME"),
    (r"\b(createTime|lastAccessTime|lastUpdateTime|lastModifiedTime|createdTime)([:=]\s*)\d+", r"\1\2TIME"),
    (r"(?s)^(CreateTime: *|LastAccessTime: *|Created Time: *|Last Access: *|Date\b)(\t?).*", r"\1\2TIME"),
    (r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \w+ \d{4}", "TIME"),
    (r"\b(pk|fk|uk|nn|dc|cc)_\d+_\d+_\d+\b", r"\1_NAME"),
    (r"\b(?:[a-z]+_)?\d{14}_[0-9a-f-]{36}(?::\d+)?", "QUERY"),
    (r"hive_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_\d{3}_\d+-\d+", "RUN"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID"),
    (r"(?s)(\bVertex failed), vertexName=.*", r"\1"),
)
_OURS = "\thmstats."
"""The beginning of lines that show a parameter of ours, which Hive does not have."""
_SKETCH = re.compile(r"^(bit_vector|bitVector|histogram) .*")
"""Whether a server sends its sketches is its own choice."""


def settings(metastore: str, warehouse: str, work: Path, release: str = "4.0") -> Mapping[str, str]:
    """Hive's settings: everything below one folder, and nothing remembered between statements."""
    folders = {
        "hive.exec.scratchdir": f"file:{work}/scratch",
        "hive.exec.local.scratchdir": f"{work}/local",
        "hive.downloaded.resources.dir": f"{work}/resources",
        "hive.user.install.directory": f"file:{work}/install",
        "hive.jar.directory": f"file:{work}/install",
        "hive.querylog.location": f"{work}/querylog",
        "hadoop.tmp.dir": f"{work}/hadoop",
        "tez.staging-dir": f"file:{work}/staging",
    }
    tez = {
        "hive.execution.engine": "tez",
        "mapreduce.framework.name": "local",
        "tez.local.mode": "true",
        "tez.local.mode.without.network": "true",
        "tez.ignore.lib.uris": "true",
        "tez.runtime.optimize.local.fetch": "true",
        "tez.runtime.io.sort.mb": "24",
        "tez.grouping.max-size": "1073741824",
        "tez.am.container.reuse.enabled": "false",
        "tez.am.dag.scheduler.class": "org.apache.tez.dag.app.dag.impl.DAGSchedulerNaturalOrderControlled",
        "tez.counters.max": "1024",
        "hive.tez.container.size": "128",
        "hive.tez.auto.reducer.parallelism": "false",
    }
    map_reduce = {
        "hive.execution.engine": "mr",
        "mapreduce.framework.name": "local",
        "mapreduce.task.io.sort.mb": "24",
        "hive.exec.submit.local.task.via.child": "false",
    }
    planning = {
        "hive.cbo.enable": "true",
        "hive.compute.query.using.stats": "true",
        "hive.stats.fetch.column.stats": "true",
        "hive.stats.autogather": "true",
        "hive.stats.column.autogather": "true",
        "hive.fetch.task.conversion": "none",
        "hive.exec.dynamic.partition.mode": "nonstrict",
        "hive.explain.user": "false",
    }
    fresh = {
        "hive.query.results.cache.enabled": "false",
        "hive.metastore.client.cache.v2.enabled": "false",
        "hive.server2.materializedviews.registry.impl": "DUMMY",
    }
    return {
        "hive.metastore.uris": metastore,
        "hive.metastore.warehouse.dir": warehouse,
        "hive.metastore.warehouse.external.dir": warehouse,
        "fs.defaultFS": "file:///",
        "hive.support.concurrency": "true",
        "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
        "hive.metastore.client.socket.timeout": "120s",
        "hive.session.silent": "true",
        **folders,
        **(tez if release == "4.0" else map_reduce),
        **planning,
        **fresh,
    }


def answers(
    metastore: str,
    warehouse: str,
    work: Path,
    session: Path = SESSION,
    release: str = "4.0",
    store: Mapping[str, str] | None = None,
) -> Iterator[dict[str, Any]]:
    """What the engine answers to each statement. Raises SystemExit when it ends before the session does.

    `store`: Hadoop's settings for a warehouse that begins with s3a, which 4.0.1 alone can reach.
    """
    work = work.resolve()
    command = _prepared(metastore, warehouse, work, session, release, store or {})
    places = {warehouse: "{w}", warehouse.removeprefix("file:"): "{w}", str(work): "{d}", metastore: "METASTORE"}
    env = {**os.environ, "HIVE_CONF_DIR": str(work / "conf")}
    with (work / "engine.log").open("w") as log:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": log}
        with subprocess.Popen(command, cwd=work, env=env, text=True, **pipes) as engine:  # type: ignore[call-overload]
            try:
                for line in engine.stdout:
                    answer = {key: _blanked(value, places) for key, value in json.loads(line).items()}
                    if release == "3.1" and answer["sql"].startswith("SHOW PARTITIONS"):
                        answer.get("rows", []).sort()  # Hive 3.1's metastore tells them in no order
                    yield answer
            except BaseException:
                engine.kill()
                raise
    status = engine.returncode
    if status:
        raise SystemExit(f"Hive's engine ended with {status}, see {work / 'engine.log'}")


def _prepared(
    metastore: str, warehouse: str, work: Path, session: Path, release: str, store: Mapping[str, str]
) -> list[str]:
    """The command that runs the session, whose files are then in the folder."""
    for name in ("conf", "scratch", "install", "staging"):
        (work / name).mkdir(parents=True, exist_ok=True)
    (work / "scratch").chmod(0o733)
    rows = (
        f"<property><name>{escape(key)}</name><value>{escape(value)}</value></property>"
        for key, value in {**settings(metastore, warehouse, work, release), **store}.items()
    )
    xml = "<configuration>\n" + "\n".join(rows) + "\n</configuration>\n"
    for name in ("hive-site.xml", "tez-site.xml"):
        (work / "conf" / name).write_text(xml)
    log4j = LOG4J.replace("appender.out.name", "appender.out.target = SYSTEM_ERR\nappender.out.name")
    (work / "conf" / "log4j2.properties").write_text(log4j)
    (work / "session.sql").write_text(session.read_text().replace("{w}", warehouse).replace("{d}", str(work)))
    sources = [HERE / "HiveSession.java", *sorted((HERE / f"hive{release[0]}").glob("*.java"))]
    path = jars.engine(release) + (jars.s3() if store else [])
    classes = jars.compiled(f"hive-session-{release}", sources, path)
    loader = [] if release == "4.0" else ["-Djava.system.class.loader=AppLoader"]
    flags = [*loader, "-Xmx1500m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC", *jars.OPEN]
    log = f"-Dlog4j2.configurationFile={work}/conf/log4j2.properties"
    whole = os.pathsep.join([str(work / "conf"), classes, *path])
    return [JAVA, *flags, log, "-cp", whole, "HiveSession", str(work / "session.sql")]


def _blanked(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_blanked(each, places) for each in value if not str(each).startswith(_OURS)]
    for place, name in places.items():
        value = value.replace(place, name)
    for pattern, name in _BLANKED:
        value = re.sub(pattern, name, value)
    return _SKETCH.sub(r"\1", value)


def main() -> None:
    """Run a session and print its answers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--metastore", required=True)
    parser.add_argument("--warehouse", required=True)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--release", choices=("4.0", "3.1"), default="4.0")
    parser.add_argument("session", type=Path, nargs="?", default=SESSION)
    given = parser.parse_args()
    for record in answers(given.metastore, given.warehouse, given.dir, given.session, given.release):
        print(json.dumps(record, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
