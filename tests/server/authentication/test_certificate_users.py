"""The user that a client's certificate names: by its common name or its alternative name, and never by guess."""

import ssl
from contextlib import closing
from pathlib import Path

import pytest
import trustme
from tests.fixtures.identity.authorities import Files, issued
from tests.server.authentication.peers import CALL, ask_binary, connection_to, post, said
from tests.server.requests import reply_of, request
from tests.server.serving import Address, Client, serving

from hmstats.errors import NotAuthenticated
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Authentication, Mechanism, Proven
from hmstats.server.authentication.certificate_users import certificate_user
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.server.rpc.metastore.session import SessionCalls


def whoami(session: Session, key: str) -> str:
    return f"{session.user} {session.groups} {session.principal and session.principal.mechanism}"


class Site:
    """An authority, its server, and clients with its certificates."""

    def __init__(self, folder: Path) -> None:
        self.authority = trustme.CA()
        self._folder = folder
        self.files: Files = issued(folder, authority=self.authority)

    def tls(self, *, optional: bool = False) -> Tls:
        files = self.files
        return Tls(Certificates(files.certificate, files.key, files.authority, client_optional=optional), required=True)

    def client(self, *names: str, common: str | None = None, authority: trustme.CA | None = None) -> ssl.SSLContext:
        made = (authority or self.authority).issue_cert(*names, common_name=common)
        pem = self._folder / "client.pem"
        made.private_key_and_cert_chain_pem.write_to_path(pem)
        context = ssl.create_default_context(cafile=self.files.authority)
        context.load_cert_chain(pem)
        return context


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def user_of(address: Address, context: ssl.SSLContext) -> str:
    with Client(address, context) as client:
        client.ask("set_ugi", user_name="root", group_names=["admins"])
        return str(client.ask("getOption", key="k").value)


def test_the_common_name_is_the_user_whatever_set_ugi_says(site: Site) -> None:
    authentication = Authentication(("certificate",), "cn")
    calls = SessionCalls()
    with serving(None, site.tls(), authentication, getOption=whoami, set_ugi=calls.set_ugi) as address:
        assert user_of(address, site.client("a@example.org", common="alice")) == "alice () certificate"


def test_the_alternative_name_is_the_user(site: Site) -> None:
    authentication = Authentication(("certificate",), "san")
    calls = SessionCalls()
    with serving(None, site.tls(), authentication, getOption=whoami, set_ugi=calls.set_ugi) as address:
        assert user_of(address, site.client("a@example.org", common="root")) == "a@example.org () certificate"


def test_a_certificate_without_a_user_proves_nobody(site: Site) -> None:
    with serving(None, site.tls(), Authentication(("certificate",), "cn"), getOption=whoami) as address:
        assert "authenticated clients only" in ask_binary(address, site.client("a@example.org"))
    with serving(None, site.tls(), Authentication(("certificate",), "san"), getOption=whoami) as address:
        assert "authenticated clients only" in ask_binary(address, site.client("a", "b", common="alice"))


def test_a_certificate_of_another_authority_is_refused_in_the_handshake(site: Site) -> None:
    for optional in (False, True):
        with serving(None, site.tls(optional=optional), Authentication(("certificate",), "cn")) as address:
            context = site.client("a@example.org", common="alice", authority=trustme.CA())
            with pytest.raises((OSError, EOFError)):
                ask_binary(address, context)


def test_over_http_a_header_counts_before_the_certificate(site: Site) -> None:
    def prove(claim: object, address: str) -> Proven:
        if claim.secret != "right":  # type: ignore[attr-defined]
            raise NotAuthenticated("the token is unknown, revoked or expired")
        return Proven(Principal("bob", (), "token"), 60.0)

    token = Mechanism("token", "Bearer", lambda _: True, prove)
    authentication = Authentication(("certificate", "token"), "cn", (token,))
    context = site.client("a@example.org", common="alice")
    with serving(None, site.tls(optional=True), authentication, getOption=whoami) as address:
        with closing(connection_to(address, context)) as connection:
            for headers, user in (({}, "alice"), ({"Authorization": "Bearer right"}, "bob"), ({}, "alice")):
                _, _, body = post(connection, CALL, headers)
                assert said(reply_of([body]).content).split()[0] == user
            assert post(connection, CALL, {"Authorization": "Bearer wrong"})[0] == 401
        with closing(connection_to(address, ssl.create_default_context(cafile=site.files.authority))) as connection:
            assert post(connection, CALL, {})[0] == 401


def test_repeated_questions_of_a_certified_client_are_answered(site: Site) -> None:
    with (
        serving(None, site.tls(), Authentication(("certificate",), "cn")) as address,
        Client(address, site.client("a@example.org", common="alice")) as client,
    ):
        client.send(b"".join(request("getOption", number, key=str(number)) for number in range(50)))
        assert [client.reply().value for _ in range(50)] == [str(number) for number in range(50)]


@pytest.mark.parametrize("name", ["", " alice", "alice ", "al\nice", "al\0ice", "\u202ealice", "a" * 257])
def test_names_that_are_no_users(name: str) -> None:
    with pytest.raises(NotAuthenticated, match="must have one common name that is a user's name, found 1"):
        certificate_user({"subject": ((("commonName", name),),)}, "cn")


def test_two_common_names_are_no_user() -> None:
    with pytest.raises(NotAuthenticated, match="found 2"):
        certificate_user({"subject": ((("commonName", "a"),), (("commonName", "b"),))}, "cn")
