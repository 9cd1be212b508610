"""What proving a user, encryption and access rules cost: handshakes and repeated reads a second, in turns.

Run with `python -m tests.benchmarks.bench_access [--rounds 10] [--seconds 0.5]`. All servers have one worker, one
database and one client each; a real KDC runs beside them. A handshake is a new connection with one small call.
"""

import argparse
import json
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

import jwt
import trustme
from cryptography.hazmat.primitives.asymmetric import ec
from tests.fixtures.identity.authorities import Files, issued
from tests.fixtures.identity.kerberos import SERVICE, Kerberos, running
from tests.fixtures.servers import serving
from tests.server.requests import request
from tests.server.serving import Client

from hmstats.client.connection.address import addresses
from hmstats.client.connection.connection import Connection
from hmstats.client.connection.credentials import Credentials
from hmstats.client.connection.delegation_token import DelegationTokenProof
from hmstats.client.connection.kerberos_ticket import KerberosTicket
from hmstats.client.connection.sasl_transport import Dialogue, SaslTransport
from hmstats.model.access.password_line import line_of
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.sasl_messages import Status

_PATIENCE_SECONDS = 60.0
_PASSWORD = "a long password"
_READERS = ("plain", "rules", "TLS", "Kerberos, authentication alone", "Kerberos, privacy")
_SMALL = request("getName", 1)
_READ = request(
    "get_table_statistics_req", 1, request=api.TableStatsRequest(dbName="default", tblName="t", colNames=["c0"])
)
_RULES = f"""
[groups]
personnel = {json.dumps([f"user{number}" for number in range(500)])}
readers = ["carol", "anonymous"]
[[rule]]
users = ["root", "etl*"]
allow = ["list", "read", "read_statistics", "write_statistics", "create", "alter", "drop", "lock", "admin"]
[[rule]]
groups = ["personnel"]
objects = ["hive.personnel"]
allow = ["list", "read"]
[[rule]]
groups = ["readers"]
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


class Http:
    """HTTP requests with a bearer token over a connected socket."""

    def __init__(self, connected: socket.socket, bearer: str) -> None:
        self._socket = connected
        self._head = (
            "POST /metastore HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-thrift\r\n"
            f"Authorization: Bearer {bearer}\r\nContent-Length: "
        )
        self.close = connected.close

    def send(self, data: bytes) -> None:
        self._socket.sendall(f"{self._head}{len(data)}\r\n\r\n".encode() + data)

    def read(self) -> bytes:
        data = self._socket.recv(1 << 16)
        assert data.startswith(b"HTTP/1.1 200"), data
        return data


class PasswordProof:
    """SASL PLAIN of the user alice."""

    name = b"PLAIN"

    def prove(self, dialogue: Dialogue, *, over_tls: bool) -> None:
        assert over_tls
        dialogue.answer(f"\0alice\0{_PASSWORD}".encode(), Status.COMPLETE)


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
        reads = {name: _reading(places[name]) for name in _READERS}
        _print("repeated reads a second, one connection", _in_turns(reads, given.rounds, given.seconds))
        print(f"load after: {os.getloadavg()[0]:.1f}")


def _places(stack: ExitStack, folder: Path, kerberos: Kerberos) -> Mapping[str, Open]:
    """How a connection is opened, by what proves its user."""
    authority = trustme.CA()
    files = issued(folder, authority=authority)
    own = issued(folder, "client.example.org", authority=authority, name="client")
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
    (folder / "passwords").touch(0o600)
    (folder / "passwords").write_text(line_of("alice", (), _PASSWORD))
    password = server("password", tls | {"authentication": '["password"]', "password_file": folder / "passwords"})
    bearer = _json_web_token(folder / "keys.json")
    provided = server("jwt", tls | {"authentication": '["jwt"]', "jwt_jwks": folder / "keys.json"})
    by_certificate = {"authentication": '["certificate"]', "tls_client_ca": files.authority, "certificate_user": "san"}
    mutual = server("mutual", tls | by_certificate)
    return {
        "plain": lambda: Plain(_connected(plain)),
        "rules": _opened(server("rules", {"rules": folder / "rules.toml"})),
        "TLS": lambda: Plain(_encrypted(port, files)),
        "mutual TLS": lambda: Plain(_encrypted(mutual, files, own)),
        "TLS, password by PLAIN": lambda: Sasl(
            SaslTransport(_encrypted(password, files), PasswordProof(), over_tls=True)
        ),
        "TLS, JWT over HTTP": lambda: Http(_encrypted(provided, files), bearer),
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


def _encrypted(port: int, files: Files, own: Files | None = None) -> socket.socket:
    context = ssl.create_default_context(cafile=files.authority)
    if own is not None:
        context.load_cert_chain(own.certificate, own.key)
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


def _json_web_token(keys: Path) -> str:
    """A token of alice, whose key is in a new file."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
    keys.write_text(json.dumps({"keys": [{**public, "kid": "one"}]}))
    return jwt.encode({"sub": "alice", "exp": int(time.time()) + 86_400}, key, "ES256", {"kid": "one"})


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
