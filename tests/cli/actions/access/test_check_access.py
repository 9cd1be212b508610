"""What the access rules say, told with the rule that decides."""

import json
import subprocess
from pathlib import Path

from tests.fixtures.servers import HMSTATS

RULES = '[[rule]]\ngroups = ["jobs"]\nobjects = ["hive.sales"]\nallow = ["list", "lock"]\n'


def _ask(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "rules.toml").write_text(RULES)
    command = [HMSTATS, "check-access", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_an_answer_has_the_rule_and_an_exit_code(tmp_path: Path) -> None:
    asked = (
        "ada",
        "lock",
        "hive.Sales.orders",
        "--group",
        "staff",
        "--group",
        "jobs",
        "--rules",
        "rules.toml",
        "--json",
    )
    told = _ask(tmp_path, *asked)
    assert json.loads(told.stdout) == {
        "user": "ada",
        "groups": ["staff", "jobs"],
        "action": "lock",
        "object": "hive.sales.orders",
        "allowed": True,
        "rule": 1,
        "file": "rules.toml",
    }
    assert told.returncode == 0
    told = _ask(tmp_path, "ada", "admin", "--rules", "rules.toml")
    assert (told.stdout, told.returncode) == ("denied: ada admin the server (no rule is about it)\n", 1)
    told = _ask(tmp_path, "ada", "admin")
    assert (told.stdout, told.returncode) == ("allowed: ada admin the server (no rules are set)\n", 0)


def test_what_makes_no_sense_is_an_error(tmp_path: Path) -> None:
    told = _ask(tmp_path, "ada", "reed", "hive")
    assert (told.stderr, told.returncode) == ("hmstats: action 'reed' does not exist, is it read?\n", 2)
    told = _ask(tmp_path, "ada", "read", "a.b.c.d")
    assert told.returncode == 2
    assert "an object must be catalog, catalog.database or catalog.database.table, found 'a.b.c.d'" in told.stderr
