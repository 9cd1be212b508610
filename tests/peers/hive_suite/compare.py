"""Runs Hive's own client tests on a server of ours, and holds the result against what passes on a real Hive 4.0.1.

    python -m tests.peers.hive_suite.compare [CLASS ...]

passes-on-hive-4.0.1.txt has what must pass. differs.txt names the tests of these that fail here, each with its reason:
a purpose, or `not yet`, which are counted apart. Prints every test that fails without being named there, or passes
though it is; ends with 1 then.
"""

import argparse
import sys
from collections.abc import Sequence
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
_SIDE_BY_SIDE = 2
"""Classes that run at a time, each with a server of its own."""


def expected() -> set[str]:
    """The tests that pass on Hive 4.0.1."""
    return set((HERE / "passes-on-hive-4.0.1.txt").read_text().splitlines())


def differing() -> dict[str, str]:
    """The tests that fail here, and why."""
    lines = (HERE / "differs.txt").read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))


def wrong(lines: Sequence[str]) -> list[str]:
    """A line for each test whose result is not the one wanted; `lines` as run prints them."""
    results = {name: (word, reason) for word, name, reason in (_parts(line) for line in lines)}
    found = []
    for name in sorted(results.keys() & expected()):
        word, reason = results[name]
        if word != "ok" and name not in differing():
            found.append(f"{name} passes on Hive 4.0.1, here: {reason}")
        if word == "ok" and name in differing():
            found.append(f"{name} passes, though differs.txt names it")
    return found + [f"{name}: {reason}" for name, (_, reason) in results.items() if reason.startswith("no metastore")]


def _parts(line: str) -> tuple[str, str, str]:
    word, name, *reason = line.split(" ", 2)
    return word, name, " ".join(reason)


def main() -> None:
    """Run the classes and print the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("classes", nargs="*", default=run.CLASSES)
    given = parser.parse_args()
    path = run.class_path()
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as classes:
        runs = classes.map(lambda name: run.run_class(name, SERVE, path), given.classes)
        lines = [line for each in runs for line in each]
    failures = wrong(lines)
    print(*failures, sep="\n")
    passed = sum(line.startswith("ok ") for line in lines)
    on_hive = sum(_parts(line)[1] in expected() for line in lines)
    reasons = [differing().get(_parts(line)[1], "") for line in lines]
    missing = sum(reason.startswith("not yet") for reason in reasons)
    on_purpose = sum(map(bool, reasons)) - missing
    print(
        f"Hive's client tests: {passed} passed here, {on_hive} on Hive 4.0.1; "
        f"{on_purpose} fail on purpose, {missing} not yet, {len(failures)} unexpected"
    )
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
