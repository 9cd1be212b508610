"""Results of partition calls as bytes: byte for byte what thriftpy2 makes of the structs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.transport import TCyMemoryBuffer

from hmstats.model.catalog.objects import Column, Partition, SerDe, SkewedInfo, SortColumn, Storage, TableName
from hmstats.model.partitions.partitions_by_name import PartitionsByColumn, PartitionsByName
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


def by_column(partitions: Sequence[Partition]) -> PartitionsByColumn:
    """The partitions as a store reads them: equal formats are one object."""
    formats: list[Storage | None] = []
    for each in partitions:
        form = None if each.storage is None else replace(each.storage, location=None)
        formats.append(next((other for other in formats if other == form), form))
    return PartitionsByColumn(
        names=[str(place) for place in range(len(partitions))],
        ids=list(range(len(partitions))),
        values=[each.values for each in partitions],
        created_seconds=[each.created_seconds for each in partitions],
        last_access_seconds=[each.last_access_seconds for each in partitions],
        write_ids=[each.write_id for each in partitions],
        formats=formats,
        locations=[None if each.storage is None else each.storage.location for each in partitions],
        parameters=[each.parameters for each in partitions],
    )


@given(partitions=st.lists(PARTITIONS, max_size=4), unknown=st.booleans())
def test_lists_of_each_answer(partitions: list[Partition], unknown: bool) -> None:
    structs, columns = [partition_to_thrift(NAME, each) for each in partitions], by_column(partitions)
    assert partition_bytes.listed_result(NAME, columns) == by_thriftpy2("get_partitions", structs)
    wrapped = by_thriftpy2("get_partitions_req", api.PartitionsResponse(partitions=structs))
    assert partition_bytes.wrapped_result(NAME, columns) == wrapped
    found = api.PartitionsByExprResult(partitions=structs, hasUnknownPartitions=unknown)
    assert partition_bytes.found_result(NAME, columns, unknown=unknown) == by_thriftpy2("get_partitions_by_expr", found)


@given(partitions=st.lists(PARTITIONS, max_size=4), storage=STORAGES)
def test_partitions_that_share_a_format(partitions: list[Partition], storage: Storage) -> None:
    partitions = [replace(each, storage=replace(storage, location=f"file:/{n}")) for n, each in enumerate(partitions)]
    structs = [partition_to_thrift(NAME, each) for each in partitions]
    assert partition_bytes.listed_result(NAME, by_column(partitions)) == by_thriftpy2("get_partitions", structs)


@given(partitions=st.lists(PARTITIONS, max_size=4))
def test_partitions_are_made_of_columns_when_asked_for(partitions: list[Partition]) -> None:
    found = PartitionsByName(by_column(partitions))
    assert [replace(each, id=None) for each in found.values()] == partitions
    assert list(found) == [str(place) for place in range(len(partitions))]
    assert all(found[name] is found[name] and name in found for name in found)
    assert "other" not in found
