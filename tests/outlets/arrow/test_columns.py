"""Columns are numbered as the field nodes of a record batch are."""

import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.outlets.examples import COMPLEX_DATA
from tests.outlets.types import HIVE_TYPES

from hmstats.model.catalog.objects import Column
from hmstats.outlets.arrow.columns import by_path, nodes, values_type
from hmstats.outlets.arrow.hive_types import arrow_schema


def field_nodes(batch: pa.RecordBatch) -> int:
    """The number of field nodes in the batch's IPC message: the length of the vector in field 1 of RecordBatch."""
    metadata = pa.ipc.read_message(batch.serialize()).metadata.to_pybytes()
    message = struct.unpack_from("<I", metadata, 0)[0]
    header = _field(metadata, message, 2)
    record_batch = header + struct.unpack_from("<I", metadata, header)[0]
    vector = _field(metadata, record_batch, 1)
    return int(struct.unpack_from("<I", metadata, vector + struct.unpack_from("<I", metadata, vector)[0])[0])


def _field(content: bytes, table: int, number: int) -> int:
    """Where a FlatBuffers table has its field of this number."""
    vtable = table - struct.unpack_from("<i", content, table)[0]
    return int(table + struct.unpack_from("<H", content, vtable + 4 + 2 * number)[0])


def empty(schema: pa.Schema) -> pa.RecordBatch:
    arrays = [pa.nulls(0, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@given(st.lists(HIVE_TYPES, min_size=1, max_size=4))
def test_as_many_as_field_nodes(types: list[str]) -> None:
    schema = arrow_schema([Column(f"c{number}", type_) for number, type_ in enumerate(types)])
    found = nodes(schema)
    assert len(found) == field_nodes(empty(schema))
    assert [node.number for node in found] == list(range(len(found)))
    assert [(node.path, node.type) for node in found if node.top] == [(field.name, field.type) for field in schema]


@pytest.mark.parametrize(
    "type_",
    [
        pa.dictionary(pa.int8(), pa.list_(pa.string())),
        pa.run_end_encoded(pa.int16(), pa.string()),
        pa.list_(pa.struct([("x", pa.int8())]), 2),
        pa.list_view(pa.int8()),
        pa.large_list(pa.map_(pa.string(), pa.int8())),
        pa.uuid(),
        pa.null(),
        pa.fixed_shape_tensor(pa.int32(), (2,)),
    ],
)
def test_types_that_hive_lacks(type_: pa.DataType) -> None:
    schema = pa.schema([("a", type_), ("b", pa.int8())])
    assert len(nodes(schema)) == field_nodes(empty(schema))
    assert nodes(schema)[-1].path == "b"


def test_the_specifications_complex_example() -> None:
    paths = [node.path for node in nodes(COMPLEX_DATA.schema)]
    assert paths == ["col1", "col1.a", "col1.b", "col1.b.item", "col1.c", "col2"]


def test_a_map_has_a_node_for_its_entries() -> None:
    found = nodes(pa.schema([("m", pa.map_(pa.string(), pa.int8()))]))
    assert [node.path for node in found] == ["m", "m.entries", "m.entries.key", "m.entries.value"]


def test_a_column_wins_over_a_part_with_its_name() -> None:
    found = nodes(pa.schema([("a", pa.struct([("b", pa.int8())])), ("a.b", pa.string()), ("a.b", pa.date32())]))
    assert by_path(found)["a.b"].number == 2
    assert by_path(found)["a"].number == 0


def test_the_type_of_the_values() -> None:
    assert values_type(pa.dictionary(pa.int8(), pa.date32())) == pa.date32()
    assert values_type(pa.run_end_encoded(pa.int16(), pa.dictionary(pa.int8(), pa.string()))) == pa.string()
    assert values_type(pa.uuid()) == pa.binary(16)
