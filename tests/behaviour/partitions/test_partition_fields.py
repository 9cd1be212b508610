"""Partitions with only the fields that a request names, or without what it leaves out."""

from typing import Any

import pytest
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    """A table with three partitions that have parameters."""
    if metastore.generation < 4:
        pytest.skip("get_partitions_with_specs came with Hive 4")
    metastore.table(keys=("k",))
    new = [metastore.partition(each) for each in "abc"]
    for each in new:
        each.parameters = {"keep": each.values[0], "drop.me": "x"}
    assert metastore.client().add_partitions(new) == 3
    return metastore


def read(metastore: Metastore, *fields: str, mode: int | None = None, filters: Any = None, **patterns: str) -> Any:
    request = api.GetPartitionsRequest(
        dbName=metastore.database,
        tblName="t",
        projectionSpec=api.GetProjectionsSpec(fieldList=list(fields), **patterns),
        filterSpec=api.GetPartitionsFilterSpec(filterMode=mode, filters=filters),
    )
    (spec,) = metastore.client().get_partitions_with_specs(request).partitionSpec
    return spec.sharedSDPartitionSpec


def test_only_the_fields_asked_for_come(filled: Metastore) -> None:
    found = read(filled, "values", "sd.location", "sd.inputFormat")
    place = filled.read_table().sd.location
    assert (found.sd.location, found.sd.inputFormat) == (place, filled.storage().inputFormat)
    assert [getattr(found.sd, each) for each in ("cols", "outputFormat", "serdeInfo", "parameters")] == [None] * 4
    assert [(each.values, each.relativePath, each.parameters) for each in found.partitions] == [
        (["a"], "/k=a", None),
        (["b"], "/k=b", None),
        (["c"], "/k=c", None),
    ]


def test_fields_inside_fields(filled: Metastore) -> None:
    found = read(filled, "values", "sd.cols", "sd.serdeInfo.serializationLib")
    serde = filled.storage().serdeInfo.serializationLib
    assert found.sd.serdeInfo == api.SerDeInfo(serializationLib=serde)
    assert [each.name for each in found.sd.cols] == [each.name for each in filled.storage().cols]
    assert (found.sd.location, found.sd.inputFormat, found.sd.parameters) == (None, None, None)


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        ({"includeParamKeyPattern": "k%"}, {"keep"}),
        ({"excludeParamKeyPattern": "k%"}, {"drop.me"}),
        ({"includeParamKeyPattern": "%e%", "excludeParamKeyPattern": "drop_me"}, {"keep"}),
        ({"includeParamKeyPattern": r"drop\_me"}, set()),
    ],
)
def test_patterns_choose_parameters(filled: Metastore, patterns: Any, kept: set[str]) -> None:
    found = read(filled, "values", "parameters", **patterns)
    own = [(each.parameters or {}).keys() & {"keep", "drop.me"} for each in found.partitions]
    assert own == [kept] * 3


@pytest.mark.parametrize(
    ("mode", "filters"),
    [
        (api.PartitionFilterMode.BY_NAMES, ["k=b"]),
        (api.PartitionFilterMode.BY_VALUES, ["b"]),
        (api.PartitionFilterMode.BY_EXPR, ["k > 'a'", "k < 'c'"]),
    ],
)
def test_fields_of_chosen_partitions(filled: Metastore, mode: int, filters: list[str]) -> None:
    found = read(filled, "values", "parameters", mode=mode, filters=filters, includeParamKeyPattern="keep")
    assert [(each.values, each.parameters) for each in found.partitions] == [(["b"], {"keep": "b"})]


@pytest.mark.parametrize(("mode", "filters"), [(api.PartitionFilterMode.BY_VALUES, ["b"]), (None, None)])
def test_every_field_of_chosen_partitions(filled: Metastore, mode: int | None, filters: Any) -> None:
    found = read(filled, mode=mode, filters=filters, includeParamKeyPattern="keep")
    chosen = "b" if mode is not None and filled.ours else "abc"
    assert [(each.values, each.parameters) for each in found.partitions] == [
        ([each], {"keep": each}) for each in chosen
    ]
    assert found.sd.serdeInfo.serializationLib == filled.storage().serdeInfo.serializationLib


def test_an_unknown_field_is_refused(filled: Metastore) -> None:
    with pytest.raises(api.MetaException, match=r"Invalid .*nothing"):
        read(filled, "values", "nothing")


def asked(metastore: Metastore, **left_out: Any) -> dict[str, list[Any]]:
    """The partition `k=b` by every call whose request may leave something out, by the call."""
    client, table = metastore.client(), {"dbName": metastore.database, "tblName": "t"}
    by_names = {"db_name": metastore.database, "tbl_name": "t", "names": ["k=b"]}
    answers = {
        "get_partitions_req": api.PartitionsRequest(**table, **left_out),
        "get_partitions_by_names_req": api.GetPartitionsByNamesRequest(**by_names, **left_out),
        "get_partitions_ps_with_auth_req": api.GetPartitionsPsWithAuthRequest(**table, partVals=["b"], **left_out),
    }
    if metastore.ours:  # Hive's has no class that reads a filter's text
        answers["get_partitions_by_expr"] = api.PartitionsByExprRequest(**table, expr=b"k = 'b'", **left_out)
    found = {call: getattr(client, call)(request).partitions for call, request in answers.items()}
    filtered = api.GetPartitionsByFilterRequest(catName="hive", **table, filter="k = 'b'", **left_out)
    found["get_partitions_by_filter_req"] = client.get_partitions_by_filter_req(filtered)
    return {call: [each for each in partitions if each.values == ["b"]] for call, partitions in found.items()}


def test_partitions_without_columns(filled: Metastore) -> None:
    for call, (found,) in asked(filled, skipColumnSchemaForPartition=True).items():
        assert (call, found.sd.cols) == (call, [])
        assert found.sd.location == f"{filled.read_table().sd.location}/k=b"
        assert found.parameters["keep"] == "b"


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        ({"includeParamKeyPattern": "k%"}, {"keep"}),
        ({"excludeParamKeyPattern": "k%"}, {"drop.me"}),
        ({"includeParamKeyPattern": "%e%", "excludeParamKeyPattern": "drop_me"}, {"keep"}),
        ({"includeParamKeyPattern": "", "excludeParamKeyPattern": ""}, {"keep", "drop.me"}),
        ({"includeParamKeyPattern": r"drop\_me"}, set()),
    ],
)
def test_parameters_by_patterns(filled: Metastore, patterns: Any, kept: set[str]) -> None:
    for call, (found,) in asked(filled, **patterns).items():
        assert (call, found.parameters.keys() & {"keep", "drop.me"}) == (call, kept)
        assert len(found.sd.cols) == len(filled.storage().cols)


def test_statistics_come_with_partitions_that_leave_something_out(our_metastore: Metastore) -> None:
    our_metastore.table(columns={"l": "bigint"}, keys=("k",))
    our_metastore.add_partitions(("a",), columns={"l": "bigint"})
    written = statistics(our_metastore, statistics_of("l"), partition="k=a")
    our_metastore.client().update_partition_column_statistics(written)
    request = api.GetPartitionsByNamesRequest(
        db_name=our_metastore.database,
        tbl_name="t",
        names=["k=a"],
        get_col_stats=True,
        skipColumnSchemaForPartition=True,
        excludeParamKeyPattern="COLUMN%",
    )
    (found,) = our_metastore.client().get_partitions_by_names_req(request).partitions
    assert [each.colName for each in found.colStats.statsObj] == ["l"]
    assert (found.sd.cols, "COLUMN_STATS_ACCURATE" in found.parameters) == ([], False)
