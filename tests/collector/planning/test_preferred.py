"""What an analysis takes from preferences, and what its caller says instead."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.collector.dry_run import dry_run
from hmstats.collector.options import AS_PREFERRED, DEFAULT, Choices, Options, Sketches
from hmstats.collector.planning.plan import LEFT_OUT
from hmstats.collector.planning.preferred import PreferredRequest, apply_preferences
from hmstats.collector.planning.prepare import prepare
from hmstats.collector.request.statement import Statement
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.preferences.preference import Subject

COLUMNS = {"a": "int", "b": "int"}


@pytest.fixture
def service(our_metastore: Metastore) -> Iterator[client.Metastore]:
    our_metastore.table("t", COLUMNS, keys=("p",))
    our_metastore.add_partitions(("1",), ("2",), columns=COLUMNS)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as made:
        yield made


def prefer(service: client.Metastore, metastore: Metastore, put: dict[str, str], **of: Any) -> None:
    service.preferences.change(Subject(DatabaseName("hive", metastore.database), "t", **of), put)


def asked(
    service: client.Metastore, metastore: Metastore, wanted: Options | Choices = AS_PREFERRED, **more: Any
) -> PreferredRequest:
    return apply_preferences(service, Statement(table(metastore), **more), wanted, row_counts=False)


def table(metastore: Metastore) -> TableName:
    return TableName("hive", metastore.database, "t")


def test_without_preferences_the_defaults_count(service: client.Metastore, our_metastore: Metastore) -> None:
    assert asked(service, our_metastore).options == DEFAULT
    assert asked(service, our_metastore).options.identity == DEFAULT.identity


def test_what_is_not_said_is_preferred(service: client.Metastore, our_metastore: Metastore) -> None:
    prefer(service, our_metastore, {"sample": "0.5", "precision": "14", "top_k": "off", "puffin_columns": "A, b"})
    found = asked(service, our_metastore).options
    assert (found.sample_fraction, found.precision, found.top_k, found.histogram) == (0.5, 14, False, True)
    assert (found.puffin_columns, DEFAULT.puffin_columns) == ("a,b", "text")
    said = asked(service, our_metastore, Choices(sample_fraction=1.0, top_k=True, puffin_columns="*")).options
    assert said.puffin_columns == "all"
    assert (said.sample_fraction, said.precision, said.top_k) == (1.0, 14, True)
    assert asked(service, our_metastore, DEFAULT).options == DEFAULT
    prefer(service, our_metastore, {"statistics": "bounds"})
    assert asked(service, our_metastore).options.sketches_of("a") == Sketches(False, False, False)
    assert asked(service, our_metastore, Choices(distinct=True)).options.distinct


def test_columns_have_preferences_of_their_own(service: client.Metastore, our_metastore: Metastore) -> None:
    prefer(service, our_metastore, {"statistics": "bounds"}, column="a")
    prefer(service, our_metastore, {"statistics": "none"}, column="b")
    found = asked(service, our_metastore)
    assert found.options.by_column == {"a": Sketches(False, False, False)}
    assert found.options.identity != DEFAULT.identity
    plan, _ = prepare(service, found.request, found.options, changed_only=False)
    assert (list(plan.types), plan.skipped) == (["a"], {"b": LEFT_OUT})
    named = asked(service, our_metastore, columns=("b",))
    assert list(prepare(service, named.request, named.options, changed_only=False)[0].types) == ["b"]


def test_rows_alone(service: client.Metastore, our_metastore: Metastore) -> None:
    prefer(service, our_metastore, {"statistics": "rows"})
    found = asked(service, our_metastore)
    assert (found.request.noscan, found.row_counts) == (True, True)
    assert not asked(service, our_metastore, columns=("a",)).request.noscan
    assert not asked(service, our_metastore, Choices(histogram=True)).request.noscan
    counted = Statement(table(our_metastore), columns=(), noscan=True)
    assert not apply_preferences(service, counted, Choices(), row_counts=False).row_counts
    assert dry_run(service, Statement(table(our_metastore)), changed_only=True).columns == ()


def test_automatic_runs(service: client.Metastore, our_metastore: Metastore) -> None:
    def planned() -> tuple[list[str], str | None]:
        plan, _ = prepare(service, Statement(table(our_metastore)), DEFAULT, changed_only=True)
        return [each.name for each in plan.pieces], plan.left_out

    prefer(service, our_metastore, {"automatic": "false"}, partition="p=2")
    assert planned() == (["p=1"], None)
    prefer(service, our_metastore, {"automatic": "false"})
    reason = f"{our_metastore.database}.t is left out of automatic analyses: table {our_metastore.database}.t says so"
    assert planned() == ([], reason)
    prefer(service, our_metastore, {"automatic": "true"}, partition="p=2")
    assert planned() == (["p=2"], None)
    assert len(prepare(service, Statement(table(our_metastore)), DEFAULT, changed_only=False)[0].pieces) == 2


def test_a_preference_comes_before_hives_parameter(service: client.Metastore, our_metastore: Metastore) -> None:
    our_metastore.table("w", {"a": "int"}, parameters={"skip.stats.autoupdate": "true"})
    name = TableName("hive", our_metastore.database, "w")
    assert dry_run(service, Statement(name), changed_only=True).left_out is not None
    service.preferences.change(Subject(name.parent, "w"), {"automatic": "true"})
    assert dry_run(service, Statement(name), changed_only=True).left_out is None
