"""Who runs the process: in a container with a uid of its own, the system knows neither a name nor a home."""

import getpass
import os
import pwd
from pathlib import Path

import pytest

from hmstats.errors import HmstatsError
from hmstats.process_user import home_folder, user_name


@pytest.fixture
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user is in no list of users, and the environment does not name it."""

    def find_none(uid: int) -> object:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr(pwd, "getpwuid", find_none)
    for each in ("LOGNAME", "USER", "LNAME", "USERNAME", "HOME"):
        monkeypatch.delenv(each, raising=False)


def test_the_user_has_the_name_that_the_system_knows() -> None:
    assert user_name() == getpass.getuser()
    assert home_folder() == Path.home()


def test_a_user_without_a_name_has_a_number(nameless: None) -> None:
    assert user_name() == str(os.getuid())


def test_a_user_without_a_home_is_told_to_name_one(nameless: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HmstatsError, match=f"^user {os.getuid()}: no home folder is known, set HOME$"):
        home_folder()
    monkeypatch.setenv("HOME", "/somewhere")
    assert home_folder() == Path("/somewhere")
