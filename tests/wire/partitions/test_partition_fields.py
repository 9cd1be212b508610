"""Partitions with only the fields that a request names."""

from dataclasses import replace
from typing import Any

import pytest

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import Column, Partition, SerDe, Storage, Table, TableName
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.partitions.partition_fields import EVERY_FIELD, fields_from_thrift
from hmstats.wire.partitions.partition_specs import grouped_specs

STORAGE = Storage(
    columns=(Column("a", "int", "first"), Column("b", "string")),
    location="file:/t",
    input_format="in",
    serde=SerDe(name="s", library="lib", parameters={"p": "1"}),
    parameters={"sd": "1"},
)
TABLE = Table(name=TableName("hive", "d", "t"), storage=STORAGE, partition_keys=(Column("k", "string"),))


def partition(value: str, *, place: str | None = None, storage: Storage = STORAGE, **parameters: str) -> Partition:
    placed = replace(storage, location=place or f"file:/t/k={value}")
    return Partition(values=(value,), storage=placed, parameters=parameters, created_seconds=7, last_access_seconds=8)


def asked(*fields: str, **patterns: str) -> Any:
    return fields_from_thrift(api.GetProjectionsSpec(fieldList=list(fields), **patterns))


def one(fields: Any, *partitions: Partition) -> tuple[Any, list[Any]]:
    """The one shared storage and its partitions."""
    (spec,) = grouped_specs(TABLE, partitions, fields)
    assert (spec.dbName, spec.tableName, spec.catName) == ("d", "t", "hive")
    return spec.sharedSDPartitionSpec.sd, spec.sharedSDPartitionSpec.partitions


def test_without_fields_everything_comes() -> None:
    assert fields_from_thrift(None) is EVERY_FIELD
    storage, (found,) = one(asked(), partition("1", x="y"))
    assert (storage.location, storage.inputFormat, len(storage.cols)) == ("file:/t", "in", 2)
    assert (found.values, found.relativePath, found.parameters) == (["1"], "/k=1", {"x": "y"})
    assert (found.createTime, found.lastAccessTime) == (7, 8)


def test_what_is_not_asked_for_is_not_there() -> None:
    storage, (found,) = one(asked("values"), partition("1", x="y"))
    assert storage == api.StorageDescriptor()
    assert found == api.PartitionWithoutSD(values=["1"], createTime=0, lastAccessTime=0)


def test_fields_inside_a_storage() -> None:
    storage, (found,) = one(asked("sd.location", "sd.serdeInfo.serializationLib", "sd.cols.name"), partition("1"))
    assert storage == api.StorageDescriptor(
        cols=[api.FieldSchema(name="a"), api.FieldSchema(name="b")],
        location="file:/t",
        serdeInfo=api.SerDeInfo(serializationLib="lib"),
    )
    assert (found.relativePath, found.values, found.parameters) == ("/k=1", None, None)


@pytest.mark.parametrize("fields", [("sd.cols", "sd.cols.name"), ("sd.cols.name", "sd.cols")])
def test_a_field_that_is_wanted_whole_is_whole(fields: tuple[str, ...]) -> None:
    storage, _ = one(asked(*fields), partition("1"))
    assert storage.cols[0] == api.FieldSchema(name="a", type="int", comment="first")
    assert storage.serdeInfo is None


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        ({"includeParamKeyPattern": "a%"}, {"a": "1", "ab": "2"}),
        ({"excludeParamKeyPattern": "a%"}, {"b.": "3"}),
        ({"includeParamKeyPattern": "a_"}, {"ab": "2"}),
        ({"includeParamKeyPattern": "a%", "excludeParamKeyPattern": "%b"}, {"a": "1"}),
        ({"includeParamKeyPattern": "b."}, {"b.": "3"}),
        ({"includeParamKeyPattern": "."}, {}),
        ({"includeParamKeyPattern": ""}, {"a": "1", "ab": "2", "b.": "3"}),
    ],
)
@pytest.mark.parametrize("fields", [(), ("parameters",)])
def test_patterns_choose_parameters(patterns: dict[str, str], kept: dict[str, str], fields: tuple[str, ...]) -> None:
    given = replace(partition("1"), parameters={"a": "1", "ab": "2", "b.": "3"})
    _, (found,) = one(asked(*fields, **patterns), given)
    assert found.parameters == kept


def test_partitions_part_by_what_is_wanted_of_their_storage_and_keep_their_order() -> None:
    other = replace(STORAGE, input_format="other")
    mixed = [partition("1"), partition("2", storage=other), partition("3")]
    _, found = one(asked("values", "sd.location", "sd.outputFormat"), *mixed)
    assert [each.values for each in found] == [["1"], ["2"], ["3"]]
    specs = grouped_specs(TABLE, mixed, asked("values", "sd.inputFormat"))
    shared = [each.sharedSDPartitionSpec for each in specs]
    assert [(each.sd.inputFormat, [p.values for p in each.partitions]) for each in shared] == [
        ("in", [["1"], ["3"]]),
        ("other", [["2"]]),
    ]


def test_a_partition_elsewhere_is_listed_with_the_same_fields() -> None:
    away = partition("2", place="file:/elsewhere", x="y", z="w")
    specs = grouped_specs(TABLE, [partition("1"), away], asked("sd.location", "parameters", excludeParamKeyPattern="z"))
    assert [each.relativePath for each in specs[0].sharedSDPartitionSpec.partitions] == ["/k=1"]
    (listed,) = specs[1].partitionList.partitions
    assert listed.sd == api.StorageDescriptor(location="file:/elsewhere")
    assert (listed.parameters, listed.values) == ({"x": "y"}, None)
    _, found = one(asked("parameters"), partition("1"), away)
    assert [each.relativePath for each in found] == [None, None]


def test_a_partition_without_storage_has_none_of_its_fields() -> None:
    storage, (found,) = one(asked("values", "sd.inputFormat"), Partition(values=("1",)))
    assert (storage.inputFormat, found.values) == (None, ["1"])


@pytest.mark.parametrize("field", ["nothing", "sd.nothing", "sd.cols.nothing", "values.nothing", ""])
def test_an_unknown_field_is_refused_by_name(field: str) -> None:
    with pytest.raises(MetaError, match=f"Invalid field name {field}: a partition has no such field"):
        asked("values", field)
