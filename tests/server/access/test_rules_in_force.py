"""The rule file is read again when it changes, and old rules stay when it is wrong."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hmstats.errors import SettingsError
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
        access.refresh()
        access.refresh()
        assert access.rules is first
        file.unlink()
        access.refresh()
        assert access.rules is first
        file.write_text("[[rule]]\nallow = ['read', 'list']\n")
        access.refresh()
    assert len(access.rules.rules[0].allow) == 2
    assert [(each["event"], each["log_level"]) for each in log] == [
        ("rules_not_changed", "warning"),
        ("rules_not_changed", "warning"),
        ("rules_changed", "info"),
    ]
    assert log[0]["reason"] == f"{file}, rule 1: allow: action 'reed' does not exist, is it read?"


def test_a_server_does_not_start_without_its_rules(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"rules .*rules.toml cannot be read: No such file"):
        RulesInForce(str(tmp_path / "rules.toml"))
    (tmp_path / "rules.toml").write_bytes(b"\xff")
    with pytest.raises(SettingsError, match=r"rules.toml must be UTF-8"):
        RulesInForce(str(tmp_path / "rules.toml"))
