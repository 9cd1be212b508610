"""Kerberos against a real KDC: whose ticket is taken, how requests are protected, and what is refused."""

import shutil
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from tests.fixtures.identity.authorities import issued
from tests.fixtures.identity.kerberos import REALM, SERVICE, Kerberos
from tests.server.authentication.sasl_peers import SaslClient
from tests.server.requests import request
from tests.server.serving import Address, serving

from hmstats.errors import SettingsError
from hmstats.model.access.kerberos_names import KerberosRules
from hmstats.model.access.proxy_users import NOBODY, ProxyUsers
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.authentication.sasl import Protection
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.wire.sasl_messages import Message, Status, framed

pytestmark = pytest.mark.slow  # needs a KDC, and programs that most machines lack

NAMES = request("get_all_databases", 1)
LARGE = "x" * 3_000_000
TICKET_SECONDS = 3
CLOCK_SKEW_SECONDS = 1


def whoami(session: Session) -> list[str]:
    assert session.principal is not None
    principal = session.principal
    return [principal.user, principal.mechanism, *filter(None, [principal.via])]


@contextmanager
def served(
    kerberos: Kerberos,
    least: Protection = Protection.AUTHENTICATION,
    *,
    keytab: str | None = None,
    realm: str = REALM,
    tls: Tls | None = None,
    proxies: ProxyUsers = NOBODY,
    **calls: Callable[..., Any],
) -> Iterator[Address]:
    from hmstats.server.authentication.kerberos import Service, by_kerberos

    service = Service(keytab or kerberos.keytab("hive"), SERVICE)
    gssapi = by_kerberos(service, KerberosRules("DEFAULT", realm), least, proxies)
    authentication = Authentication(("kerberos",), sasl=(gssapi,), protection=least)
    with serving(tls=tls, authentication=authentication, **{"get_all_databases": whoami} | calls) as address:
        yield address


class TicketClient(SaslClient):
    """A client with a user's tickets."""

    def __init__(self, address: Address, tickets: str, tls: ssl.SSLContext | None = None, **options: Any) -> None:
        super().__init__(address, tls)
        self.gss = context_of(tickets, **options)
        self.protected = False

    def __enter__(self) -> Self:
        return self

    def offered(self) -> bytes:
        """Prove the ticket, and return what the server offers: its bits, and three bytes."""
        self.say(Status.START, b"GSSAPI")
        token = self.gss.step()
        while True:
            self.say(Status.OK, token or b"")
            message = self.hear()
            if message.status != Status.OK:
                raise Refused(message)
            if self.gss.complete:
                unwrapped: bytes = self.gss.unwrap(message.payload).message
                return unwrapped
            token = self.gss.step(message.payload)

    def choose(self, bits: int, acts_as: bytes = b"", most_bytes: int = 65_536) -> Message:
        """Choose a protection; the server's answer."""
        self.protected = bits == Protection.PRIVACY
        choice = bytes((bits,)) + most_bytes.to_bytes(3, "big") + acts_as
        self.say(Status.COMPLETE, self.gss.wrap(choice, False).message)
        return self.hear()

    def ask(self, message: bytes = NAMES, protection: Protection = Protection.AUTHENTICATION) -> Any:  # type: ignore[override]
        """What a call returns."""
        if protection is Protection.AUTHENTICATION:
            return self.call(message).success
        return self.call(message, self.wrap, lambda data: self.gss.unwrap(data).message).success

    def wrap(self, data: bytes) -> bytes:
        """Data as it was agreed to be protected."""
        wrapped: bytes = self.gss.wrap(data, self.protected).message
        return wrapped


class Refused(Exception):
    """The server's last message."""


def context_of(tickets: str, service: str = SERVICE) -> Any:
    import gssapi

    flags = [gssapi.RequirementFlag.mutual_authentication, gssapi.RequirementFlag.integrity]
    return gssapi.SecurityContext(
        name=gssapi.Name(service, gssapi.NameType.kerberos_principal),
        creds=gssapi.Credentials(usage="initiate", store={"ccache": f"FILE:{tickets}"}),
        mech=gssapi.MechType.kerberos,
        flags=[*flags, gssapi.RequirementFlag.confidentiality],
        usage="initiate",
    )


def refusal(address: Address, tickets: str, **options: Any) -> str:
    with TicketClient(address, tickets, **options) as client, pytest.raises(Refused) as refused:
        client.offered()
    message: Message = refused.value.args[0]
    assert message.status == Status.BAD
    return message.payload.decode()


@pytest.fixture(scope="module")
def alice(kerberos: Kerberos) -> str:
    return kerberos.tickets("alice")


@pytest.mark.parametrize("protection", Protection)
def test_the_user_of_a_ticket_calls_under_each_protection(
    kerberos: Kerberos, alice: str, protection: Protection
) -> None:
    with served(kerberos, getOption=lambda _, key: LARGE) as address:
        for user, tickets in (("alice", alice), ("bob", kerberos.tickets("bob"))):
            with TicketClient(address, tickets) as client:
                assert client.offered() == b"\7\xff\xff\xff"
                assert client.choose(protection) == (Status.COMPLETE, b"")
                assert client.ask(protection=protection) == [user, "kerberos"]
                assert client.ask(request("getOption", 3, key="k"), protection) == LARGE
                assert client.ask(request("getOption", 4, key=LARGE), protection) == LARGE


@pytest.mark.parametrize("least", Protection)
def test_less_protection_than_the_least_is_not_taken(kerberos: Kerberos, alice: str, least: Protection) -> None:
    with served(kerberos, least) as address:
        for choice in range(9):
            with TicketClient(address, alice) as client:
                offered = client.offered()[0]
                assert offered == sum(each for each in Protection if each >= least)
                answer = client.choose(choice)
                if choice in tuple(Protection) and choice >= least:
                    assert answer.status == Status.COMPLETE
                else:
                    assert b"the client must choose one protection of" in answer.payload
                    assert client.at_end()


def test_over_tls_nothing_is_protected_twice(kerberos: Kerberos, alice: str, tmp_path: Path) -> None:
    files = issued(tmp_path)
    tls = Tls(Certificates(files.certificate, files.key), required=True)
    context = ssl.create_default_context(cafile=files.authority)
    with served(kerberos, Protection.PRIVACY, tls=tls) as address, TicketClient(address, alice, context) as client:
        assert client.offered() == b"\1\0\0\0"
        assert client.choose(Protection.AUTHENTICATION).status == Status.COMPLETE
        assert client.ask() == ["alice", "kerberos"]


def test_a_ticket_of_another_key_service_or_realm_proves_nobody(kerberos: Kerberos, alice: str, tmp_path: Path) -> None:
    with served(kerberos) as address:
        assert "GSS initiate failed: " in refusal(address, alice, service=f"hive/other@{REALM}")
    with served(kerberos, realm="OTHER.ORG") as address, TicketClient(address, alice) as client:
        client.offered()
        assert b"no rule of the setting kerberos_rules" in client.choose(Protection.AUTHENTICATION).payload
    old = shutil.copy(kerberos.keytab("hive"), tmp_path / "old.keytab")
    kerberos.admin(f"ktadd -k {kerberos.keytab('hive')} {SERVICE}")
    with served(kerberos, keytab=str(old)) as address:
        assert "GSS initiate failed: " in refusal(address, kerberos.tickets("alice"))
        shutil.copy(kerberos.keytab("hive"), old)
        with TicketClient(address, kerberos.tickets("alice")) as client:
            client.offered()
            assert client.choose(Protection.AUTHENTICATION).status == Status.COMPLETE


def test_a_proof_that_was_seen_before_is_refused(kerberos: Kerberos, alice: str) -> None:
    token = context_of(alice).step()
    with served(kerberos) as address:
        for message in (Message(Status.OK, b""), Message(Status.BAD, b"GSS initiate failed: Request is a replay")):
            with SaslClient(address) as client:
                client.say(Status.START, b"GSSAPI")
                client.say(Status.OK, token)
                answer = client.hear()
                assert answer.status == message.status
                assert message.payload in answer.payload


def test_an_expired_ticket_is_refused(kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = context_of(kerberos.tickets("alice", "-l", f"{TICKET_SECONDS}s")).step()
    time.sleep(TICKET_SECONDS + CLOCK_SKEW_SECONDS + 1)
    strict = tmp_path / "krb5.conf"
    usual = (kerberos.folder / "krb5.conf").read_text()
    strict.write_text(usual.replace("[libdefaults]\n", f"[libdefaults]\n clockskew = {CLOCK_SKEW_SECONDS}\n"))
    monkeypatch.setenv("KRB5_CONFIG", str(strict))
    with served(kerberos) as address, SaslClient(address) as client:
        client.say(Status.START, b"GSSAPI")
        client.say(Status.OK, token)
        assert client.refused() == "GSS initiate failed: Ticket expired"


@pytest.mark.parametrize("token", [b"", b"x", b"`\x82", b"NTLMSSP\0\1\0\0\0", bytes(60_000)])
def test_what_is_no_ticket_is_refused(kerberos: Kerberos, token: bytes) -> None:
    with served(kerberos) as address, SaslClient(address) as client:
        client.say(Status.START, b"GSSAPI")
        client.say(Status.OK, token)
        assert client.refused().startswith("GSS initiate failed: ")


@pytest.mark.parametrize(("acts_as", "taken"), [(b"alice", True), (f"alice@{REALM}".encode(), True), (b"bob", False)])
def test_nobody_acts_as_another(kerberos: Kerberos, alice: str, acts_as: bytes, taken: bool) -> None:
    with served(kerberos) as address, TicketClient(address, alice) as client:
        client.offered()
        answer = client.choose(Protection.AUTHENTICATION, acts_as)
        assert (answer.status == Status.COMPLETE) is taken


def test_a_proxy_user_acts_as_others_from_its_addresses(kerberos: Kerberos, alice: str) -> None:
    proxies = ProxyUsers({"alice": {"users": ("b*",), "hosts": ("127.0.0.1",)}})
    with served(kerberos, proxies=proxies) as address:
        for acts_as in (b"bob", f"bob@{REALM}".encode()):
            with TicketClient(address, alice) as client:
                client.offered()
                assert client.choose(Protection.AUTHENTICATION, acts_as).status == Status.COMPLETE
                assert client.ask() == ["bob", "kerberos", "alice"]
        for acts_as in (b"root", b"b b@x@y", b"b\n", b"b\xff"):
            with TicketClient(address, alice) as client:
                client.offered()
                assert client.choose(Protection.AUTHENTICATION, acts_as).status == Status.BAD
    elsewhere = ProxyUsers({"alice": {"users": ("*",), "hosts": ("10.0.0.0/8",)}})
    with served(kerberos, proxies=elsewhere) as address, TicketClient(address, alice) as client:
        client.offered()
        assert client.choose(Protection.AUTHENTICATION, b"bob").payload.decode() == (
            "alice may not act as bob from 127.0.0.1: the setting proxy_users does not allow it"
        )


@pytest.mark.parametrize("state", ["new", "proven", "offered"])
def test_nothing_is_called_in_the_middle(kerberos: Kerberos, alice: str, state: str) -> None:
    called: list[str] = []
    calls: dict[str, Any] = {"flushCache": lambda _: called.append("called")}
    with served(kerberos, **calls) as address, TicketClient(address, alice) as client:
        if state == "offered":
            client.offered()
        else:
            client.say(Status.START, b"GSSAPI")
        if state == "proven":
            client.say(Status.OK, client.gss.step())
            client.hear()
            client.say(Status.OK, b"")
            client.hear()
        client.say(Status.OK, request("flushCache", 1))
        assert client.refused()
    assert not called


def test_changed_and_unencrypted_requests_end_the_connection(kerberos: Kerberos, alice: str) -> None:
    with served(kerberos) as address:
        for protection in (Protection.INTEGRITY, Protection.PRIVACY):
            with TicketClient(address, alice) as client:
                client.offered()
                client.choose(protection)
                wrapped = bytearray(client.wrap(NAMES))
                wrapped[-1] ^= 1
                client.send(framed(bytes(wrapped)))
                assert client.at_end()
        with TicketClient(address, alice) as client:
            client.offered()
            client.choose(Protection.PRIVACY)
            client.send(framed(client.gss.wrap(NAMES, False).message))
            assert client.at_end()


def test_a_keytab_without_the_key_is_refused_at_the_start(kerberos: Kerberos, tmp_path: Path) -> None:
    from hmstats.server.authentication.kerberos import Service

    (tmp_path / "wrong.keytab").write_bytes(b"no keytab")
    for keytab in (str(tmp_path / "missing"), str(tmp_path / "wrong.keytab"), kerberos.keytab("alice")):
        with pytest.raises(SettingsError, match=f"kerberos_keytab {keytab} has no usable key of {SERVICE}: "):
            Service(keytab, SERVICE)
