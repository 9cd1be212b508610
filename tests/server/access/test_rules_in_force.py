"""The rule file is read again when it changes, and old rules stay when it is wrong."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hmstats.errors import SettingsError
from hmstats.model.access.actions import Action
from hmstats.model.access.rules import Identity
from hmstats.server.access.rules_in_force import RulesInForce


@pytest.mark.slow
def test_changed_rules_are_in_force_and_wrong_ones_are_not(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text("[[rule]]\nallow = []\n")
    access = RulesInForce(str(file))
    first = access.rules
    access.refresh()
    assert access.rules is first
    with capture_logs() as log:
        file.write_text("[[rule]]\nallow = ['reed']\n")
        for _ in range(3):
            access.refresh()
        assert access.rules is first
        file.unlink()
        for _ in range(3):
            access.refresh()
        assert access.rules is first
        file.write_text("[[rule]]\nallow = ['read', 'list']\n")
        for _ in range(3):
            access.refresh()
    assert len(access.rules.rules[0].allow) == 2
    assert [(each["event"], each["log_level"]) for each in log] == [
        ("rules_not_changed", "warning"),
        ("rules_not_changed", "warning"),
        ("rules_changed", "info"),
    ]
    assert log[0]["reason"] == f"{file}, rule 1: allow: action 'reed' does not exist, is it read?"


def test_rules_that_are_being_written_are_not_in_force_before_they_are_whole(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text("[[rule]]\nallow = []\n")
    access = RulesInForce(str(file))
    first, whole = access.rules, '[[rule]]\nallow = ["read"]\nusers = ["root"]\n'
    for size in (0, whole.index("users"), len(whole)):  # the second is whole TOML too, by which everybody may read
        file.write_text(whole[:size])
        access.refresh()
        assert access.rules is first
    access.refresh()
    allowed = [access.rules.decide(Identity(user), Action.READ, ("hive",)).allowed for user in ("root", "eve")]
    assert allowed == [True, False]


def test_a_server_does_not_start_without_its_rules(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"rules .*rules.toml cannot be read: No such file"):
        RulesInForce(str(tmp_path / "rules.toml"))
    (tmp_path / "rules.toml").write_bytes(b"\xff")
    with pytest.raises(SettingsError, match=r"rules.toml must be UTF-8"):
        RulesInForce(str(tmp_path / "rules.toml"))
