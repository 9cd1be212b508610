"""Every protocol, with TLS and without, against each setting: nobody is served without the proof that is wanted."""

import ssl
from pathlib import Path

import pytest
import trustme
from tests.fixtures.identity.authorities import Files, issued
from tests.fixtures.runs.tiers import first_of
from tests.server.authentication.peers import PROTOCOLS
from tests.server.authentication.sasl_peers import SaslClient, ask_plain
from tests.server.serving import serving

from hmstats.errors import NotAuthenticated
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Authentication, Mechanism, Proven
from hmstats.server.authentication.credentials import Credential
from hmstats.server.authentication.sasl import Conversation, Protection, SaslMechanism
from hmstats.server.authentication.sasl_plain import sasl_plain
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.wire.sasl_messages import Status

WANTED = "this server serves authenticated clients only"
TLS_NEEDED = "this server speaks over TLS only"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, authority: trustme.CA) -> Files:
    return issued(tmp_path_factory.mktemp("server"), authority=authority)


@pytest.fixture(scope="module")
def client_files(tmp_path_factory: pytest.TempPathFactory, authority: trustme.CA) -> Path:
    made = authority.issue_cert("alice@example.org", common_name="alice")
    pem = tmp_path_factory.mktemp("client") / "client.pem"
    made.private_key_and_cert_chain_pem.write_to_path(pem)
    return pem


def prove(credential: Credential, address: str) -> Proven:
    if credential.secret != "right":
        raise NotAuthenticated("the token is unknown, revoked or expired")
    return Proven(Principal("alice", (), "token"), 1.0)


TOKEN = Mechanism("token", "Bearer", lambda credential: credential.user is None, prove)
SETTINGS = {
    "none": None,
    "certificate": Authentication(("certificate",), "cn"),
    "token": Authentication(("token",), None, (TOKEN,)),
    "both": Authentication(("certificate", "token"), "cn", (TOKEN,)),
}


def expected(setting: str, protocol: str, wire: str, proof: str, mode: str) -> str:
    """What an answer must hold; `refused` where the handshake itself must fail."""
    if mode == "off" and wire == "tls":
        return "refused"
    if setting == "certificate" and wire == "tls" and proof != "certificate":
        return "refused"
    if mode == "require" and wire == "plain":
        return TLS_NEEDED
    shown = proof == "certificate" and wire == "tls" and setting in {"certificate", "both"}
    told = proof == "token" and protocol == "http" and setting in {"token", "both"}
    if setting == "none" or shown or told:
        return "k"
    if proof == "token" and protocol == "http":
        return "401"
    return f"401 {WANTED}" if protocol == "http" else WANTED


@pytest.mark.parametrize("proof", ["nothing", "certificate", "token"])
@pytest.mark.parametrize("wire", ["plain", "tls"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("mode", first_of(["accept", "off", "require"]))
def test_each_protocol_against_each_setting(
    files: Files, client_files: Path, mode: str, setting: str, protocol: str, wire: str, proof: str
) -> None:
    context = ssl.create_default_context(cafile=files.authority) if wire == "tls" else None
    if context is not None and proof == "certificate":
        context.load_cert_chain(client_files)
    by_certificate = setting in {"certificate", "both"}
    certificates = Certificates(
        files.certificate, files.key, files.authority if by_certificate else None, client_optional=setting == "both"
    )
    tls = None if mode == "off" else Tls(certificates, required=mode == "require")
    headers = {"Authorization": "Bearer right"} if protocol == "http" and proof == "token" else {}
    with serving(tls=tls, authentication=SETTINGS[setting]) as address:
        try:
            answer = PROTOCOLS[protocol](address, context, **headers)
        except (OSError, EOFError) as error:
            answer = f"refused: {error}"
    assert expected(setting, protocol, wire, proof, mode) in answer


def prove_password(credential: Credential, address: str) -> Proven:
    if (credential.user, credential.secret) != ("alice", "right"):
        raise NotAuthenticated("the user or the password is wrong")
    return Proven(Principal("alice", (), "password"), 1.0)


class Ticket:
    """Stands for a ticket of Kerberos: one right response."""

    principal = Principal("alice", (), "kerberos")
    seal = None
    success = b""
    ended = False

    def step(self, response: bytes) -> bytes | None:
        if response != b"ticket":
            raise NotAuthenticated("GSS initiate failed: no ticket")
        return None


def begin_ticket(_peer: str, _secure: bool) -> Conversation:
    return Ticket()


PASSWORD = Mechanism(
    "password", "Basic", lambda credential: credential.user is not None, prove_password, over_loopback=False
)
PLAIN, GSSAPI = sasl_plain(PASSWORD), SaslMechanism("GSSAPI", begin_ticket)
SASL_SETTINGS = {
    "none": None,
    "token": Authentication(("token",), None, (TOKEN,)),
    "password": Authentication(("password",), None, (PASSWORD,), sasl=(PLAIN,)),
    "kerberos": Authentication(("kerberos",), sasl=(GSSAPI,)),
    "both": Authentication(("password", "kerberos"), None, (PASSWORD,), sasl=(PLAIN, GSSAPI)),
}
HAS = {"PLAIN": {"password", "both"}, "GSSAPI": {"kerberos", "both"}}


def ask_by_ticket(address: tuple[str, int], context: ssl.SSLContext | None) -> str:
    with SaslClient(address, context) as client:
        client.say(Status.START, b"GSSAPI")
        client.say(Status.OK, b"ticket")
        message = client.hear()
        return str(client.call().success) if message.status == Status.COMPLETE else message.payload.decode()


def expected_of_sasl(setting: str, mechanism: str, wire: str, mode: str) -> str:
    if mode == "off" and wire == "tls":
        return "refused"
    if mode == "require" and wire == "plain":
        return TLS_NEEDED
    if setting == "none":
        return "this server speaks no SASL"
    if setting not in HAS[mechanism]:
        return f"found the SASL mechanism {mechanism}"
    return "taken over TLS only" if mechanism == "PLAIN" and wire == "plain" else "k"


@pytest.mark.parametrize("wire", ["plain", "tls"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "GSSAPI"])
@pytest.mark.parametrize("setting", SASL_SETTINGS)
@pytest.mark.parametrize("mode", ["off", "accept", "require"])
def test_sasl_against_each_setting(files: Files, mode: str, setting: str, mechanism: str, wire: str) -> None:
    context = ssl.create_default_context(cafile=files.authority) if wire == "tls" else None
    tls = None if mode == "off" else Tls(Certificates(files.certificate, files.key), required=mode == "require")
    ask = ask_plain if mechanism == "PLAIN" else ask_by_ticket
    with serving(tls=tls, authentication=SASL_SETTINGS[setting]) as address:
        try:
            answer = ask(address, context)
        except (OSError, EOFError) as error:
            answer = f"refused: {error}"
    assert expected_of_sasl(setting, mechanism, wire, mode) in answer


@pytest.mark.parametrize("wire", ["plain", "tls"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("setting", ["password", "kerberos", "both"])
@pytest.mark.parametrize("mode", ["off", "accept", "require"])
def test_no_other_protocol_is_served_where_sasl_proves_users(
    files: Files, mode: str, setting: str, protocol: str, wire: str
) -> None:
    context = ssl.create_default_context(cafile=files.authority) if wire == "tls" else None
    tls = None if mode == "off" else Tls(Certificates(files.certificate, files.key), required=mode == "require")
    with serving(tls=tls, authentication=SASL_SETTINGS[setting]) as address:
        try:
            answer = PROTOCOLS[protocol](address, context)
        except (OSError, EOFError) as error:
            answer = f"refused: {error}"
    assert expected("token", protocol, wire, "nothing", mode) in answer


@pytest.mark.parametrize("least", Protection)
@pytest.mark.parametrize("wire", ["plain", "tls"])
def test_a_token_is_not_taken_readable_where_requests_must_be_protected(
    files: Files, wire: str, least: Protection
) -> None:
    context = ssl.create_default_context(cafile=files.authority) if wire == "tls" else None
    authentication = Authentication(("token", "kerberos"), None, (TOKEN,), True, sasl=(GSSAPI,), protection=least)
    with serving(tls=Tls(Certificates(files.certificate, files.key)), authentication=authentication) as address:
        answer = PROTOCOLS["http"](address, context, Authorization="Bearer right")
    served = wire == "tls" or least is Protection.AUTHENTICATION
    assert answer == (
        "k" if served else f"401 HTTP is taken over TLS only: the setting protection is {least.name.lower()}\n"
    )
