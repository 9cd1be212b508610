"""Tables with only the fields that a request names."""

from typing import Any

import pytest

from hmstats.errors import MetaError
from hmstats.wire.catalog.projection import project
from hmstats.wire.idl import hive_metastore as api


def table() -> Any:
    return api.Table(
        tableName="t",
        dbName="d",
        owner="o",
        createTime=7,
        lastAccessTime=8,
        retention=9,
        parameters={"a": "b"},
        sd=api.StorageDescriptor(
            cols=[api.FieldSchema(name="l", type="bigint")],
            location="file:/t",
            serdeInfo=api.SerDeInfo(serializationLib="lib", parameters={}),
        ),
    )


def asked(*fields: str, **patterns: str) -> Any:
    return api.GetProjectionsSpec(fieldList=list(fields), **patterns)


def test_only_the_named_fields_and_the_numbers_come() -> None:
    found = project(table(), asked("tableName", "owner"))
    assert found == api.Table(tableName="t", owner="o", createTime=7, lastAccessTime=8, retention=9)


def test_a_field_inside_brings_nothing_else_of_what_it_is_in() -> None:
    found = project(table(), asked("sd.location", "sd.serdeInfo.serializationLib"))
    inside = api.StorageDescriptor(location="file:/t", serdeInfo=api.SerDeInfo(serializationLib="lib"))
    assert found == api.Table(sd=inside, createTime=7, lastAccessTime=8, retention=9)


@pytest.mark.parametrize("field", ["parameters", "sd.cols", "sd.cols.name", "sd.serdeInfo.parameters"])
def test_a_field_of_many_values_brings_the_whole_table(field: str) -> None:
    assert project(table(), asked("tableName", field)) == table()


@pytest.mark.parametrize("specification", [None, asked()])
def test_without_fields_the_whole_table_comes(specification: Any) -> None:
    assert project(table(), specification) == table()


def test_a_table_without_storage_has_none_of_its_fields() -> None:
    view = api.Table(tableName="v", createTime=1, lastAccessTime=1, retention=0)
    assert project(view, asked("sd.location")).sd is None


@pytest.mark.parametrize("field", ["nothing", "sd.nothing", "sd.serdeInfo.nothing"])
def test_an_unknown_field_is_refused_by_name(field: str) -> None:
    with pytest.raises(MetaError, match=f"a table has no field {field}"):
        project(table(), asked(field))


def test_a_pattern_without_fields_is_refused() -> None:
    with pytest.raises(MetaError, match="needs a list of fields"):
        project(table(), asked(excludeParamKeyPattern="a.*"))
