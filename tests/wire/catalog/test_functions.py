"""The codec of functions: there and back, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.functions import Function, FunctionName, Resource, ResourceKind
from hmstats.wire.catalog.functions import function_from_thrift, function_to_thrift
from hmstats.wire.idl import hive_metastore

NAMES = st.text("abcdefgh_123", min_size=1, max_size=8)
FUNCTIONS = st.builds(
    Function,
    name=st.builds(FunctionName, NAMES, NAMES, NAMES),
    class_name=st.text(max_size=20),
    owner=st.none() | st.text(max_size=8),
    owner_type=st.sampled_from(["USER", "GROUP", "ROLE"]),
    created_seconds=st.integers(0, 2**31 - 1),
    resources=st.lists(st.builds(Resource, st.sampled_from(ResourceKind), st.text(max_size=20)), max_size=3).map(tuple),
)


@given(FUNCTIONS)
def test_a_function_comes_back_as_it_went(function: Function) -> None:
    assert function_from_thrift(function_to_thrift(function)) == function


def test_names_come_in_lower_case_and_without_catalog_in_the_default_one() -> None:
    struct = hive_metastore.Function(
        functionName=" Upper ", dbName="Sales", className="org.Upper", ownerType=1, functionType=1
    )
    assert function_from_thrift(struct).name == FunctionName("hive", "sales", "upper")


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("functionName", None, MetaError),
        ("dbName", None, MetaError),
        ("className", None, InvalidObject),
        ("ownerType", None, MetaError),
        ("ownerType", 9, MetaError),
        ("functionType", None, MetaError),
        ("functionType", 2, MetaError),
        ("resourceUris", [hive_metastore.ResourceUri(resourceType=7, uri="x")], InvalidObject),
        ("resourceUris", [hive_metastore.ResourceUri(resourceType=1)], InvalidObject),
    ],
)
def test_what_is_missing_or_unknown_is_refused(field: str, value: object, error: type[Exception]) -> None:
    struct = hive_metastore.Function(functionName="f", dbName="d", className="c", ownerType=1, functionType=1)
    setattr(struct, field, value)
    with pytest.raises(error):
        function_from_thrift(struct)
