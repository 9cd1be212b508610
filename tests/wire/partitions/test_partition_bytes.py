"""Results of partition calls as bytes: byte for byte what thriftpy2 makes of the structs."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.transport import TCyMemoryBuffer

from hmstats.model.catalog.objects import Column, Partition, SerDe, SkewedInfo, SortColumn, Storage, TableName
from hmstats.wire.catalog.objects import partition_to_thrift
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.partitions import partition_bytes

NAME = TableName("hive", "d", "t")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
OPTIONAL = st.none() | TEXTS
PARAMETERS = st.dictionaries(TEXTS, TEXTS, max_size=3)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)
INTEGERS = st.integers(-(2**31), 2**31 - 1)
STORAGES = st.builds(
    Storage,
    columns=st.lists(st.builds(Column, TEXTS, TEXTS, OPTIONAL), max_size=3).map(tuple),
    location=OPTIONAL,
    input_format=OPTIONAL,
    output_format=OPTIONAL,
    compressed=st.booleans(),
    buckets=INTEGERS,
    serde=st.builds(SerDe, OPTIONAL, OPTIONAL, PARAMETERS, OPTIONAL, OPTIONAL, OPTIONAL, st.none() | st.integers(1, 2)),
    bucket_columns=LISTS,
    sort_columns=st.lists(st.builds(SortColumn, TEXTS, st.integers(0, 1)), max_size=2).map(tuple),
    parameters=PARAMETERS,
    skewed=st.none() | st.builds(SkewedInfo, LISTS, st.lists(LISTS, max_size=2).map(tuple)),
    stored_as_subdirectories=st.booleans(),
)
PARTITIONS = st.builds(
    Partition,
    values=LISTS,
    created_seconds=INTEGERS,
    last_access_seconds=INTEGERS,
    storage=st.none() | STORAGES,
    parameters=PARAMETERS,
    write_id=st.integers(-1, 2**62),
)


def by_thriftpy2(method: str, success: Any) -> bytes:
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer).write_struct(methods()[method].result(success=success))
    encoded: bytes = buffer.getvalue()
    return encoded


@given(partitions=st.lists(PARTITIONS, max_size=4))
def test_a_list_and_a_list_in_a_struct(partitions: list[Partition]) -> None:
    structs = [partition_to_thrift(NAME, each) for each in partitions]
    assert partition_bytes.listed_result(NAME, partitions) == by_thriftpy2("get_partitions", structs)
    wrapped = by_thriftpy2("get_partitions_req", api.PartitionsResponse(partitions=structs))
    assert partition_bytes.wrapped_result(NAME, partitions) == wrapped


STORAGE = Storage(columns=(Column("l", "bigint"),), location="file:/a", serde=SerDe(library="x", parameters={"k": "v"}))


@pytest.mark.parametrize(
    "other",
    [
        replace(STORAGE, columns=(Column("l", "int"),)),
        replace(STORAGE, location="file:/b"),
        replace(STORAGE, location=None),
        replace(STORAGE, input_format="i"),
        replace(STORAGE, output_format="o"),
        replace(STORAGE, compressed=True),
        replace(STORAGE, buckets=3),
        replace(STORAGE, bucket_columns=("l",)),
        replace(STORAGE, sort_columns=(SortColumn("l", 1),)),
        replace(STORAGE, parameters={"a": "b"}),
        replace(STORAGE, stored_as_subdirectories=True),
        replace(STORAGE, skewed=SkewedInfo(("l",), (("1",),), {("1",): "file:/c"})),
        replace(STORAGE, serde=replace(STORAGE.serde, name="other")),
        replace(STORAGE, serde=replace(STORAGE.serde, library="other")),
        replace(STORAGE, serde=replace(STORAGE.serde, description="other")),
        replace(STORAGE, serde=replace(STORAGE.serde, serializer_class="other")),
        replace(STORAGE, serde=replace(STORAGE.serde, deserializer_class="other")),
        replace(STORAGE, serde=replace(STORAGE.serde, serde_type=1)),
        replace(STORAGE, serde=replace(STORAGE.serde, parameters={"k": "w"})),
    ],
)
def test_descriptors_that_differ_in_one_field_are_told_apart(other: Storage) -> None:
    partitions = [Partition(values=("1",), storage=each) for each in (STORAGE, other, STORAGE)]
    structs = [partition_to_thrift(NAME, each) for each in partitions]
    assert partition_bytes.listed_result(NAME, partitions) == by_thriftpy2("get_partitions", structs)
