"""A fingerprint changes when the files do, or what is made of them."""

from collections.abc import Callable

import pytest

from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.planning import fingerprint as fingerprints
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.fingerprint import fingerprint

FILES = [DataFile("/t/a", 10, 1), DataFile("/t/b", 20, 2)]
TYPES = {"a": "int", "b": "string"}
FIRST = fingerprint(FILES, TYPES, DEFAULT)


def test_the_same_work_has_the_same_fingerprint() -> None:
    assert fingerprint(list(FILES), {"b": "string", "a": "int"}, Options()) == FIRST
    assert fingerprint(FILES, TYPES, Options(most_tasks=3)) == FIRST
    assert len(FIRST) < 100


@pytest.mark.parametrize(
    "other",
    [
        lambda: fingerprint(FILES[:1], TYPES, DEFAULT),
        lambda: fingerprint([], TYPES, DEFAULT),
        lambda: fingerprint([FILES[0], DataFile("/t/b", 21, 2)], TYPES, DEFAULT),
        lambda: fingerprint([FILES[0], DataFile("/t/b", 20, 3)], TYPES, DEFAULT),
        lambda: fingerprint([FILES[0], DataFile("/t/c", 20, 2)], TYPES, DEFAULT),
        lambda: fingerprint(FILES, {"a": "int"}, DEFAULT),
        lambda: fingerprint(FILES, {"a": "bigint", "b": "string"}, DEFAULT),
        lambda: fingerprint(FILES, TYPES, Options(precision=11)),
        lambda: fingerprint(FILES, TYPES, Options(sample_fraction=0.5)),
        lambda: fingerprint(FILES, TYPES, Options(top_k=False)),
    ],
)
def test_all_else_has_another(other: Callable[[], str]) -> None:
    assert other() != FIRST


def test_a_mended_computation_has_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "COMPUTATION", fingerprints.COMPUTATION + 1)
    assert fingerprint(FILES, TYPES, DEFAULT) != FIRST
