"""Delegation tokens over DIGEST-MD5: two servers over one database, replayed and wrong proofs, and cancelled tokens."""

import base64
import hashlib
import hmac
import re
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures.identity.authorities import issued
from tests.server.authentication.sasl_peers import SaslClient
from tests.server.requests import request
from tests.server.serving import Address, serving

from hmstats.errors import StoreUnavailable
from hmstats.model.access.delegation_token import DelegationToken
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.authentication.sasl import Protection
from hmstats.server.authentication.sasl_digest import TokensInUse, sasl_digest
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.service.access.delegation_tokens import DelegationTokens, Issued
from hmstats.store.database.store import Store
from hmstats.store.opening import open_store
from hmstats.wire.delegation_tokens import identifier_of
from hmstats.wire.digest_md5 import Response, proof
from hmstats.wire.sasl_messages import Message, Status, framed

WRONG = "the delegation token is unknown, cancelled or expired, or its proof is wrong"
TRIES = 30
CHALLENGE = re.compile(
    r'realm="default",nonce="(?P<nonce>[^"]+)",qop="(?P<qop>[^"]+)"(,maxbuf=16777215)?,charset=utf-8,algorithm=md5-sess'
)
WHO = request("get_all_databases", 1)


def whoami(session: Session) -> list[str]:
    assert session.principal is not None
    return [session.principal.user, session.principal.mechanism, session.principal.via or ""]


def lasting(store: Store, seconds: float = 1_000.0) -> DelegationTokens:
    return DelegationTokens(store, life_seconds=1_000.0, renew_seconds=seconds)


@contextmanager
def served(store: Store, least: Protection = Protection.AUTHENTICATION, tls: Tls | None = None) -> Iterator[Address]:
    in_use = TokensInUse(lasting(store))
    with serving_with(in_use, least, tls) as address:
        yield address


@contextmanager
def serving_with(
    in_use: TokensInUse, least: Protection = Protection.AUTHENTICATION, tls: Tls | None = None
) -> Iterator[Address]:
    mechanism = sasl_digest(in_use, least)
    authentication = Authentication(("kerberos",), sasl=(mechanism,), protection=least)
    with serving(tls=tls, authentication=authentication, get_all_databases=whoami) as address:
        yield address


@pytest.fixture
def address(store: Store) -> Iterator[Address]:
    with served(store) as found:
        yield found


def nonce_of(client: SaslClient, qop: str = "auth,auth-int") -> str:
    """Begin, and return the server's nonce; a server over TLS offers less."""
    client.say(Status.START, b"DIGEST-MD5")
    client.say(Status.OK)
    message = client.hear()
    assert message.status == Status.OK
    fields = CHALLENGE.fullmatch(message.payload.decode())
    assert fields is not None, message.payload
    assert fields["qop"] == qop
    return fields["nonce"]


def password_of(secret: bytes) -> str:
    return base64.b64encode(secret).decode()


def response_of(issued: Issued, nonce: str) -> Response:
    """A response without its proof."""
    name = base64.b64encode(identifier_of(issued.token)).decode()
    return Response(name, "default", nonce, "00000001", "mine", "auth", "null/default", "", None)


def written(response: Response, password: str) -> bytes:
    acts_as = "" if response.acts_as is None else f',authzid="{response.acts_as}"'
    return (
        f'charset=utf-8,username="{response.username}",realm="{response.realm}",nonce="{response.nonce}",'
        f'nc={response.count},cnonce="{response.cnonce}",digest-uri="{response.uri}",maxbuf=65536,'
        f"response={proof(response, password)},qop={response.protection}{acts_as}"
    ).encode()


def proven(client: SaslClient, issued: Issued, offered: str = "auth,auth-int") -> Message:
    """The server's last word to the right proof."""
    response = response_of(issued, nonce_of(client, offered))
    client.say(Status.OK, written(response, password_of(issued.secret)))
    message = client.hear()
    if message.status == Status.COMPLETE:
        expected = proof(response, password_of(issued.secret), of_server=True)
        assert message.payload == f"rspauth={expected}".encode()
    return message


def answer(address: Address, issued: Issued, context: ssl.SSLContext | None = None) -> list[str] | str:
    """Who the server says that a client by a token is, or the sentence of its refusal."""
    with SaslClient(address, context) as client:
        message = proven(client, issued, "auth" if context else "auth,auth-int")
        if message.status != Status.COMPLETE:
            assert message.status == Status.BAD
            assert client.at_end()
            return message.payload.decode()
        said: list[str] = client.call(WHO).success
        return said


def test_a_token_proves_its_owner_and_who_asked_for_it(store: Store, address: Address) -> None:
    assert answer(address, lasting(store).issue("alice", "hive", "trino")) == ["alice", "delegation_token", "trino"]
    assert answer(address, lasting(store).issue("bob", "", "")) == ["bob", "delegation_token", ""]


def test_a_token_is_good_on_another_server_and_after_a_restart(store: Store, database_url: str) -> None:
    issued = lasting(store).issue("alice", "", "")
    for _ in range(2):
        with closing(open_store(database_url, pool_size=2, statement_seconds=10)) as other, served(other) as address:
            assert answer(address, issued) == ["alice", "delegation_token", ""]


def test_a_cancelled_token_is_refused_at_once_by_every_server(
    store: Store, address: Address, database_url: str
) -> None:
    issued = lasting(store).issue("alice", "", "")
    assert answer(address, issued) == ["alice", "delegation_token", ""]
    with closing(open_store(database_url, pool_size=2, statement_seconds=10)) as other:
        lasting(other).cancel(issued.token, issued.secret, "alice")
    assert answer(address, issued) == WRONG


@pytest.mark.parametrize("end", ["cancelled", "expired"])
def test_an_open_connection_ends_with_its_token(store: Store, end: str) -> None:
    tokens, in_use = lasting(store), TokensInUse(lasting(store))
    ending, staying = tokens.issue("alice", "alice", ""), tokens.issue("alice", "", "")
    with serving_with(in_use) as address, SaslClient(address) as first, SaslClient(address) as second:
        assert proven(first, ending).status == proven(second, staying).status == Status.COMPLETE
        in_use.refresh()
        assert first.call(WHO).success == second.call(WHO).success == ["alice", "delegation_token", ""]
        if end == "cancelled":
            tokens.cancel(ending.token, ending.secret, "alice")
        else:
            lasting(store, -1.0).renew(ending.token, ending.secret, "alice")
        in_use.refresh()
        assert second.call(WHO).success == ["alice", "delegation_token", ""]
        first.send(framed(WHO))
        assert first.at_end()
    with serving_with(in_use) as address:
        assert answer(address, ending) == WRONG


def test_many_tries_with_a_stale_token_lock_nobody_out(store: Store, address: Address) -> None:
    stale, good = lasting(store, 0.0).issue("alice", "", ""), lasting(store).issue("alice", "", "")
    assert {answer(address, stale) for _ in range(TRIES)} == {WRONG}
    assert answer(address, good) == ["alice", "delegation_token", ""]


def test_unknown_and_forged_tokens_and_wrong_secrets_get_one_sentence(store: Store, address: Address) -> None:
    token, secret = lasting(store).issue("alice", "hive", "")
    for wrong in (
        Issued(token, bytes(32)),
        Issued(token, b""),
        Issued(replace(token, owner="root"), secret),
        Issued(replace(token, number=token.number ^ 1), secret),
    ):
        assert answer(address, wrong) == WRONG
    with SaslClient(address) as client:
        named = replace(response_of(Issued(token, secret), nonce_of(client)), username="alice")
        client.say(Status.OK, written(named, password_of(secret)))
        assert client.refused() == WRONG


def test_a_response_that_was_seen_is_worth_nothing(store: Store, address: Address) -> None:
    issued = lasting(store).issue("alice", "", "")
    with SaslClient(address) as client:
        seen = written(response_of(issued, nonce_of(client)), password_of(issued.secret))
        client.say(Status.OK, seen)
        assert client.hear().status == Status.COMPLETE
    with SaslClient(address) as client:
        nonce_of(client)
        client.say(Status.OK, seen)
        assert client.refused() == "a response of DIGEST-MD5 must be to this challenge, found one to another"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"realm": "other"}, "must be to this challenge"),
        ({"count": "00000002"}, "must be to this challenge"),
        ({"protection": "auth-conf"}, "is offered with qop auth or auth-int"),
        ({"acts_as": "root"}, "must name no user to act as"),
    ],
)
def test_what_was_not_offered_is_not_taken(
    store: Store, address: Address, change: dict[str, str], sentence: str
) -> None:
    issued = lasting(store).issue("alice", "", "")
    with SaslClient(address) as client:
        changed = replace(response_of(issued, nonce_of(client)), **change)  # type: ignore[arg-type]
        client.say(Status.OK, written(changed, password_of(issued.secret)))
        assert sentence in client.refused()


def test_a_client_may_name_itself_and_speak_first(store: Store, address: Address) -> None:
    issued = lasting(store).issue("alice", "", "")
    with SaslClient(address) as client:
        client.say(Status.START, b"DIGEST-MD5")
        client.say(Status.OK, b"an initial response, which is ignored")
        nonce = client.hear().payload.decode().split('nonce="')[1].split('"')[0]
        plain = response_of(issued, nonce)
        client.say(Status.COMPLETE, written(replace(plain, acts_as=plain.username), password_of(issued.secret)))
        assert client.hear().status == Status.COMPLETE
        assert client.call(WHO).success == ["alice", "delegation_token", ""]


def test_a_database_that_is_away_is_no_wrong_token(
    store: Store, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = lasting(store).issue("alice", "", "")

    def away(_self: DelegationTokens, _token: DelegationToken) -> bytes:
        raise StoreUnavailable("database x does not answer")

    with monkeypatch.context() as patch, SaslClient(address) as client:
        patch.setattr(DelegationTokens, "secret", away)
        message = proven(client, issued)
        assert message.status == Status.ERROR
        assert message.payload.decode().endswith("database x does not answer; try again later")
        assert client.at_end()
    assert answer(address, issued) == ["alice", "delegation_token", ""]


def test_challenges_differ(address: Address) -> None:
    nonces = set()
    for _ in range(5):
        with SaslClient(address) as client:
            nonces.add(nonce_of(client))
    assert len(nonces) == 5
    assert {len(base64.b64decode(each)) for each in nonces} == {32}


def test_where_privacy_is_wanted_a_token_takes_tls(store: Store, tmp_path: Path) -> None:
    files = issued(tmp_path)
    token = lasting(store).issue("alice", "", "")
    with served(store, Protection.PRIVACY, Tls(Certificates(files.certificate, files.key))) as address:
        with SaslClient(address) as client:
            client.say(Status.START, b"DIGEST-MD5")
            assert client.refused() == "a delegation token is taken over TLS only: the setting protection is privacy"
        context = ssl.create_default_context(cafile=files.authority)
        assert answer(address, token, context) == ["alice", "delegation_token", ""]


@pytest.mark.parametrize("state", ["new", "challenged"])
def test_nothing_is_called_before_the_proof(address: Address, state: str) -> None:
    with SaslClient(address) as client:
        if state == "challenged":
            nonce_of(client)
        else:
            client.say(Status.START, b"DIGEST-MD5")
            client.say(Status.OK)
            client.hear()
            client.say(Status.COMPLETE)
        client.say(Status.OK, WHO)
        assert client.refused()


class Signer:
    """The client's side of auth-int, by the words of RFC 2831, section 2.3."""

    def __init__(self, response: Response, password: str) -> None:
        secret = hashlib.md5(f"{response.username}:{response.realm}:{password}".encode()).digest()
        session = hashlib.md5(secret + f":{response.nonce}:{response.cnonce}".encode()).digest()
        magic = "Digest session key to {} signing key magic constant"
        self._keys = [
            hashlib.md5(session + magic.format(way).encode()).digest()
            for way in ("client-to-server", "server-to-client")
        ]
        self._numbers = [0, 0]

    def wrap(self, data: bytes) -> bytes:
        """What the client sends."""
        return data + self._trailer(0, data)

    def unwrap(self, data: bytes) -> bytes:
        """What the server has sent, whose trailer must be right."""
        assert data[-16:] == self._trailer(1, data[:-16])
        return data[:-16]

    def _trailer(self, way: int, data: bytes) -> bytes:
        number = self._numbers[way].to_bytes(4, "big")
        self._numbers[way] += 1
        return hmac.new(self._keys[way], number + data, "md5").digest()[:10] + b"\0\1" + number


def signing(client: SaslClient, issued: Issued, offered: str) -> Signer:
    """The signatures of a client that has proven a token and chosen auth-int."""
    response = replace(response_of(issued, nonce_of(client, offered)), protection="auth-int")
    client.say(Status.OK, written(response, password_of(issued.secret)))
    assert client.hear().status == Status.COMPLETE
    return Signer(response, password_of(issued.secret))


@pytest.mark.parametrize(
    ("least", "offered"), [(Protection.AUTHENTICATION, "auth,auth-int"), (Protection.INTEGRITY, "auth-int")]
)
def test_requests_and_replies_are_signed_in_turn(store: Store, least: Protection, offered: str) -> None:
    issued = lasting(store).issue("alice", "", "")
    large = "x" * 3_000_000
    with served(store, least) as address, SaslClient(address) as client:
        signer = signing(client, issued, offered)
        for _ in range(3):
            called = client.call(WHO, signer.wrap, signer.unwrap)
            assert called.success == ["alice", "delegation_token", ""]
        client.send(framed(signer.wrap(request("getOption", 1, key=large))))
        received = b""
        while len(received) < len(large):
            received += signer.unwrap(client.data())
        assert large.encode() in received


@pytest.mark.parametrize("attack", ["changed", "again", "unsigned", "short", "another key"])
def test_a_request_that_is_not_signed_in_turn_ends_the_connection(store: Store, attack: str) -> None:
    issued = lasting(store).issue("alice", "", "")
    with served(store, Protection.INTEGRITY) as address, SaslClient(address) as client:
        signer = signing(client, issued, "auth-int")
        first = signer.wrap(WHO)
        sent = {
            "changed": first[:1] + b"\2" + first[2:],
            "again": first,
            "unsigned": WHO,
            "short": b"x",
            "another key": WHO + bytes(10) + b"\0\1" + bytes(4),
        }[attack]
        if attack == "again":
            client.send(framed(first))
            assert signer.unwrap(client.data())
        client.send(framed(sent))
        assert client.at_end()


def test_less_than_integrity_is_not_taken(store: Store) -> None:
    issued = lasting(store).issue("alice", "", "")
    with served(store, Protection.INTEGRITY) as address, SaslClient(address) as client:
        client.say(Status.OK, written(response_of(issued, nonce_of(client, "auth-int")), password_of(issued.secret)))
        assert client.refused() == "DIGEST-MD5 is offered with qop auth-int, found another"


@pytest.mark.parametrize("most", ["0", "16", "16777216", "x", "-1", "9" * 400])
def test_a_client_that_takes_no_message_is_refused(store: Store, address: Address, most: str) -> None:
    issued = lasting(store).issue("alice", "", "")
    with SaslClient(address) as client:
        data = written(response_of(issued, nonce_of(client)), password_of(issued.secret))
        client.say(Status.OK, data.replace(b"maxbuf=65536", f"maxbuf={most}".encode()))
        assert client.refused().startswith("maxbuf of DIGEST-MD5 must be a number from 1024 to 16777215")
