"""History in the database of a real Hive, whose tables lack some of our columns."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.service.statistics.filled import NAME
from tests.service.statistics.history.test_restore import Scene, deleted, parameters, truncated, written
from tests.store.beside import store_beside


@pytest.mark.slow
@pytest.mark.parametrize("change", [written, deleted, parameters, truncated])
def test_what_was_before_a_change_comes_back(
    hive_database: str, tmp_path: Path, change: Callable[[Scene], None]
) -> None:
    with store_beside(hive_database) as store:
        store.enable_history()
        scene = Scene(store, tmp_path)
        scene.write(None, 0, 60)
        scene.write(1, 0, 50)
        before, at_ms = scene.stored(), scene.now()
        change(scene)
        after = scene.stored()
        assert scene.past(at_ms) == before
        scene.restores.restore(NAME, at_ms)
        assert scene.stored() == before
        if change is not parameters:
            assert after != before
