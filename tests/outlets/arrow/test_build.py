"""Arrays are those of the specification's examples, to the last offset; what does not fit is refused."""

from collections.abc import Sequence

import nanoarrow as na
import pyarrow as pa
import pytest
from tests.outlets import examples
from tests.outlets.examples import ABOUT_MAX, ABOUT_MIN, DISTINCT, MAX, MIN, NULLS, ROWS

from hmstats.errors import InvalidInput
from hmstats.outlets.arrow.build import MOST_TYPES, Statistic, array, arrays


def held(built: pa.StructArray) -> pa.MapArray:
    return built.field("statistics")


def test_the_schema_is_the_specifications_with_its_nullability() -> None:
    type_ = array(examples.COMPLEX).type
    assert [(field.name, field.nullable) for field in type_.fields] == [("column", True), ("statistics", False)]
    assert type_.field("column").type == pa.int32()
    of_map = type_.field("statistics").type
    assert (of_map.key_type, of_map.key_field.nullable) == (pa.dictionary(pa.int32(), pa.string()), False)
    assert not of_map.item_field.nullable
    assert of_map.item_type.mode == "dense"
    assert [field.type for field in (of_map.item_type.field(0), of_map.item_type.field(1))] == [
        pa.int64(),
        pa.float64(),
    ]
    assert of_map.item_type.type_codes == [0, 1]


def test_a_simple_record_batch() -> None:
    built = array(examples.SIMPLE)
    built.validate(full=True)
    assert built.field("column").to_pylist() == [None, 0, 1]
    assert held(built).offsets.to_pylist() == [0, 1, 5, 9]
    keys, items = held(built).keys, held(built).items
    assert keys.dictionary.to_pylist() == [ROWS, NULLS, DISTINCT, MAX, MIN]
    assert keys.indices.to_pylist() == [0, 1, 2, 3, 4, 1, 2, 3, 4]
    assert items.type.num_fields == 1
    assert items.field(0).type == pa.int64()
    assert items.field(0).to_pylist() == [5, 0, 2, 5, 1, 1, 3, 2, 0]
    assert items.type_codes.to_pylist() == [0] * 9
    assert items.offsets.to_pylist() == [0, 1, 2, 3, 4, 5, 6, 7, 8]


def test_a_complex_record_batch() -> None:
    built = array(examples.COMPLEX)
    built.validate(full=True)
    assert built.field("column").to_pylist() == [None, 0, 1, 2, 3, 4, 5]
    assert held(built).offsets.to_pylist() == [0, 1, 2, 6, 7, 9, 12, 14]
    keys, items = held(built).keys, held(built).items
    assert keys.dictionary.to_pylist() == [ROWS, NULLS, DISTINCT, ABOUT_MAX, ABOUT_MIN, MAX, MIN]
    assert keys.indices.to_pylist() == [0, 1, 1, 2, 3, 4, 1, 5, 6, 1, 3, 4, 1, 2]
    assert items.type.num_fields == 2
    assert items.field(0).to_pylist() == [3, 0, 0, 3, 5, 0, 1, 99, 20, 1, 1, 2]
    assert items.field(1).to_pylist() == [3.0, -3.0]
    assert items.type_codes.to_pylist() == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]
    assert items.offsets.to_pylist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 10, 11]


@pytest.mark.parametrize(
    ("statistics", "columns", "offsets", "indices", "longs", "doubles"),
    [
        (examples.SIMPLE_ARRAY, [0], [0, 5], [0, 1, 2, 3, 4], [5, 1, 3, 2, 0], []),
        (
            examples.COMPLEX_ARRAY,
            [0, 1, 2, 3, 4],
            [0, 2, 6, 7, 9, 12],
            [0, 1, 1, 2, 3, 4, 1, 5, 6, 1, 3, 4],
            [3, 0, 0, 3, 5, 0, 1, 99, 20, 1],
            [3.0, -3.0],
        ),
    ],
)
def test_arrays_that_are_no_record_batch(
    statistics: Sequence[Statistic],
    columns: list[int],
    offsets: list[int],
    indices: list[int],
    longs: list[int],
    doubles: list[float],
) -> None:
    built = array(statistics)
    assert built.field("column").to_pylist() == columns
    assert held(built).offsets.to_pylist() == offsets
    assert held(built).keys.indices.to_pylist() == indices
    items = held(built).items
    assert [items.field(place).to_pylist() for place in range(items.type.num_fields)] == (
        [longs, doubles] if doubles else [longs]
    )
    assert items.offsets.to_pylist() == [*range(len(longs)), *range(len(doubles))]


def test_targets_share_type_and_dictionary() -> None:
    built = arrays([examples.SIMPLE, [], examples.COMPLEX])
    assert [len(each) for each in built] == [3, 0, 7]
    assert len({each.type for each in built}) == 1
    assert len({tuple(held(each).keys.dictionary.to_pylist()) for each in built}) == 1
    for each in built:
        each.validate(full=True)


def test_nothing_is_an_array_without_rows() -> None:
    assert len(array([])) == 0
    assert arrays([]) == []


def test_more_types_than_a_union_holds_are_refused() -> None:
    types = [pa.decimal128(precision, scale) for precision in range(1, 39) for scale in range(precision)]
    fitting = [Statistic(0, MAX, None, type_) for type_ in types[:MOST_TYPES]]
    array(fitting).validate(full=True)
    with pytest.raises(InvalidInput, match="must have 128 types at most, found 129"):
        array([*fitting, Statistic(0, MAX, None, types[MOST_TYPES])])


def test_another_library_in_the_process_reads_it_over_the_c_data_interface() -> None:
    seen = na.c_array(array(examples.COMPLEX)).view()
    column, statistics = seen.children
    assert list(na.Array(array(examples.COMPLEX)).child(0).iter_py()) == [None, 0, 1, 2, 3, 4, 5]
    assert list(column.buffer(1)) == [0, 0, 1, 2, 3, 4, 5]
    assert list(statistics.buffer(1)) == [0, 1, 2, 6, 7, 9, 12, 14]
    key, value = statistics.child(0).children
    assert list(key.buffer(1)) == [0, 1, 1, 2, 3, 4, 1, 5, 6, 1, 3, 4, 1, 2]
    types, offsets = value.buffer(0), value.buffer(1)
    assert list(types) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]
    assert list(offsets) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 10, 11]
    assert list(value.child(1).buffer(1)) == [3.0, -3.0]
    assert na.Schema(array(examples.COMPLEX).type).field(1).nullable is False
