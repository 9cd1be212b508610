"""Every protocol, with TLS and without, against each setting: nobody is served without the proof that is wanted."""

import ssl
from pathlib import Path

import pytest
import trustme
from tests.fixtures.authorities import Files, issued
from tests.server.authentication.peers import PROTOCOLS
from tests.server.serving import serving

from hmstats.errors import NotAuthenticated
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Authentication, Mechanism, Proven
from hmstats.server.authentication.claims import Claim
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates

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


def prove(claim: Claim, address: str) -> Proven:
    if claim.secret != "right":
        raise NotAuthenticated("the token is unknown, revoked or expired")
    return Proven(Principal("alice", (), "token"), 1.0)


TOKEN = Mechanism("token", "Bearer", lambda claim: claim.user is None, prove)
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
@pytest.mark.parametrize("mode", ["off", "accept", "require"])
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
