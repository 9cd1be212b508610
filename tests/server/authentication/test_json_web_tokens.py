"""JSON Web Tokens: which signatures, times and claims prove a user, and what a stranger cannot make a server do."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from structlog.testing import capture_logs
from tests.fixtures.identity.authorities import issued
from tests.server.authentication.peers import ask_http
from tests.server.serving import look_twice, serving

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access.principal import Principal
from hmstats.server.authentication import json_web_keys
from hmstats.server.authentication.authentication import Authentication, Proven
from hmstats.server.authentication.credentials import Credential
from hmstats.server.authentication.json_web_keys import JsonWebKeys
from hmstats.server.authentication.json_web_tokens import ExpectedClaims, by_jwt
from hmstats.server.calls.dispatch import Session

RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
ED_KEY = ed25519.Ed25519PrivateKey.generate()
KEYS: Mapping[str, Any] = {"RS256": RSA_KEY, "PS256": RSA_KEY, "ES256": EC_KEY, "EdDSA": ED_KEY}
MAKERS: Mapping[str, Any] = {
    "RS256": jwt.algorithms.RSAAlgorithm,
    "PS256": jwt.algorithms.RSAAlgorithm,
    "ES256": jwt.algorithms.ECAlgorithm,
    "EdDSA": jwt.algorithms.OKPAlgorithm,
}
PUBLIC_PEM = RSA_KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)
EXPECTED = ExpectedClaims("https://idp", "hmstats")


def public(algorithm: str, key_id: str, **more: str) -> dict[str, Any]:
    return {**json.loads(MAKERS[algorithm].to_jwk(KEYS[algorithm].public_key())), "kid": key_id, **more}


def key_set(*keys: Mapping[str, Any]) -> str:
    return json.dumps({"keys": keys})


def claims(**more: Any) -> dict[str, Any]:
    now = int(time.time())
    given = {"sub": "alice", "iss": "https://idp", "aud": "hmstats", "exp": now + 300, "groups": ["staff"]} | more
    return {name: value for name, value in given.items() if value is not None}


def signed(algorithm: str = "RS256", key_id: str | None = "one", key: Any = None, **more: Any) -> str:
    headers = {} if key_id is None else {"kid": key_id}
    return jwt.encode(claims(**more), key or KEYS[algorithm], algorithm, headers)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "keys.json"
    file.write_text(key_set(public("RS256", "one"), public("ES256", "two")))
    return file


def proven(file: Path, token: str, expected: ExpectedClaims = EXPECTED) -> Proven:
    return by_jwt(JsonWebKeys(str(file)), expected).prove(Credential(token), "127.0.0.1:1")


@pytest.mark.parametrize("algorithm", KEYS)
def test_signatures_of_each_kind_prove_the_user_and_groups(tmp_path: Path, algorithm: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(key_set(public(algorithm, "one")))
    for key_id in ("one", None):
        found = proven(file, signed(algorithm, key_id))
        assert found.principal == Principal("alice", ("staff",), "jwt")
        assert 0 < found.seconds <= 10


def forged(header: dict[str, Any], payload: dict[str, Any], signature: bytes = b"") -> str:
    parts = [json.dumps(header).encode(), json.dumps(payload).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(each).rstrip(b"=").decode() for each in parts)


def by_public_key_as_secret() -> str:
    import hashlib
    import hmac

    body = forged({"alg": "HS256", "kid": "one"}, claims()).rpartition(".")[0]
    signature = hmac.new(PUBLIC_PEM, body.encode(), hashlib.sha256).digest()
    return f"{body}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
ATTACKS: Mapping[str, Callable[[], str]] = {
    "no signature": lambda: forged({"alg": "none", "kid": "one"}, claims()),
    "no signature, RS256": lambda: forged({"alg": "RS256", "kid": "one"}, claims()),
    "public key as a shared secret": by_public_key_as_secret,
    "another key": lambda: signed(key=STRANGER),
    "unknown key id": lambda: signed(key_id="three"),
    "no key id, two keys": lambda: signed(key_id=None),
    "key id of another kind": lambda: signed(key_id="two"),
    "key in the header": lambda: jwt.encode(claims(), STRANGER, "RS256", {"jwk": public("RS256", "one"), "kid": "x"}),
    "changed claims": lambda: ".".join(
        [signed().split(".")[0], signed(sub="root").split(".")[1], signed().split(".")[2]]
    ),
    "expired": lambda: signed(exp=int(time.time()) - 60),
    "no expiry": lambda: signed(exp=None),
    "expiry that is none": lambda: forged({"alg": "RS256", "kid": "one"}, claims(exp="never")),
    "not valid yet": lambda: signed(nbf=int(time.time()) + 600),
    "another issuer": lambda: signed(iss="https://other"),
    "no issuer": lambda: signed(iss=None),
    "another audience": lambda: signed(aud="other"),
    "no audience": lambda: signed(aud=None),
    "no user": lambda: signed(sub=None),
    "user that is no name": lambda: signed(sub="al\nice"),
    "groups that are none": lambda: signed(groups="admins"),
    "groups of numbers": lambda: signed(groups=[1]),
    "critical header": lambda: jwt.encode(claims(), RSA_KEY, "RS256", {"kid": "one", "crit": ["odd"], "odd": 1}),
    "key id that is a list": lambda: forged({"alg": "RS256", "kid": ["one"]}, claims()),
    "no JSON": lambda: "a.b.c",
    "nothing": lambda: "..",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_proves_nobody(file: Path, attack: str) -> None:
    token = ATTACKS[attack]()
    with pytest.raises(NotAuthenticated) as error:
        proven(file, token)
    assert not [part for part in token.split(".") if len(part) > 3 and part in str(error.value)]


def test_issuer_and_audience_count_where_they_are_set(file: Path) -> None:
    assert proven(file, signed(iss=None, aud="other"), ExpectedClaims()).principal.user == "alice"
    several = signed(aud=["x", "hmstats"])
    assert proven(file, several).principal.user == "alice"


def test_other_claims_can_be_user_and_groups(file: Path) -> None:
    token = signed(sub="1f4b", email="alice@example.org", roles=["r"])
    found = proven(file, token, ExpectedClaims(user_claim="email", groups_claim="roles"))
    assert found.principal == Principal("alice@example.org", ("r",), "jwt")


def test_a_token_is_not_believed_after_its_end(file: Path) -> None:
    assert proven(file, signed(exp=int(time.time()) - 5)).seconds <= 0
    assert proven(file, signed(exp=int(time.time()) + 4)).seconds <= 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "must be a JSON Web Key Set"),
        ("no JSON", "must be a JSON Web Key Set"),
        ("[" * 100_000, "must be a JSON Web Key Set"),
        ('{"keys": [{"kty": "RSA"}]}', "must be a JSON Web Key Set"),
        ('{"keys": []}', "has no key that can check signatures"),
        (key_set({"kty": "oct", "k": "c2VjcmV0", "kid": "one"}), "has no key that can check signatures"),
        (key_set(public("RS256", "one", use="enc")), "has no key that can check signatures"),
        (key_set(public("RS256", "one", alg="HS256")), "has no key that can check signatures"),
        (key_set({**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA_KEY)), "kid": "x"}), "found a private one"),
    ],
)
def test_key_sets_that_cannot_be_used(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "keys.json"
    file.write_text(text)
    with pytest.raises(SettingsError, match=reason):
        JsonWebKeys(str(file))


def test_a_key_may_be_bound_to_one_algorithm(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(key_set(public("RS256", "one", alg="PS256")))
    assert proven(file, signed("PS256")).principal.user == "alice"
    with pytest.raises(NotAuthenticated, match="another algorithm than its key's"):
        proven(file, signed("RS256"))


def test_a_changed_file_is_read_and_a_wrong_one_is_not(file: Path) -> None:
    keys = JsonWebKeys(str(file))
    mechanism = by_jwt(keys, EXPECTED)
    with pytest.raises(NotAuthenticated, match="unknown key"):
        mechanism.prove(Credential(signed("EdDSA", "new")), "")
    replaced(file, key_set(public("EdDSA", "new")))
    look_twice(keys)
    assert mechanism.prove(Credential(signed("EdDSA", "new")), "").principal.user == "alice"
    with pytest.raises(NotAuthenticated, match="unknown key"):
        mechanism.prove(Credential(signed()), "")
    for wrong in ("{", key_set()):
        replaced(file, wrong)
        with capture_logs() as logs:
            look_twice(keys)
            look_twice(keys)
        assert [each["event"] for each in logs] == ["jwt_keys_not_read"]
        assert mechanism.prove(Credential(signed("EdDSA", "new")), "").principal.user == "alice"


def replaced(file: Path, text: str) -> None:
    other = file.with_suffix(".new")
    other.write_text(text)
    other.replace(file)


@pytest.mark.parametrize("source", ["http://idp/keys", "file:///etc/passwd", "ftp://idp/keys"])
def test_other_addresses_than_https_are_refused(source: str) -> None:
    with pytest.raises(SettingsError, match="must be a file or an https address"):
        JsonWebKeys(source)


class Provider:
    """An identity provider's address of keys, which counts who asks."""

    def __init__(self) -> None:
        self.body: bytes = key_set(public("RS256", "one")).encode()
        self.status = 200
        self.asked = 0


@contextmanager
def providing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Provider, str]]:
    import ssl

    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.asked += 1
            self.send_response(provider.status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(provider.body)))
            self.end_headers()
            self.wfile.write(provider.body)

        def log_message(self, *_: object) -> None:
            pass

    files = issued(folder)
    monkeypatch.setenv("SSL_CERT_FILE", files.authority)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files.certificate, files.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield provider, f"https://localhost:{server.server_port}/keys"
        server.shutdown()


def test_unknown_keys_make_a_server_fetch_no_more_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with providing(tmp_path, monkeypatch) as (provider, url):
        keys = JsonWebKeys(url)
        assert provider.asked == 0
        keys.refresh()
        mechanism = by_jwt(keys, EXPECTED)
        assert mechanism.prove(Credential(signed()), "").principal.user == "alice"
        for number in range(100):
            with pytest.raises(NotAuthenticated, match="unknown key"):
                mechanism.prove(Credential(signed(key_id=f"odd{number}")), "")
            keys.refresh()
        assert provider.asked == 1
        monkeypatch.setattr(json_web_keys, "_AT_LEAST_SECONDS", 0.0)
        keys.refresh()
        keys.refresh()
        assert provider.asked == 2


@pytest.mark.slow
def test_old_keys_stay_when_a_fetch_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_web_keys, "_EVERY_SECONDS", 0.0)
    with providing(tmp_path, monkeypatch) as (provider, url):
        keys = JsonWebKeys(url)
        keys.refresh()
        good = provider.body
        for status, body in ((500, good), (302, good), (200, b"{"), (200, b" " * 2_000_000), (200, b'{"keys": []}')):
            provider.status, provider.body = status, body
            with capture_logs() as logs:
                keys.refresh()
            assert [each["event"] for each in logs] == ["jwt_keys_not_read"], (status, body[:9])
            assert keys.find("one") is not None
        assert provider.asked == 6


def test_a_token_over_http(file: Path) -> None:
    def whoami(session: Session, key: str) -> str:
        return f"{session.user} {session.groups} {session.principal and session.principal.mechanism}"

    authentication = Authentication(("jwt",), None, (by_jwt(JsonWebKeys(str(file)), EXPECTED),))
    token = signed()
    with capture_logs() as logs, serving(authentication=authentication, getOption=whoami) as address:
        assert ask_http(address, None, Authorization=f"Bearer {token}") == "alice ('staff',) jwt"
        refused = ask_http(address, None, Authorization=f"Bearer {signed(exp=int(time.time()) - 60)}")
        assert refused == "401 the token is not valid: it has expired\n"
    assert token not in str(logs)


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=-1)], ids=["ahead", "behind"])
def test_a_wrong_clock_refuses_for_its_time_and_believes_for_seconds(
    file: Path, monkeypatch: pytest.MonkeyPatch, ahead: timedelta
) -> None:
    """An expired token opens a server whose clock went back, until it is put right, and no longer than a belief."""
    right = time.time

    class Wrong(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Wrong":
            shown: Wrong = super().now(tz) + ahead
            return shown

    token, expired = signed(), signed(exp=int(time.time()) - 3_600)
    with monkeypatch.context() as jump:
        jump.setattr("jwt.api_jwt.datetime", Wrong)
        jump.setattr("time.time", lambda: right() + ahead.total_seconds())
        if ahead > timedelta():
            with pytest.raises(NotAuthenticated, match="it has expired"):
                proven(file, token)
        else:
            assert 0 < proven(file, token).seconds <= 10
            assert 0 < proven(file, expired).seconds <= 10
    assert 0 < proven(file, token).seconds <= 10
    with pytest.raises(NotAuthenticated, match="it has expired"):
        proven(file, expired)
