"""Random conditions over partitions: what Hive 2.3, 3.1 and 4.0 write finds the same partitions in Hive and in ours.

Hive's compiler types the conditions and writes the bytes, and the class that Hive's metastore calls evaluates them. A
real Hive Metastore 4.0.1 is asked with the same bytes too, over Thrift.
"""

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.peers.hive_engine import record
from tests.peers.hive_expressions import generate
from tests.wire.conditions.test_partition_expressions import Case, found_by

from hmstats.errors import UnknownExpression
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, partition_name, unescape
from hmstats.wire.idl import hive_metastore as api

pytestmark = [
    pytest.mark.engines,
    pytest.mark.hive,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="Hive's classes come from Maven, not found on this machine"),
]

SEED = int(os.environ.get("HMSTATS_TEST_SEED", "11"))
CONDITIONS = 400
COLUMNS = {"n": "int"}
KEYS = {
    "s": "string",
    "i": "int",
    "b": "bigint",
    "d": "date",
    "c": "decimal(8,2)",
    "t": "timestamp",
    "v": "varchar(6)",
    "h": "char(4)",
    "f": "double",
}
VALUES = {
    "s": ["a", "b", "eu", "10", "9", "A", "a b", "x/y", "a%"],
    "i": ["0", "1", "-7", "2019", "2020", "2147483647"],
    "b": ["0", "9", "10", "-9000000000", "9223372036854775807"],
    "d": ["2023-12-31", "2024-01-01", "2024-02-29", "1999-06-15"],
    "c": ["0", "1.5", "-3.25", "10", "999999.99", "0.01"],
    "t": ["2024-01-01 00:00:00", "2024-01-01 10:00:00.5", "1999-12-31 23:59:59"],
    "v": ["a", "abc", "eu", "zz", "b a"],
    "h": ["a", "abc", "eu", "zzzz"],
    "f": ["0", "1.5", "-2.25", "100", "0.1"],
}
LITERALS: dict[str, Callable[[str], str]] = {
    "s": lambda text: f"'{text}'",
    "v": lambda text: f"'{text}'",
    "h": lambda text: f"'{text}'",
    "d": lambda text: f"DATE '{text}'",
    "t": lambda text: f"TIMESTAMP '{text}'",
    "i": str,
    "b": lambda text: f"{text}L",
    "c": lambda text: f"{text}BD" if "." in text else text,
    "f": lambda text: f"{text}D",
}
CASTS = {"i": "bigint", "b": "string", "c": "string", "d": "timestamp", "s": "varchar(3)", "v": "string", "t": "date"}


def condition(chance: random.Random, depth: int = 3) -> str:
    """A condition over the keys, without minus signs, which Hive's type checker leaves to its planner."""
    if depth and chance.random() < 0.5:
        parts = [condition(chance, depth - 1) for _ in range(chance.randint(2, 3))]
        whole = f"({chance.choice([' AND ', ' OR ']).join(parts)})"
        return f"NOT {whole}" if chance.random() < 0.25 else whole
    key = chance.choice(list(KEYS))
    texts = [each for each in VALUES[key] if not each.startswith("-")]
    literals = [LITERALS[key](each) for each in texts]
    some = chance.sample(literals, chance.randint(1, 3))
    match chance.randrange(8):
        case 0 | 1 | 2:
            return f"{key} {chance.choice(['=', '<>', '<', '<=', '>', '>='])} {some[0]}"
        case 3:
            return f"{key} {chance.choice(['IN', 'NOT IN'])} ({', '.join(some)})"
        case 4:
            low, high = chance.choice(literals), chance.choice(literals)
            return f"{key} {chance.choice(['BETWEEN', 'NOT BETWEEN'])} {low} AND {high}"
        case 5:
            return f"{key} {chance.choice(['IS NULL', 'IS NOT NULL'])}"
        case 6:
            pattern = chance.choice(["a%", "%b", "_", "%", "e_", "a b%"])
            return f"{chance.choice(['s', 'v'])} {chance.choice(['LIKE', 'NOT LIKE'])} '{pattern}'"
        case _:
            return _cast(chance, key) or f"{key} <=> {some[0]}"


def _cast(chance: random.Random, key: str) -> str:
    kind = CASTS.get(key)
    if kind is None or key in ("i", "b", "c", "f"):
        return ""
    literal = {"timestamp": "TIMESTAMP '2024-01-01 00:00:00'", "date": "DATE '2024-01-01'"}.get(kind, "'a'")
    return f"CAST({key} AS {kind}) {chance.choice(['=', '<', '>='])} {literal}"


def names(chance: random.Random) -> list[str]:
    """Names of partitions, some with a null key."""
    return sorted(
        {
            partition_name(
                list(KEYS),
                [NULL_PARTITION_VALUE if chance.random() < 0.06 else chance.choice(VALUES[key]) for key in KEYS],
            )
            for _ in range(40)
        }
    )


def cases(generation: str) -> list[Case]:
    """Random conditions as a generation's Hive wrote and evaluated them; the same ones for all."""
    chance = random.Random(SEED)
    listed = [each.replace(" ", "%20") for each in names(chance)]
    asked = [condition(chance) for _ in range(CONDITIONS)]
    keys = ", ".join(f"{name} {kind}" for name, kind in KEYS.items())
    text = "\n".join([keys, " ".join(listed), *asked]) + "\n"
    done = subprocess.run(
        generate.program(generation), input=text, capture_output=True, text=True, timeout=300, check=True
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["sql"] for each in told] == asked
    return [Case(list(KEYS.items()), listed, each) for each in told if "found" in each]


@pytest.mark.parametrize("generation", ["2.3", "3.1", "4.0"])
def test_finds_what_hives_own_evaluation_finds(generation: str) -> None:
    written = cases(generation)
    assert len(written) > CONDITIONS * 0.7
    differing, unread = {}, []
    for case in written:
        try:
            found = found_by(case)
        except UnknownExpression as error:
            unread.append(f"{case.said['sql']}: {error}")
            continue
        if found != (case.said["found"], case.said["unknown"]):
            differing[case.said["sql"]] = sorted(set(found[0]) ^ set(case.said["found"]))[:3]
    assert differing == {}
    assert unread == []


@pytest.fixture
def both(postgres_server: str, tmp_path: Path) -> Iterator[tuple[Metastore, Metastore]]:
    """Ours, and a real Hive Metastore 4.0.1 that evaluates conditions."""
    (tmp_path / "ours").mkdir()
    with (
        serving(tmp_path / "ours") as port,
        fresh_database(postgres_server) as url,
        record.metastore(tmp_path / "hive", url) as (hive_port, _),
    ):
        asked = Metastore("hmstats-sqlite", port, 4.0), Metastore("hive-4.0", hive_port, 4.0)
        yield asked
        for each in asked:
            each.clients.close()


def test_finds_what_a_real_metastore_finds(both: tuple[Metastore, Metastore]) -> None:
    written = cases("4.0")
    for each in both:
        each.client().create_database(api.Database(name=each.database))
        each.table("e", COLUMNS, keys=[" ".join(key) for key in KEYS.items()])
        values = [[unescape(part.split("=", 1)[1]) for part in name.split("/")] for name in written[0].names]
        each.add_partitions(*values, table="e", columns=COLUMNS)
    ours, theirs = ([_asked(each, client, case) for case in written] for each in both for client in [each.client()])
    differing = {
        case.said["sql"]: sorted(set(mine) ^ set(hives))
        for case, mine, hives in zip(written, ours, theirs, strict=True)
        if mine != hives and not _told_by_sql(case, mine, hives)
    }
    assert differing == {}


def _asked(metastore: Metastore, client: Any, case: Case) -> list[str]:
    request = api.PartitionsByExprRequest(
        dbName=metastore.database, tblName="e", expr=case.data, defaultPartitionName=NULL_PARTITION_VALUE, maxParts=-1
    )
    found = client.get_partitions_by_expr(request).partitions
    return sorted(partition_name(list(KEYS), each.values) for each in found)


def _told_by_sql(case: Case, ours: list[str], theirs: list[str]) -> bool:
    """Whether Hive's database found other partitions than Hive's own evaluation, with which ours agrees."""
    told = sorted(unescape(each) for each in case.said["found"])
    return sorted(map(unescape, ours)) == told != sorted(map(unescape, theirs))
