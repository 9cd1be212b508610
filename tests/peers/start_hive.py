"""Starts a real Hive Metastore of one generation, in the foreground.

    python -m tests.peers.start_hive {2.3|3.1|4.0|4.1|4.2} --port P [--db derby | --db URL]
        --dir WORKDIR [--set KEY=VALUE ...] [--jar PATH ...] [--heap 1g]

URL is postgresql://USER:PW@HOST:PORT/NAME or, for 3.1 and 4.0, mysql://USER:PW@HOST:PORT/NAME, which may be a MariaDB.

Prints `ready P` once the server answers get_all_databases; SIGTERM or SIGINT stops it. 3.1 (3.1.3) and 4.0 (4.0.1) are
Apache's binary packages, resolved by Maven from the pom files beside this module. 2.3 (2.3.10) is inside the package
pyspark; its connection pool, PostgreSQL driver and schema scripts come from the 3.1 package. 4.1 (4.1.0) and 4.2
(4.2.0) are taken out of hive-exec, beside the jars of 4.0; their schema is 4.0's with what they changed
(later_schemas.py). The schema is made when the database has none; an empty Derby is made once and copied. Needs Java 17
or newer, 4.2 Java 21 to 23, and Maven; 2.3 on Derby runs without Maven too, but there `lock`, `open_txns` and
`drop_database` want the pool and close the connection. Jars are kept in ~/.cache/hmstats-tests (or HMSTATS_TEST_CACHE);
WORKDIR holds settings, logs and Derby.
"""

import argparse
import importlib.util
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from tests.peers.cache import CACHE, filling
from tests.peers.later_schemas import VERSIONS as LATER
from tests.peers.later_schemas import statements
from tests.peers.launch import find_java

HERE = Path(__file__).resolve().parent
JAVA = str(Path(os.environ["JAVA_HOME"]) / "bin" / "java") if "JAVA_HOME" in os.environ else "java"
GENERATIONS = ("2.3", "3.1", "4.0", "4.1", "4.2")
SERVER = "org.apache.hadoop.hive.metastore.HiveMetaStore"
START_SECONDS = 120
SASL = "metastore.sasl.enabled=true"
"""The setting with which a server wants Kerberos, and answers no plain call."""

_POMS = {"3.1": "hive3", "4.0": "hive4", "4.1": "hive41", "4.2": "hive42"}
_HOMES = {"2.3": "3.1", "3.1": "3.1", "4.0": "4.0", "4.1": "4.0", "4.2": "4.0"}
"""Whose binary package has a generation's schema scripts and tool."""
_REPLACED = re.compile(r"hive-|datanucleus-|datasketches-")
_SCHEMA_TOOLS = {
    "3.1": "org.apache.hadoop.hive.metastore.tools.MetastoreSchemaTool",
    "4.0": "org.apache.hadoop.hive.metastore.tools.schematool.MetastoreSchemaTool",
}
SCHEMA_2_3 = (
    "hive-schema-1.2.0",
    "upgrade-1.2.0-to-2.0.0",
    "upgrade-2.0.0-to-2.1.0",
    "upgrade-2.1.0-to-2.2.0",
    "upgrade-2.2.0-to-2.3.0",
)
LOG4J = """status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
"""


@dataclass(frozen=True, slots=True)
class Jdbc:
    """The settings by which Java reaches a database; `kind` is schematool's name for it."""

    url: str
    driver: str
    user: str
    password: str
    kind: str


def package(generation: str) -> Path:
    """The folder with a generation's jars and scripts; resolved and unpacked on first use."""
    target = CACHE / _POMS[generation]
    with filling(target) as empty:
        if empty:
            _resolve(HERE / f"pom-{_POMS[generation]}.xml", target)
    return target


def _resolve(pom: Path, target: Path) -> None:
    copy = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={target}")
    run(["mvn", "-B", "-q", "-f", str(pom), *copy])
    for archive in target.glob("*-bin.tar.gz"):
        with tarfile.open(archive) as tar:
            # Python 3.11 has filters from its fourth patch on, which Debian 12's has not.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(target, members=[member for member in tar if _wanted(member.name)])
        archive.unlink()


def home(generation: str) -> Path:
    """The unpacked binary package that a generation uses."""
    (found,) = package(_HOMES[generation]).glob("apache-hive-metastore-*-bin")
    return found


def _wanted(name: str) -> bool:
    return ("/lib/" in name and name.endswith(".jar")) or "/scripts/" in name


def class_path(generation: str, conf: Path, database: str) -> list[str]:
    """The settings' folder, then the jars."""
    if generation == "2.3":
        return [str(conf), str(pyspark_jars() / "*"), *_pool_and_driver(database)]
    if generation in LATER:
        older = [*(home("4.0") / "lib").glob("*.jar"), *package("4.0").glob("*.jar")]
        kept = sorted(str(jar) for jar in older if not _REPLACED.match(jar.name))
        return [str(conf), str(package(generation) / "*"), *kept]
    drivers = [str(jar) for jar in (home("4.0") / "lib").glob("mysql-connector-*.jar")] if _is_mysql(database) else []
    return [str(conf), str(home(generation) / "lib" / "*"), str(package(generation) / "*"), *drivers]


def pyspark_jars() -> Path:
    """The folder of pyspark's jars, Hive 2.3.10 among them."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        sys.exit("start_hive: Hive 2.3 is in the package pyspark, which is not installed")
    return Path(spec.origin).parent / "jars"


def _pool_and_driver(database: str) -> list[str]:
    """The jars of the 3.1 package that pyspark lacks for the metastore; Derby can do without."""
    if database == "derby" and shutil.which("mvn") is None:
        return []
    return [str(jar) for jar in package("3.1").rglob("*.jar") if re.match(r"postgresql|bonecp", jar.name)]


def jdbc(database: str, work: Path) -> Jdbc:
    """The JDBC settings of `derby` or of the URL of a PostgreSQL or MySQL."""
    if database == "derby":
        url = f"jdbc:derby:;databaseName={work / 'derby'};create=true"
        return Jdbc(url, "org.apache.derby.jdbc.EmbeddedDriver", "APP", "mine", "derby")
    parts = urlsplit(database)
    if not _is_mysql(database) and not parts.scheme.startswith("postgres"):
        sys.exit(f"start_hive: --db must be 'derby' or a URL of postgresql or mysql, not {database!r}")
    if not parts.hostname or not parts.path.strip("/"):
        sys.exit(f"start_hive: --db must be like 'postgresql://user:pw@host:port/name', not {database!r}")
    user, password = unquote(parts.username or "hive"), unquote(parts.password or "")
    if _is_mysql(database):
        url = (
            f"jdbc:mysql://{parts.hostname}:{parts.port or 3306}{parts.path}?useSSL=false&allowPublicKeyRetrieval=true"
        )
        return Jdbc(url, "com.mysql.cj.jdbc.Driver", user, password, "mysql")
    url = f"jdbc:postgresql://{parts.hostname}:{parts.port or 5432}{parts.path}"
    return Jdbc(url, "org.postgresql.Driver", user, password, "postgres")


def _is_mysql(database: str) -> bool:
    return database.startswith("mysql")


def write_settings(generation: str, conf: Path, work: Path, database: Jdbc, extra: Sequence[str]) -> None:
    """Write the settings file that the generation reads."""
    warehouse = "hive.metastore.warehouse.dir" if generation == "2.3" else "metastore.warehouse.dir"
    settings = {
        "javax.jdo.option.ConnectionURL": database.url,
        "javax.jdo.option.ConnectionDriverName": database.driver,
        "javax.jdo.option.ConnectionUserName": database.user,
        "javax.jdo.option.ConnectionPassword": database.password,
        warehouse: (work / "warehouse").as_uri(),
        **_own_settings(generation, database),
        **dict(text.split("=", 1) for text in extra),
    }
    conf.mkdir(parents=True, exist_ok=True)
    rows = (f"<property><name>{escape(k)}</name><value>{escape(v)}</value></property>" for k, v in settings.items())
    name = "hive-site.xml" if generation == "2.3" else "metastore-site.xml"
    (conf / name).touch(mode=0o600)
    (conf / name).write_text("<configuration>\n" + "\n".join(rows) + "\n</configuration>\n")
    (conf / "log4j2.properties").write_text(LOG4J)


def _own_settings(generation: str, database: Jdbc) -> dict[str, str]:
    if generation == "2.3":
        return {
            "hive.metastore.schema.verification": "false",
            "hive.async.log.enabled": "false",  # its library is not among pyspark's jars
            # Only for Derby: on PostgreSQL tables that are made when first needed lock their makers out.
            "datanucleus.schema.autoCreateAll": str(database.kind == "derby").lower(),
        }
    return {  # the defaults name classes of Hive's query engine
        "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
        "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
    }


def java(jars: Sequence[str], conf: Path, work: Path, *arguments: str, heap: str = "512m") -> list[str]:
    """The command that runs a Java class."""
    log = f"-Dlog4j2.configurationFile={conf / 'log4j2.properties'}"
    # Derby looks for a deadlock after 20 s if nothing is said, as when a table is dropped while its statistics come.
    derby = [f"-Dderby.stream.error.file={work / 'derby.log'}", "-Dderby.locks.deadlockTimeout=1"]
    return [JAVA, f"-Xmx{heap}", log, *derby, "-cp", os.pathsep.join(jars), *arguments]


def make_schema(generation: str, jars: Sequence[str], conf: Path, work: Path, database: Jdbc) -> None:
    """Hive's official schema, unless the database has one already."""
    if database.kind == "derby":
        if generation != "2.3":  # which makes its tables as it needs them
            _copy_derby(generation, work)
        return
    owner = _HOMES[generation]
    if owner != generation:  # its tool, with its jars and settings
        conf = work / "conf-schematool"
        write_settings(owner, conf, work, database, [])
        jars = class_path(owner, conf, database.kind)
    tool, env = _schema_tool(owner, jars, conf, work, database)
    info = subprocess.run([*tool, "-info"], env=env, capture_output=True, text=True, check=False)
    if re.search(r"Metastore schema version:\s*\d", info.stdout + info.stderr):
        return
    make = [*tool, "-initSchema"] if generation != "2.3" else java(jars, conf, work, *_schema_2_3(work, database))
    run(make, env=env, log=work / "schema.log")
    if generation in LATER:
        _change_schema(generation, jars, conf, work, database)


def _change_schema(generation: str, jars: Sequence[str], conf: Path, work: Path, database: Jdbc) -> None:
    """Make 4.0's schema that of a later generation."""
    script = work / f"schema-{generation}.sql"
    script.write_text("".join(f"{each};\n" for each in statements(database.kind, generation)))
    run(java(jars, conf, work, *_sqlline(script, database)), log=work / "schema-changes.log")


def _sqlline(script: Path, database: Jdbc) -> list[str]:
    """SQLLine and its arguments."""
    login = ["-u", database.url, "-d", database.driver, "-n", database.user, "-p", database.password]
    return ["sqlline.SqlLine", *login, f"--run={script}"]


def _copy_derby(generation: str, work: Path) -> None:
    """Copy the empty database of a generation, unless there is one; to make it takes longer than the server's start."""
    owner, made = _HOMES[generation], CACHE / f"derby-{generation}"
    with filling(made) as empty:
        if empty:
            shutil.rmtree(made / "derby", ignore_errors=True)
            conf, database = made / "conf", jdbc("derby", made)
            write_settings(owner, conf, made, database, [])
            jars = class_path(owner, conf, database.kind)
            tool, env = _schema_tool(owner, jars, conf, made, database)
            run([*tool, "-initSchema"], env=env, log=made / "schema.log")
            if generation in LATER:
                _change_schema(generation, jars, conf, made, database)
    if not (work / "derby").exists():
        shutil.copytree(made / "derby", work / "derby", ignore=shutil.ignore_patterns("*.lck"))


def _schema_tool(
    owner: str, jars: Sequence[str], conf: Path, work: Path, database: Jdbc
) -> tuple[list[str], dict[str, str]]:
    """The command of a generation's schematool, and its environment."""
    env = {**os.environ, "METASTORE_HOME": str(home(owner)), "METASTORE_CONF_DIR": str(conf)}
    return java(jars, conf, work, _SCHEMA_TOOLS[owner], "-dbType", database.kind), env


def _schema_2_3(work: Path, database: Jdbc) -> list[str]:
    """SQLLine with Hive's oldest script and the upgrades to 2.3."""
    scripts = home("3.1") / "scripts" / "metastore" / "upgrade" / "postgres"
    whole = work / "schema-2.3.sql"
    whole.write_text("".join((scripts / f"{name}.postgres.sql").read_text() + "\n" for name in SCHEMA_2_3))
    return _sqlline(whole, database)


def run(command: Sequence[str], env: Mapping[str, str] | None = None, log: Path | None = None) -> None:
    """A command to its end; its output ends the program when it fails."""
    done = subprocess.run(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if log:
        log.write_text(done.stdout)
    if done.returncode:
        sys.exit(f"start_hive: {command[0]} failed:\n{done.stdout[-3000:]}")


def answers(port: int) -> bool:
    """Whether get_all_databases gets a reply: one call in Thrift's binary protocol, by hand."""
    name = b"get_all_databases"
    request = struct.pack(">Ii", 0x80010001, len(name)) + name + b"\0\0\0\1" + b"\0"
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.settimeout(30)
            connection.sendall(request)
            return connection.recv(4) == b"\x80\x01\x00\x02"
    except OSError:
        return False


def refuses_unknown_mechanism(port: int) -> bool:
    """Whether a server of SASL is there: it answers a mechanism that does not exist by BAD."""
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.settimeout(30)
            connection.sendall(struct.pack(">BI", 1, 4) + b"NONE")
            return connection.recv(1) == b"\x03"
    except OSError:
        return False


def start(
    generation: str, port: int, database: str, work: Path, extra: Sequence[str], heap: str, jars: Sequence[str] = ()
) -> subprocess.Popen[bytes]:
    """The server's process; it does not answer yet."""
    conf = work / "conf"
    work.mkdir(parents=True, exist_ok=True)
    settings = jdbc(database, work)
    write_settings(generation, conf, work, settings, extra)
    path = class_path(generation, conf, database)
    make_schema(generation, path, conf, work, settings)
    env = {**os.environ, "METASTORE_CONF_DIR": str(conf), "HIVE_CONF_DIR": str(conf)}
    if generation != "2.3":
        env["METASTORE_HOME"] = str(home(generation))
    command = java([*path, *jars], conf, work, SERVER, "-p", str(port), heap=heap)
    if generation == "4.2":
        command[0] = find_java(21, 23)
    with (work / "hive.log").open("w") as log:
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=work)


def wait(server: subprocess.Popen[bytes], port: int, log: Path, *, sasl: bool = False) -> None:
    """Return when the server answers, or has ended; end the program when it does neither in time."""
    until = time.monotonic() + START_SECONDS
    is_there = refuses_unknown_mechanism if sasl else answers
    while server.poll() is None and not is_there(port):
        if time.monotonic() > until:
            server.kill()
            sys.exit(f"start_hive: no answer on port {port} after {START_SECONDS} s, see {log}")
        time.sleep(0.3)


def main() -> None:
    """Start the server and stay until it ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("generation", choices=GENERATIONS)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--db", default="derby")
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--jar", action="append", default=[], metavar="PATH")
    parser.add_argument("--heap", default="1g")
    given = parser.parse_args()
    work = given.dir.resolve()
    server = start(given.generation, given.port, given.db, work, given.set, given.heap, given.jar)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.terminate())
    wait(server, given.port, work / "hive.log", sasl=SASL in given.set)
    if server.poll() is None:
        print(f"ready {given.port}", flush=True)
    code = server.wait()
    if code not in (0, 130, 143, -signal.SIGTERM, -signal.SIGINT):
        sys.exit(f"start_hive: the server ended with {code}:\n{(work / 'hive.log').read_text()[-2000:]}")


if __name__ == "__main__":
    main()
