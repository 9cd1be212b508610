"""The rules on the page of security are valid, and mean what their comments say."""

import subprocess
from pathlib import Path

import pytest
from tests.docs.pages import commands
from tests.fixtures.servers import HMSTATS

from hmstats.model.access.actions import Action
from hmstats.model.access.rule_file import parse_rules
from hmstats.model.access.rules import ANONYMOUS, THE_SERVER, Identity, Rules
from hmstats.settings import CONFIG_FILE_VARIABLE, load

PAGE = Path(__file__).parents[2] / "docs" / "operate" / "security.md"
PAY, ORDERS = ("hive", "personnel", "pay"), ("hive", "sales", "orders")


def _example() -> str:
    (example,) = (block for block in PAGE.read_text("utf-8").split("```") if block.startswith("toml\n[[rule]]"))
    return example.removeprefix("toml\n")


def _rules() -> Rules:
    return parse_rules(_example(), "security.md")


def test_the_example_means_what_it_says() -> None:
    rules = _rules()
    clerk, job, root = Identity("eve", ("personnel",)), Identity("analyse"), Identity("root")
    assert rules.decide(clerk, Action.READ, PAY).allowed
    assert not rules.decide(clerk, Action.READ, ORDERS).allowed
    for who in (job, root, ANONYMOUS):
        assert not rules.decide(who, Action.LIST, PAY).allowed
        assert not rules.decide(who, Action.LIST, PAY[:2]).allowed
    assert rules.decide(job, Action.WRITE_STATISTICS, ORDERS).allowed
    assert not rules.decide(job, Action.ALTER, ORDERS).allowed
    assert rules.decide(ANONYMOUS, Action.READ_STATISTICS, ORDERS).allowed
    assert not rules.decide(ANONYMOUS, Action.WRITE_STATISTICS, ORDERS).allowed
    assert rules.decide(root, Action.ADMIN, THE_SERVER).allowed
    assert not rules.decide(job, Action.ADMIN, THE_SERVER).allowed


@pytest.mark.slow
def test_the_commands_say_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(_example())
    shown = commands(PAGE)
    assert len(shown) == 2
    for command, output in shown:
        told = subprocess.run(
            [HMSTATS, *command.split()[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert told.stdout == output, told
        assert told.returncode == (0 if output.startswith("allowed") else 1)


def test_every_action_is_on_the_page() -> None:
    page = PAGE.read_text("utf-8")
    assert [action for action in Action if f"`{action}`" not in page] == []


def test_the_hardened_configuration_can_be_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text("utf-8")
    block = page.split("## A hardened configuration")[1].split("```")[1].removeprefix("toml\n")
    (tmp_path / "hmstats.toml").write_text(block)
    monkeypatch.setenv(CONFIG_FILE_VARIABLE, str(tmp_path / "hmstats.toml"))
    found = load()
    assert (found.tls, found.protection, found.authentication) == ("require", "privacy", ("kerberos", "token"))
    assert (found.unencrypted_secrets, found.audit, found.warehouse_roots) == (
        False,
        "writes",
        ("s3a://lake/databases",),
    )
