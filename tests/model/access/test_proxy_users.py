"""Who may act as others, and from where."""

from typing import Any

import pytest

from hmstats.errors import SettingsError
from hmstats.model.access.proxy_users import ProxyUsers, denial

RIGHTS = ProxyUsers(
    {
        "trino": {"users": ("*",), "hosts": ("10.0.0.0/8", "::1")},
        "oozie": {"users": ("etl_?", "bob"), "hosts": ("*",)},
    }
)


@pytest.mark.parametrize(
    ("user", "other", "address", "allowed"),
    [
        ("trino", "anybody", "10.1.2.3", True),
        ("trino", "anybody", "11.1.2.3", False),
        ("trino", "anybody", "::1", True),
        ("trino", "anybody", "::ffff:10.1.2.3", True),
        ("trino", "anybody", "::ffff:11.1.2.3", False),
        ("trino", "anybody", "localhost", False),
        ("oozie", "etl_1", "192.0.2.1", True),
        ("oozie", "etl_12", "192.0.2.1", False),
        ("oozie", "bob", "no address", True),
        ("oozie", "bobby", "192.0.2.1", False),
        ("bob", "oozie", "10.0.0.1", False),
        ("*", "bob", "10.0.0.1", False),
    ],
)
def test_who_may_act_as_whom_and_from_where(user: str, other: str, address: str, allowed: bool) -> None:
    assert RIGHTS.allow(user, other, address) is allowed


def test_without_the_setting_nobody_acts_as_another() -> None:
    assert not ProxyUsers({}).allow("trino", "bob", "127.0.0.1")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"users": ("*",)},
        {"hosts": ("*",)},
        {"users": (), "hosts": ("*",)},
        {"users": ("*",), "hosts": ("*",), "groups": ("*",)},
        {"users": ("*",), "hosts": ("worker.example.org",)},
        {"users": ("*",), "hosts": ("10.0.0.1/8",)},
        {"users": ("x" * 5_000,), "hosts": ("*",)},
    ],
)
def test_a_right_that_is_not_whole_is_refused_with_its_user(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"proxy_users.*trino"):
        ProxyUsers({"trino": given})


def test_a_denial_names_both_users() -> None:
    assert denial("ann", "bob", "10.0.0.9") == (
        "ann may not act as bob from 10.0.0.9: the setting proxy_users does not allow it"
    )
