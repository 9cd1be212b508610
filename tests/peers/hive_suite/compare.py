"""Runs Hive's own client tests on a server of ours, and holds the result against what passes on a real Hive 4.0.1.

    python -m tests.peers.hive_suite.compare [--gateway] [CLASS ...]

passes-on-hive-4.0.1.txt has what must pass. differs.txt names the tests of these that fail here, each with its reason:
a purpose, or `not yet`, which are counted apart. Prints every test that fails without being named there, or passes
though it is; ends with 1 then. With --gateway the server is a gateway before a Hive 4.0.1, and
differs-behind-gateway.txt names what fails.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.peers.hive_suite import run

HERE = Path(__file__).resolve().parent
HMSTATS = Path(sys.executable).parent / "hmstats"
SERVE = (
    f"env HMSTATS__MOST_PARTITIONS_LISTED=100 {HMSTATS} serve --port {{port}} "
    "--database sqlite:///{dir}/hmstats.sqlite --warehouse file:{dir}/wh"
)
"""As Hive is started for its tests: at most 100 partitions in one answer."""
BEHIND_GATEWAY = (
    f"{sys.executable} -m tests.peers.start_gateway 4.0 --port {{port}} --dir {{dir}} "
    "--set metastore.warehouse.dir=file:{dir}/wh --set metastore.warehouse.external.dir=file:{dir}/wh "
    "--set 'metastore.metadata.transformer.class= ' --set metastore.limit.partition.request=100 "
    "--set fs.trash.interval=30 --set fs.trash.checkpoint.interval=30"
)
"""A Hive 4.0.1 with the settings by which its tests pass, and a gateway before it."""
_SIDE_BY_SIDE = 2
"""Classes that run at a time, each with a server of its own."""


def expected() -> set[str]:
    """The tests that pass on Hive 4.0.1."""
    return set((HERE / "passes-on-hive-4.0.1.txt").read_text().splitlines())


def differing(file: str = "differs.txt") -> dict[str, str]:
    """The tests that fail here, and why."""
    lines = (HERE / file).read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))


def wrong(lines: Sequence[str], differs: Mapping[str, str]) -> list[str]:
    """A line for each test whose result is not the one wanted; `lines` as run prints them, `differs` may fail."""
    results = {name: (word, reason) for word, name, reason in (_parts(line) for line in lines)}
    found = []
    for name in sorted(results.keys() & expected()):
        word, reason = results[name]
        if word != "ok" and name not in differs:
            found.append(f"{name} passes on Hive 4.0.1, here: {reason}")
        if word == "ok" and name in differs:
            found.append(f"{name} passes, though it is named as one that fails")
    return found + [f"{name}: {reason}" for name, (_, reason) in results.items() if reason.startswith("no metastore")]


def _parts(line: str) -> tuple[str, str, str]:
    word, name, *reason = line.split(" ", 2)
    return word, name, " ".join(reason)


def main() -> None:
    """Run the classes and print the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--gateway", action="store_true")
    parser.add_argument("classes", nargs="*", default=run.CLASSES)
    given = parser.parse_args()
    start = BEHIND_GATEWAY if given.gateway else SERVE
    differs = differing("differs-behind-gateway.txt" if given.gateway else "differs.txt")
    path = run.class_path()
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as classes:
        runs = classes.map(lambda name: run.run_class(name, start, path, own_home=given.gateway), given.classes)
        lines = [line for each in runs for line in each]
    failures = wrong(lines, differs)
    print(*failures, sep="\n")
    passed = sum(line.startswith("ok ") for line in lines)
    on_hive = sum(_parts(line)[1] in expected() for line in lines)
    reasons = [differs.get(_parts(line)[1], "") for line in lines]
    missing = sum(reason.startswith("not yet") for reason in reasons)
    on_purpose = sum(map(bool, reasons)) - missing
    print(
        f"Hive's client tests: {passed} passed here, {on_hive} on Hive 4.0.1; "
        f"{on_purpose} fail on purpose, {missing} not yet, {len(failures)} unexpected"
    )
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
