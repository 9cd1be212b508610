"""What proving a user, encryption and access rules cost: handshakes and repeated reads a second, in turns.

Run with `python -m tests.benchmarks.bench_access [--rounds 10] [--seconds 0.5]`. All servers have one worker, one
database and one client each; a real KDC runs beside them. A handshake is a new connection with one small call.
"""

import argparse
import os
import socket
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from tests.fixtures.authorities import Files, issued
from tests.fixtures.kerberos import SERVICE, Kerberos, running
from tests.fixtures.servers import serving
from tests.server.requests import request
from tests.server.serving import Client

from hmstats.client.connection.address import addresses
from hmstats.client.connection.connection import Connection
from hmstats.client.connection.credentials import Credentials
from hmstats.client.connection.delegation_token import DelegationTokenProof
from hmstats.client.connection.kerberos_ticket import KerberosTicket
from hmstats.client.connection.sasl_transport import SaslTransport
from hmstats.wire.idl import hive_metastore as api

_PATIENCE_SECONDS = 60.0
_SMALL = request("getName", 1)
_READ = request(
    "get_table_statistics_req", 1, request=api.TableStatsRequest(dbName="default", tblName="t", colNames=["c0"])
)
_RULES = """
[[rule]]
users = ["root", "etl*"]
allow = ["list", "read", "read_statistics", "write_statistics", "create", "alter", "drop", "lock", "admin"]
[[rule]]
groups = ["personnel"]
objects = ["hive.personnel"]
allow = ["list", "read"]
[[rule]]
users = ["anonymous"]
objects = ["hive.default"]
allow = ["list", "read", "read_statistics"]
"""


class Wire(Protocol):
    """What a request is sent by and a reply read from."""

    def send(self, data: bytes) -> None:
        """Send all bytes."""

    def read(self) -> bytes:
        """Some bytes of a reply."""

    def close(self) -> None:
        """Close the connection."""


class Plain:
    """A socket, encrypted or not."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self.send = connected.sendall
        self.close = connected.close

    def read(self) -> bytes:
        return self._socket.recv(1 << 16)


class Sasl:
    """A connection behind SASL."""

    def __init__(self, transport: SaslTransport) -> None:
        self._transport = transport
        self.close = transport.close

    def send(self, data: bytes) -> None:
        self._transport.write(data)
        self._transport.flush()

    def read(self) -> bytes:
        return self._transport.read(1 << 16)


Open = Callable[[], Wire]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement in a round")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        (folder / "kdc").mkdir()
        kerberos = stack.enter_context(running(folder / "kdc"))
        os.environ["KRB5CCNAME"] = f"FILE:{kerberos.tickets('alice')}"
        places = _places(stack, folder, kerberos)
        print(f"load before: {os.getloadavg()[0]:.1f}")
        _print("handshakes a second", _in_turns(_handshakes(places), given.rounds, given.seconds))
        reads = {name: _reading(places[name]) for name in ("plain", "rules", "TLS", "Kerberos, privacy")}
        _print("repeated reads a second, one connection", _in_turns(reads, given.rounds, given.seconds))
        print(f"load after: {os.getloadavg()[0]:.1f}")


def _places(stack: ExitStack, folder: Path, kerberos: Kerberos) -> Mapping[str, Open]:
    """How a connection is opened, by what proves its user."""
    files = issued(folder)
    (folder / "rules.toml").write_text(_RULES)
    tls = {"tls": "require", "tls_certificate": files.certificate, "tls_key": files.key}
    ticket = {
        "authentication": '["kerberos"]',
        "kerberos_keytab": kerberos.keytab("hive"),
        "kerberos_principal": SERVICE,
    }

    def server(name: str, settings: Mapping[str, object]) -> int:
        (folder / name).mkdir()
        given = {"workers": 1, "log_level": "warning", "exclusive": "false", **settings}
        environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
        url = f"sqlite:///{folder}/hmstats.sqlite"
        return stack.enter_context(serving(folder / name, settings=given, database=url, environment=environment))

    plain = server("plain", {})
    _fill(plain)
    port = server("tls", tls)
    private = server("private", ticket | {"protection": "privacy"})
    signed = server("signed", ticket)
    token = _delegation_token(signed)
    return {
        "plain": lambda: Plain(_connected(plain)),
        "rules": _opened(server("rules", {"rules": folder / "rules.toml"})),
        "TLS": lambda: Plain(_encrypted(port, files)),
        "Kerberos, authentication alone": lambda: Sasl(
            SaslTransport(_connected(signed), KerberosTicket(SERVICE), over_tls=True)
        ),
        "Kerberos, privacy": lambda: Sasl(SaslTransport(_connected(private), KerberosTicket(SERVICE), over_tls=False)),
        "delegation token": lambda: Sasl(SaslTransport(_connected(signed), DelegationTokenProof(token), over_tls=True)),
    }


def _opened(port: int) -> Open:
    return lambda: Plain(_connected(port))


def _connected(port: int) -> socket.socket:
    connected = socket.create_connection(("localhost", port), _PATIENCE_SECONDS)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connected


def _encrypted(port: int, files: Files) -> socket.socket:
    context = ssl.create_default_context(cafile=files.authority)
    return context.wrap_socket(_connected(port), server_hostname="localhost")


def _fill(port: int) -> None:
    """A table with one column and its statistics."""
    storage = api.StorageDescriptor(
        cols=[api.FieldSchema(name="c0", type="bigint")], serdeInfo=api.SerDeInfo(parameters={}), parameters={}
    )
    data = api.ColumnStatisticsData(longStats=api.LongColumnStatsData(lowValue=1, highValue=9, numNulls=0, numDVs=5))
    column = api.ColumnStatisticsObj(colName="c0", colType="bigint", statsData=data)
    described = api.ColumnStatisticsDesc(isTblLevel=True, dbName="default", tableName="t")
    with Client(("127.0.0.1", port)) as client:
        client.ask("create_table", tbl=api.Table(dbName="default", tableName="t", sd=storage, parameters={}))
        written = api.ColumnStatistics(statsDesc=described, statsObj=[column])
        client.ask("update_table_column_statistics", stats_obj=written)


def _delegation_token(port: int) -> str:
    connection = Connection(
        addresses(f"thrift://localhost:{port}"), timeout_seconds=20, retries=0, shown=Credentials(principal=SERVICE)
    )
    token: str = connection.call("get_delegation_token", "alice", "alice")
    connection.close()
    return token


def _handshakes(places: Mapping[str, Open]) -> Mapping[str, Callable[[float], float]]:
    """Functions that measure for some seconds, by name."""

    def measured(opening: Open) -> Callable[[float], float]:
        def measure(seconds: float) -> float:
            began, done = time.perf_counter(), 0
            while time.perf_counter() - began < seconds:
                wire = opening()
                wire.send(_SMALL)
                assert wire.read()
                wire.close()
                done += 1
            return done / (time.perf_counter() - began)

        return measure

    return {name: measured(opening) for name, opening in places.items() if name != "rules"}


def _reading(opening: Open) -> Callable[[float], float]:
    """A function that measures repeated reads on one connection."""
    wire = opening()
    wire.send(_READ)
    time.sleep(0.5)
    length = len(wire.read())

    def measure(seconds: float) -> float:
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            wire.send(_READ)
            left = length
            while left > 0:
                left -= len(wire.read())
            done += 1
        return done / (time.perf_counter() - began)

    return measure


def _in_turns(
    measured: Mapping[str, Callable[[float], float]], rounds: int, seconds: float
) -> Mapping[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(rounds + 1):
        for name, measure in measured.items():
            pace = measure(seconds)
            if number:  # the first one warms up
                found[name].append(pace)
    return found


def _print(title: str, found: Mapping[str, list[float]]) -> None:
    print(title)
    first = next(iter(found.values()))
    for name, paces in found.items():
        ratio = statistics.median(pace / plain for pace, plain in zip(paces, first, strict=True))
        print(f"  {name:32} {statistics.median(paces):8,.0f}  {ratio:6.0%} of plain")


if __name__ == "__main__":
    main()
