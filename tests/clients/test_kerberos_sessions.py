"""The same sessions of real clients with right and wrong tickets, on ours and on a real Hive Metastore with one KDC."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clients.kerberos_sessions import LISTED, SESSIONS, Session, guarded_hive, importing
from tests.fixtures.identity.kerberos import SERVICE, Kerberos
from tests.fixtures.servers import serving

pytestmark = pytest.mark.slow  # needs a KDC, Java and Maven

AUDIT = "audit.jsonl"
MARKS = {"spark": pytest.mark.engines}
"""A session of Spark takes longer than all others together."""
TICKET_SECONDS = 2
PATIENCE_SECONDS = 20.0


@pytest.fixture(scope="module", params=["hmstats", "hive-4.0"])
def metastore(
    request: pytest.FixtureRequest, kerberos: Kerberos, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, Path | None]]:
    """The port of a metastore that wants a ticket, and where it records its calls, if it does."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "hive-4.0":
        with guarded_hive(kerberos, folder) as port:
            yield port, None
        return
    settings = {
        "authentication": '["kerberos"]',
        "kerberos_keytab": kerberos.keytab("hive"),
        "kerberos_principal": SERVICE,
        "audit": "all",
        "audit_file": folder / AUDIT,
    }
    with serving(folder, settings=settings, environment=importing(kerberos)) as port:
        yield port, folder / AUDIT


@pytest.fixture(params=[pytest.param(each, marks=MARKS.get(each, ())) for each in SESSIONS])
def session(request: pytest.FixtureRequest) -> Session:
    return SESSIONS[request.param]


def recorded(audit: Path | None) -> set[tuple[str | None, str | None]]:
    """The users of all calls of the audit, and how they were proven; empties it."""
    if audit is None:
        return set()
    records = [json.loads(line) for line in audit.read_text().splitlines()]
    audit.write_text("")
    return {(each["principal"], each["mechanism"]) for each in records}


def recorded_last(audit: Path | None) -> set[tuple[str | None, str | None]]:
    """The users of a session that has just ended: a call is recorded after its reply."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not (users := recorded(audit)) and audit is not None and time.monotonic() < until:
        time.sleep(0.05)
    return users


@pytest.mark.sampled
@pytest.mark.parametrize("user", ["alice", "bob"])
def test_a_ticket_opens_it_as_its_user(
    session: Session, metastore: tuple[int, Path | None], kerberos: Kerberos, tmp_path: Path, user: str
) -> None:
    port, audit = metastore
    if user == "bob" and audit is None:
        pytest.skip("a real Hive records no users, so another one proves nothing there")
    tickets = kerberos.tickets(user)
    recorded(audit)  # what the session before this test said last
    said = session(kerberos, tmp_path, port, tickets)
    assert LISTED in said, said[-3_000:]
    assert recorded_last(audit) == ({(user, "kerberos")} if audit else set())


def test_without_a_ticket_or_with_an_expired_one_nothing_is_called(
    session: Session, metastore: tuple[int, Path | None], kerberos: Kerberos, tmp_path: Path
) -> None:
    port, audit = metastore
    expired = kerberos.tickets("alice", "-l", f"{TICKET_SECONDS}s")
    time.sleep(TICKET_SECONDS + 1)
    recorded(audit)  # what the session before this test said last
    for tickets in (str(tmp_path / "none"), expired):
        said = session(kerberos, tmp_path, port, tickets)
        assert LISTED not in said
        assert "kerberos" in said.lower() or "GSS" in said, said[-3_000:]
    assert not recorded(audit)


def test_a_ticket_for_a_key_that_the_metastore_has_not_is_refused(
    session: Session, metastore: tuple[int, Path | None], kerberos: Kerberos, tmp_path: Path
) -> None:
    port, audit = metastore
    kerberos.admin(f"ktadd -k {tmp_path / 'new.keytab'} {SERVICE}")
    recorded(audit)  # what the session before this test said last
    try:
        said = session(kerberos, tmp_path, port, kerberos.tickets("alice"))
    finally:
        kerberos.admin(f"ktadd -k {kerberos.keytab('hive')} {SERVICE}")
    assert LISTED not in said
    assert "GSS" in said, said[-3_000:]
    assert recorded_last(audit) == ({(None, None)} if audit else set())
    assert LISTED in session(kerberos, tmp_path, port, kerberos.tickets("alice"))
