"""What is known about a client: names that it gives, and the user that it has proven to be."""

from hmstats.model.access.principal import Principal
from hmstats.server.rpc.caller import CANARY, Session


def test_an_authenticated_user_is_not_changed_by_what_the_client_says() -> None:
    session = Session(1, "127.0.0.1:1", frozenset({"spark"}))
    session.identify("alice", ("staff",))
    session.authenticate(Principal("etl", ("writers",), "token"))
    session.identify("root", ("admins", "spark"))
    assert (session.user, session.groups, session.is_spark) == ("etl", ("writers",), False)


def test_a_forgotten_principal_leaves_nothing_of_its_user() -> None:
    session = Session(1, "127.0.0.1:1", frozenset({"spark"}))
    session.authenticate(Principal("spark", ("writers",), "jwt"))
    assert session.is_spark
    session.authenticate(None)
    assert (session.user, session.groups, session.is_spark) == (None, (), False)
    session.identify("bob")
    assert session.user == "bob"


def test_settings_of_a_connection_are_those_of_the_user_who_set_them() -> None:
    """A proxy sends the requests of several users over one connection."""
    session = Session(1, "127.0.0.1:1")
    session.settings[CANARY] = "true"
    found = []
    for user, groups in (("ada", ()), ("ada", ("staff",)), ("bob", ())):
        session.authenticate(Principal(user, groups, "token"))
        found.append(session.is_canary)
    assert found == [True, True, False]
    assert session.settings == {}
