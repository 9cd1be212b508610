"""`--help`, `--version` and a shell's completion answer at once: nothing heavy is imported for them."""

import os
import subprocess
import sys

import pytest
from scripts.generate_docs import command_line
from tests.fixtures.commands import Ended, ended
from tests.fixtures.servers import HMSTATS

from hmstats.cli.main import COMMANDS
from hmstats.version import __version__

HEAVY = {
    "numpy",
    "pyarrow",
    "pydantic_settings",
    "pyspark",
    "sqlalchemy",
    "thriftpy2",
    "datasketches",
    "prometheus_client",
}
RUN = "import sys; sys.argv[0] = 'hmstats'; from hmstats.cli.main import main; main()"


def imported(*arguments: str, **environment: str) -> set[str]:
    """The modules that the command imports for these arguments."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", RUN, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.stdout, done.stderr
    names = (line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:"))
    return set(names)


HELPS = [["--help"], ["--version"], ["version"], *([name, "-h"] for name in COMMANDS)]


@pytest.fixture(scope="module")
def helps(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Ended]:
    """What each command did when it was asked for help."""
    return ended(HELPS, tmp_path_factory.mktemp("helps"))


@pytest.mark.parametrize("arguments", HELPS)
def test_help_and_version_import_nothing_heavy(helps: dict[tuple[str, ...], Ended], arguments: list[str]) -> None:
    modules = helps[tuple(arguments)].modules
    assert not modules & HEAVY
    ours = {name for name in modules if name.startswith("hmstats.") and not name.startswith("hmstats.cli.commands")}
    assert ours <= {
        "hmstats.cli",
        "hmstats.cli.exit_codes",
        "hmstats.cli.main",
        "hmstats.cli.options",
        "hmstats.cli.standard_output",
        "hmstats.errors",
        "hmstats.extras",
        "hmstats.tracing",
        "hmstats.version",
    }


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_every_command_has_help(helps: dict[tuple[str, ...], Ended], command: list[str]) -> None:
    done = helps[*command, "-h" if command else "--help"]
    assert done.code == 0
    assert done.stdout.startswith("Usage: hmstats")


def test_a_command_that_works_imports_what_it_needs() -> None:
    """The guard above sees imports where there are some."""
    assert "pydantic_settings" in imported("config", "show")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "found"), [("hmstats sh", "show"), ("hmstats ask t", "top"), ("hmstats i", "import")]
)
def test_completion_imports_nothing_heavy(words: str, found: str) -> None:
    asked = {"_HMSTATS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run([HMSTATS], capture_output=True, text=True, env={**os.environ, **asked}, check=False)
    assert done.stdout.split() == [found]
    assert not imported(**asked) & HEAVY


def test_options_are_completed() -> None:
    asked = {"_HMSTATS_COMPLETE": "complete_bash", "COMP_WORDS": "hmstats serve --ware", "COMP_CWORD": "2"}
    done = subprocess.run([HMSTATS], capture_output=True, text=True, env={**os.environ, **asked}, check=False)
    assert done.stdout.split() == ["--warehouse"]


def test_the_version_is_an_option_too() -> None:
    done = subprocess.run([HMSTATS, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"hmstats {__version__}\n"


def test_the_list_of_commands_cuts_no_sentence() -> None:
    done = subprocess.run([HMSTATS, "-h"], capture_output=True, text=True, check=True)
    for name, sentence in COMMANDS.items():
        assert [name, *sentence.split()] in [line.split() for line in done.stdout.splitlines()], name


def test_h_is_help_everywhere() -> None:
    page = command_line()
    assert page.count("-h, --help") == page.count("## `hmstats")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("hmstats.cli.serving.parent", {"sqlalchemy", "thriftpy2", "numpy", "pyarrow", "pydantic"}),
        ("hmstats.cli.serving.worker", {"alembic", "mako", "typer", "pyspark"}),
    ],
)
def test_a_server_starts_without_what_it_does_not_need(module: str, absent: set[str]) -> None:
    """Alembic is for migrations, which the command does before it becomes the parent."""
    command = [sys.executable, "-c", f"import sys, {module}; print(*sys.modules)"]
    modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert module in modules
    assert not absent & set(modules)


@pytest.mark.slow
def test_the_api_is_parsed_once() -> None:
    """To parse Hive's IDL takes a fifth of a worker's start."""
    program = (
        "from thriftpy2.parser import parser; plain, files = parser._parse_data, []\n"
        "def parsed(data, thrift, *rest, **named):\n"
        "    files.append(thrift.__name__)\n"
        "    return plain(data, thrift, *rest, **named)\n"
        "parser._parse_data = parsed\n"
        "import hmstats.wire.idl\n"
        "print(*sorted(files))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["fb303_thrift", "hive_metastore_thrift", "hmstats_thrift"]
