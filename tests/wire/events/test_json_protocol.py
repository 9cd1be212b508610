"""Texts of Thrift's JSON protocol, read back by Apache's own implementation into another package's classes."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymetastore.hive_metastore import ttypes
from tests.store.catalog_values import STORAGES
from tests.wire.strategies import column_statistics
from thrift.protocol.TJSONProtocol import TJSONProtocol
from thrift.transport.TTransport import TMemoryBuffer

from hmstats.model.catalog.objects import Storage
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.wire.catalog.objects import storage_to_thrift
from hmstats.wire.events.json_protocol import struct_to_json
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.statistics.column_statistics import column_to_thrift


def read(text: str, struct_class: Any) -> Any:
    """The struct in a text, read by Apache's implementation."""
    struct = struct_class()
    struct.read(TJSONProtocol(TMemoryBuffer(text.encode())))
    return struct


def plain(value: Any) -> Any:
    """Structs of either library as maps of the fields that have a value."""
    if hasattr(value, "thrift_spec"):
        spec = value.thrift_spec
        names = [each[1] for each in spec.values()] if isinstance(spec, dict) else [each[2] for each in spec if each]
        return {name: plain(found) for name in names if (found := getattr(value, name, None)) is not None}
    if isinstance(value, dict):
        return {tuple(key) if isinstance(key, list) else key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value


@given(STORAGES)
def test_a_storage_comes_back(storage: Storage) -> None:
    struct = storage_to_thrift(storage)
    struct.skewedInfo.skewedColValueLocationMaps = {}  # a map whose keys are lists: only Java reads it back
    assert plain(read(struct_to_json(struct), ttypes.StorageDescriptor)) == plain(struct)


@given(column_statistics())
def test_column_statistics_come_back_with_their_sketches(column: ColumnStatistics) -> None:
    struct = column_to_thrift(column, hive4=True, sketches=True)
    back = read(struct_to_json(struct), ttypes.ColumnStatisticsObj)
    assert plain(back) == {**plain(struct), "statsData": _known_there(plain(struct)["statsData"])}


def _known_there(data: dict[str, Any]) -> dict[str, Any]:
    """Statistics without the fields that the other package is too old to know."""
    known = {each[2] for each in ttypes.ColumnStatisticsData.thrift_spec if each}
    histogram = any(each and each[2] == "histogram" for each in ttypes.LongColumnStatsData.thrift_spec)
    return {
        kind: {name: value for name, value in fields.items() if histogram or name != "histogram"}
        for kind, fields in data.items()
        if kind in known
    }


@pytest.mark.parametrize(
    ("struct", "text"),
    [
        (api.Date(), "{}"),
        (api.Date(daysSinceEpoch=-5), '{"1":{"i64":-5}}'),
        (
            api.SkewedInfo(
                skewedColNames=["a"], skewedColValues=[["1", "x"]], skewedColValueLocationMaps={("1",): "p"}
            ),
            '{"1":{"lst":["str",1,"a"]},"2":{"lst":["lst",1,["str",2,"1","x"]]},'
            '"3":{"map":["lst","str",1,{["str",1,"1"]:"p"}]}}',
        ),
        (api.PrincipalPrivilegeSet(userPrivileges={}), '{"1":{"map":["str","lst",0,{}]}}'),
        (api.OpenTxnsResponse(txn_ids=[3, 4]), '{"1":{"lst":["i64",2,3,4]}}'),
        (
            api.StorageDescriptor(compressed=True, location='a"\\\n\x01ä/'),
            '{"2":{"str":"a\\"\\\\\\n\\u0001ä/"},"5":{"tf":1}}',
        ),
        (api.Decimal(scale=2, unscaled=b"\x00\xff\x01\x02"), '{"1":{"str":"AP8BAg"},"3":{"i16":2}}'),
    ],
)
def test_texts(struct: Any, text: str) -> None:
    assert struct_to_json(struct) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(math.inf, '"Infinity"'), (-math.inf, '"-Infinity"'), (math.nan, '"NaN"'), (1, "1.0"), (-0.5, "-0.5")],
)
def test_numbers_that_json_has_not_are_texts(value: float, text: str) -> None:
    struct = api.DoubleColumnStatsData(lowValue=value, numNulls=0, numDVs=0)
    assert struct_to_json(struct) == f'{{"1":{{"dbl":{text}}},"3":{{"i64":0}},"4":{{"i64":0}}}}'


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3))
def test_any_text_is_written_as_a_map(parameters: dict[str, str]) -> None:
    clean = {key: value for key, value in parameters.items() if _encodable(key + value)}
    back = read(struct_to_json(api.EnvironmentContext(properties=clean)), ttypes.EnvironmentContext)
    assert back.properties == clean


def _encodable(text: str) -> bool:
    return not any("\ud800" <= each <= "\udfff" for each in text)
