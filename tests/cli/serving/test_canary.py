"""No secret leaves: each is a canary of its own, and all that a server or a command says is searched for them."""

import base64
import http.client
import json
import os
import secrets
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy import make_url
from tests.cli.serving.test_secured import made_token
from tests.fixtures.identity.authorities import Files, issued
from tests.fixtures.servers import HMSTATS, serving
from tests.server.authentication.peers import PROTOCOLS, connection_to, post
from tests.server.requests import reply_of, request
from tests.server.serving import Client
from typer.testing import CliRunner

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.main import app
from hmstats.errors import HmstatsError
from hmstats.model.access.password_line import line_of
from hmstats.settings import Settings

WORD = "canary" + secrets.token_hex(8)
"""In every secret that a test can choose."""
_OF_HIVE = ("javax.jdo.option.ConnectionURL", "javax.jdo.option.ConnectionPassword", "hive.metastore.token.signature")
_SESSIONS = """
    getOptions getCounters getStatusDetails getVersion getName get_metastore_db_uuid get_all_databases get_master_keys
"""


@dataclass(frozen=True)
class Secrets:
    """The secrets of a server and of its clients, and what each must not be found by."""

    database: str
    token: str
    password: str
    signed: str
    files: Files
    folder: Path

    @property
    def canaries(self) -> Mapping[str, str]:
        """Texts that nothing may hold, by what they are."""
        key = Path(self.files.key).read_text().splitlines()[1:-1]
        _, stored, _ = (self.folder / "passwords").read_text().split(":")
        return {
            "a chosen secret": WORD,
            "its base64": base64.b64encode(f"alice:{self.password}".encode()).decode()[8:-4],
            "a token": self.token.removeprefix("hmst_"),
            "a signed token": self.signed.rpartition(".")[2],
            "a key": key[1],
            "a hash of a password": stored.rpartition("$")[2],
        }


def found(canaries: Mapping[str, str], *texts: str) -> list[str]:
    """The canaries that any text holds, and what stands before them there."""
    return [
        f"{what} after {text[:at][-200:]!r}"
        for what, canary in canaries.items()
        for text in texts
        if (at := text.find(canary)) >= 0
    ]


@pytest.fixture
def given(tmp_path: Path, database_url: str) -> Secrets:
    url = make_url(database_url)
    if url.get_backend_name() != "sqlite":
        if url.password is not None:
            pytest.skip("the password of this PostgreSQL is not ours to choose")
        database_url = url.set(password=f"{WORD}-database").render_as_string(hide_password=False)
    own = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(own.public_key()))
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [{**public, "kid": "one"}]}))
    signed = jwt.encode({"sub": "bob", "exp": int(time.time()) + 600}, own, "ES256", {"kid": "one"})
    (tmp_path / "passwords").write_text(line_of("alice", (), f"{WORD}-password"))
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "HMSTATS__DATABASE").write_text(database_url + "\n")
    for private in (tmp_path / "passwords", folder / "HMSTATS__DATABASE"):
        private.chmod(0o600)
    token = made_token(database_url, "hers", "ada")
    return Secrets(database_url, token, f"{WORD}-password", signed, issued(tmp_path), tmp_path)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no settings are."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


def basic(user: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()


def headers(given: Secrets) -> Iterator[dict[str, str]]:
    """Good proofs, then wrong and malformed ones."""
    forged = given.signed.rpartition(".")[0]
    for value in (
        f"Bearer {given.token}",
        basic("x", given.token),
        basic("alice", given.password),
        f"Bearer {given.signed}",
        f"Bearer hmst_{WORD}",
        f"Bearer {given.token}x",
        f"Bearer {forged}.{WORD}",
        f"Bearer {WORD}.{WORD}.{WORD}",
        basic("alice", f"{WORD}-wrong"),
        basic(WORD, ""),
        f"Basic {WORD}",
        f"Basic {WORD}==%%%",
        f"Bearer {WORD} {WORD}",
        f"{WORD} {WORD}",
        f"Negotiate {WORD}",
        WORD,
        "Bearer " + WORD * 5_000,
    ):
        yield {"Authorization": value}
    yield {"Authorization": f"Bearer {given.token}", "Content-Type": "text/plain"}
    yield {"Authorization": f"Bearer {given.token}", "Content-Encoding": WORD}


def told_over_http(address: tuple[str, int], context: ssl.SSLContext, given: Secrets) -> Iterator[str]:
    """The answers to every proof, in headers as they should be, and as they should not."""
    for each in headers(given):
        with closing(connection_to(address, context)) as connection, suppress(http.client.HTTPException, OSError):
            yield repr(post(connection, request("getName"), each)[::2])
    for raw in (
        f"GET /?token={WORD} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {WORD}\r\n\r\n",
        f"POST /{WORD} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \x00{WORD}\r\n\r\n",
        f"POST / HTTP/1.1\r\nAuthorization: Bearer {WORD}\r\nAuthorization: Basic {WORD}\r\n\r\n",
        f"POST / HTTP/1.1\r\nHost: x\r\nAuthorization : {WORD}\r\n{WORD}\r\n\r\n",
        f"POST / HTTP/9.9\r\nAuthorization: Bearer {WORD}\r\n\r\n",
    ):
        with Client(address, context) as client, suppress(OSError):
            client.send(raw.encode("latin-1"))
            yield repr(client.socket.recv(65_536))
    with Client(address) as plain, suppress(OSError):  # a server that requires TLS answers it all the same
        plain.send(f"POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {WORD}\r\n\r\n".encode())
        yield repr(plain.socket.recv(65_536))


def told_to_a_user(address: tuple[str, int], context: ssl.SSLContext, given: Secrets) -> Iterator[str]:
    """The answers to calls that tell of settings."""
    names = [*_OF_HIVE, *(f"{prefix}{name}" for name in Settings.model_fields for prefix in ("metastore.", "hive."))]
    calls = [request("get_config_value", name=name, defaultValue="none") for name in names]
    calls += [request(name) for name in _SESSIONS.split()]
    with closing(connection_to(address, context)) as connection:
        for call in calls:
            status, _, body = post(connection, call, {"Authorization": f"Bearer {given.token}"})
            assert status == 200
            yield repr(body)
            reply_of([body])


def told_by_processes() -> Iterator[str]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield file.read_text(errors="replace")


def told_by_commands(given: Secrets) -> Iterator[str]:
    """The output of commands that know the database's password and a token."""
    environment = os.environ | {
        "HMSTATS__SECRETS_DIR": str(given.folder / "secrets"),
        "HMSTATS__TOKEN": given.token,
        "HMSTATS__METASTORE": "http://127.0.0.1:1",
    }
    for arguments in (["config", "show"], ["audit", "--json"], ["audit"], ["token", "list"], ["ping"]):
        ran = subprocess.run([HMSTATS, *arguments], env=environment, capture_output=True, text=True, check=False)
        assert "Traceback" not in ran.stderr
        assert ran.returncode == (2 if arguments == ["ping"] else 0), ran.stderr
        yield ran.stdout + ran.stderr


@pytest.mark.slow
def test_no_secret_leaves_a_server_with_all_guards(given: Secrets) -> None:
    context = ssl.create_default_context(cafile=given.files.authority)
    settings = {
        "secrets_dir": given.folder / "secrets",
        "tls": "require",
        "tls_certificate": given.files.certificate,
        "tls_key": given.files.key,
        "authentication": '["token", "password", "jwt"]',
        "password_file": given.folder / "passwords",
        "jwt_jwks": given.folder / "keys.json",
        "audit": "all",
        "audit_file": given.folder / "audit.jsonl",
        "audit_table_days": 1,
        "log_level": "debug",
        "http_port": 0,
        "workers": 1,
    }
    with serving(given.folder, settings=settings) as port:
        address = ("localhost", port)
        heard = [*told_over_http(address, context, given), *told_to_a_user(address, context, given)]
        heard += [ask(address, context) for ask in PROTOCOLS.values()]
        assert sum(each.startswith("(200") for each in heard) == 3, heard
        log = (given.folder / "server.log").read_text()
        (http,) = [json.loads(line) for line in log.splitlines() if "health_served" in line]
        for path in ("metrics", "health/live", "health/ready"):
            with urllib.request.urlopen(f"http://{http['host']}:{http['port']}/{path}", timeout=20) as answer:
                heard.append(answer.read().decode())
        heard += told_by_processes()
    heard += told_by_commands(given)
    written = [(given.folder / name).read_text() for name in ("server.log", "audit.jsonl")]
    assert all(written)
    assert found(given.canaries, *heard) == []
    assert found(given.canaries, *written) == []


def site(folder: Path, url: str) -> str:
    """A Hive's settings file with a password."""
    file = folder / "hive-site.xml"
    named = {"URL": url, "UserName": "hive", "Password": f"{WORD}-hive"}
    rows = (
        f"<property><name>javax.jdo.option.Connection{k}</name><value>{v}</value></property>" for k, v in named.items()
    )
    file.write_text(f"<configuration>{''.join(rows)}</configuration>")
    file.chmod(0o600)
    return str(file)


WRONG: list[tuple[dict[str, str], list[str]]] = [
    ({"DATABASE": f"mysql://u:{WORD}@h/d"}, ["migrate"]),
    ({"DATABASE": WORD}, ["migrate"]),
    ({"DATABASE": f"postgresql://u:{WORD}@h:port/d"}, ["migrate"]),
    ({"DATABASE": f"postgresql://u:{WORD}@127.0.0.1:1/d"}, ["token", "list"]),
    ({"DATABASE": f"postgresql://u@127.0.0.1:1/d?password={WORD}"}, ["token", "list"]),
    ({"DATABASE": f"postgresql://u@127.0.0.1:1/d?sslpassword={WORD}&sslmode=require"}, ["serve"]),
    ({"METASTORE": f"thrift://u:{WORD}@127.0.0.1:1"}, ["ping"]),
    ({"METASTORE": f"thrift://u:{WORD}@127.0.0.1:port"}, ["ping"]),
    ({"METASTORE": f"https://{WORD}@127.0.0.1:1/x"}, ["ping"]),
    ({"METASTORE": f"thrift://ok:1,thrift://u:{WORD}@[::1"}, ["config", "show"]),
    ({"WAREHOUSE": f"s3://key:{WORD}@bucket/lake"}, ["serve"]),
    ({"WAREHOUSE_ROOTS": f"s3://a/b, s3://key:{WORD}@bucket/lake"}, ["config", "show"]),
    ({"JWT_JWKS": f"https://u:{WORD}@idp/keys", "AUTHENTICATION": '["jwt"]'}, ["serve"]),
    ({"PASSWORD_FILE": "{folder}/plain", "AUTHENTICATION": '["password"]'}, ["serve"]),
    ({"PASSWORD_FILE": "{folder}/user", "AUTHENTICATION": '["password"]'}, ["serve"]),
    ({"CONFIG": "{folder}/token.toml"}, ["config", "show"]),
    ({"CONFIG": "{folder}/broken.toml"}, ["config", "show"]),
    ({"CONFIG": "{folder}/broken.toml"}, ["config", "show", "--json"]),
    ({"SECRETS_DIR": "{folder}/open"}, ["migrate"]),
    ({"SECRETS_DIR": "{folder}/odd"}, ["migrate"]),
    ({"SECRETS_DIR": "{folder}/wrong"}, ["migrate"]),
    ({"HIVE_SITE": "{folder}/hive-site.xml"}, ["serve"]),
    ({"TOKEN": WORD, "METASTORE": "http://192.0.2.1:1"}, ["ping"]),
    ({"PASSWORD": WORD}, ["config", "show"]),
]
"""Wrong settings, and a command that reads them."""


@pytest.mark.parametrize("number", range(len(WRONG)))
@pytest.mark.slow
def test_no_error_about_a_wrong_setting_tells_a_secret(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {
        "plain": f"{WORD}\n",
        "user": f"alice:{WORD}\n",
        "token.toml": f'token = "{WORD}"\n',
        "broken.toml": f'database = "postgresql://u:{WORD}@h/d\n',
        "open/HMSTATS__TOKEN": WORD,
        "odd/HMSTATS__PASSWORD": WORD,
        "wrong/HMSTATS__DATABASE": f"oracle://u:{WORD}@h/d",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o644 if name.startswith("open") else 0o600)
    site(tmp_path, f"jdbc:mysql://h/metastore?password={WORD}")
    variables, arguments = WRONG[number]
    for name, value in variables.items():
        monkeypatch.setenv(f"HMSTATS__{name}", value.replace("{folder}", str(tmp_path)))
    if arguments == ["serve"]:  # it would replace this process
        ended = subprocess.run([HMSTATS, "serve", "--port", "0"], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout) == (ExitCode.ERROR, ""), ended
        assert ended.stderr.startswith("hmstats: ")
        assert WORD not in ended.stderr
        return
    ran = CliRunner().invoke(app, arguments)
    assert isinstance(ran.exception, HmstatsError), (ran.exception, ran.output)
    assert WORD not in ran.output + str(ran.exception)


@pytest.mark.slow
def test_the_settings_in_force_show_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "DATABASE": f"postgresql://u:{WORD}@h/d?password={WORD}&sslpassword={WORD}",
        "TOKEN": WORD,
        "HIVE_SITE": site(tmp_path, "jdbc:postgresql://h/d"),
    }.items():
        monkeypatch.setenv(f"HMSTATS__{name}", value)
    for arguments in (["config", "show"], ["config", "show", "--json"]):
        shown = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert shown.exit_code == 0
        assert WORD not in shown.output
