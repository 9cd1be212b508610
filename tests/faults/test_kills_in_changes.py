"""A process is killed at every step of a change of files and catalog: afterwards all is old or all is new.

On a local disk, which renames, and on an object store, where a rename is made of copies. What settles the change is
killed at each of its own steps too.
"""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.harness.killing import CHANGES, Killing, killing
from tests.faults.harness.lake import Lake
from tests.fixtures.object_store import BUCKET, ObjectStore, object_store

from hmstats.files import file_systems
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

ON_DISK = [("disk", each) for each in CHANGES if each != "recover"]
ON_OBJECT_STORE = [("object store", each) for each in ("rename", "exchange", "truncate", "drop_table")]
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
@pytest.mark.parametrize(("root", "change"), [*ON_DISK, *ON_OBJECT_STORE], indirect=["root"])
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
        _settle(killed)
        seen = _renamed(lake.seen(database), database)
        assert seen in (old, new), f"after a kill at step {step}"
        outcomes.append(seen == new)
        if ended:
            break
    assert outcomes[-1]
    assert outcomes[0] is False
    assert outcomes == sorted(outcomes), "new once, then old"
    print(f"{change}: killed at {len(outcomes) - 1} steps, at {outcomes.count(False)} of them the old stayed")


def _settle(killed: Killing) -> None:
    """Settle what was left, killed at each step in turn."""
    for step in itertools.count():
        if killed.survives("recover", "", step):
            return
