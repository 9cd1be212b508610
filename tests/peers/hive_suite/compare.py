"""Runs Hive's own client tests on a server of ours, and holds the result against what passes on a real Hive.

    python -m tests.peers.hive_suite.compare [--gateway [--generation 3.1]] [CLASS ...]

passes-on-hive-4.0.1.txt has what must pass. differs.txt names the tests of these that fail here, each with its reason:
a purpose, or `not yet`, which are counted apart. Prints every test that fails without being named there, or passes
though it is; ends with 1 then. With --gateway the server is a gateway before a Hive 4.0.1, or 3.1.3 with its own tests,
and differs-behind-gateway.txt names what fails.
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
_BEHIND_GATEWAY = (
    f"{sys.executable} -m tests.peers.start_gateway {{generation}} --port {{port}} --dir {{dir}} "
    "--set metastore.warehouse.dir=file:{dir}/wh --set metastore.warehouse.external.dir=file:{dir}/wh "
    "--set 'metastore.metadata.transformer.class= ' --set metastore.limit.partition.request=100 "
    "--set fs.trash.interval=30 --set fs.trash.checkpoint.interval=30"
)
"""A Hive with the settings by which its tests pass, and a gateway before it."""
_BY_CHANCE = {
    "3.1": {f"TestStats.table{each}" for each in ("DeprecatedCalls", "InHiveCatalog", "OtherCatalog")},
    "4.0": set[str](),
}
"""Tests that write bounds by chance: a low one above the high one is answered as unknown here, on purpose."""
_SIDE_BY_SIDE = 2
"""Classes that run at a time, each with a server of its own."""


def passing(release: str) -> set[str]:
    """The tests that pass on a release of Hive."""
    return set((HERE / f"passes-on-hive-{release}.txt").read_text().splitlines())


def differing(file: str = "differs.txt") -> dict[str, str]:
    """The tests that fail here, and why."""
    lines = (HERE / file).read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))


def wrong(lines: Sequence[str], expected: set[str], differs: Mapping[str, str]) -> list[str]:
    """A line for each test whose result is not the one wanted; `lines` as run prints them, `differs` may fail."""
    results = {name: (word, reason) for word, name, reason in (_parts(line) for line in lines)}
    found = []
    for name in sorted(results.keys() & expected):
        word, reason = results[name]
        if word != "ok" and name not in differs:
            found.append(f"{name} passes on Hive, here: {reason}")
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
    parser.add_argument("--generation", choices=run.RELEASES, default="4.0")
    parser.add_argument("classes", nargs="*")
    given = parser.parse_args()
    if given.generation != "4.0" and not given.gateway:
        parser.error("the tests of another generation are for a gateway before it: add --gateway")
    release = run.RELEASES[given.generation]
    start = _BEHIND_GATEWAY.replace("{generation}", given.generation) if given.gateway else SERVE
    expected = passing(release) - _BY_CHANCE[given.generation]
    differs = differing("differs-behind-gateway.txt" if given.gateway else "differs.txt")
    path = run.class_path(given.generation)
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as classes:
        names = given.classes or run.CLASSES[given.generation]
        runs = classes.map(lambda name: run.run_class(name, start, path, own_home=given.gateway), names)
        lines = [line for each in runs for line in each]
    failures = wrong(lines, expected, differs)
    print(*failures, sep="\n")
    passed = sum(line.startswith("ok ") for line in lines)
    on_hive = sum(_parts(line)[1] in expected for line in lines)
    reasons = [differs.get(_parts(line)[1], "") for line in lines]
    missing = sum(reason.startswith("not yet") for reason in reasons)
    on_purpose = sum(map(bool, reasons)) - missing
    print(
        f"Hive's client tests: {passed} passed here, {on_hive} on Hive {release}; "
        f"{on_purpose} fail on purpose, {missing} not yet, {len(failures)} unexpected"
    )
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
