"""A process is killed at every step of a change of files and catalog: afterwards all is old or all is new.

On a local disk, which renames, and on an object store, where a rename is made of copies. What settles the change is
killed too, at a step that goes on from one kill to the next; with HMSTATS_TEST_EVERY_STEP at each of its steps in turn.
"""

import itertools
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.harness.killing import CHANGES, Killing, killing
from tests.faults.harness.lake import Lake
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore, object_store

from hmstats.files import file_systems
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

EVERY_STEP = "HMSTATS_TEST_EVERY_STEP" in os.environ
_CHANGES = [each for each in CHANGES if each != "recover"]
_ON_POSTGRES = _CHANGES if EVERY_STEP else ["rename", "exchange"]
ON_DISK = [
    *(("sqlite", "disk", each) for each in _CHANGES),
    *(("postgres", "disk", each) for each in _ON_POSTGRES),
]
ON_OBJECT_STORE = [
    ("postgres", "object store", "exchange"),
    ("sqlite", "object store", "truncate"),
    *([("sqlite", "object store", "rename"), ("postgres", "object store", "drop_table")] if EVERY_STEP else []),
]
"""On one database each: copies take long, and are the same on both."""
NEVER = 1_000_000


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store")) as found:
        yield found


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the warehouse is; what opens it stands in the environment."""
    if request.param == "disk":
        yield f"file:{tmp_path}/warehouse"
        return
    found: ObjectStore = request.getfixturevalue("bucket")
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    file_systems.open_root.cache_clear()
    yield f"s3a://{BUCKET}/{tmp_path.name}"
    file_systems.open_root.cache_clear()


@pytest.fixture
def lake(store: Store, root: str) -> Lake:
    return Lake(store, Warehouse(root))


@pytest.fixture
def killed(lake: Lake, database_url: str) -> Iterator[Killing]:
    with killing(database_url, lake.warehouse.root) as found:
        yield found


def _renamed(seen: dict[str, Any], database: str) -> Any:
    """What was seen of a database, as if it had another name."""
    return json.loads(json.dumps(seen).replace(database, "the database"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database_url", "root", "change"), [*ON_DISK, *ON_OBJECT_STORE], indirect=["database_url", "root"]
)
def test_a_kill_at_any_step_leaves_the_old_or_the_new(lake: Lake, killed: Killing, change: str) -> None:
    lake.make("before")
    old = _renamed(lake.seen("before"), "before")
    assert killed.survives(change, "before", NEVER)
    new = _renamed(lake.seen("before"), "before")
    assert old != new
    assert new["under way"] == 0
    outcomes = []
    for step in itertools.count():
        database = f"at{step}"
        lake.make(database)
        ended = killed.survives(change, database, step)
        _settle(killed, itertools.count() if EVERY_STEP else (step, NEVER))
        seen = _renamed(lake.seen(database), database)
        assert seen in (old, new), f"after a kill at step {step}"
        outcomes.append(seen == new)
        if ended:
            break
    assert outcomes[-1]
    assert outcomes[0] is False
    assert outcomes == sorted(outcomes), "new once, then old"
    print(f"{change}: killed at {len(outcomes) - 1} steps, at {outcomes.count(False)} of them the old stayed")


def _settle(killed: Killing, steps: Iterable[int]) -> None:
    """Settle what was left, killed at these steps in turn until it comes to its end."""
    assert any(killed.survives("recover", "", step) for step in steps)
