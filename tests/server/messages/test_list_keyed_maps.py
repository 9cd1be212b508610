"""Maps with lists for keys: taken out of messages, and put into what is decoded."""

import pytest
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.transport import TCyMemoryBuffer

from hmstats.errors import ProtocolError
from hmstats.server.messages.struct_codec import decode_arguments
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods

PLACES = {("a", "1"): "file:/t/a=1", ("grün",): "file:/t/b"}


def _storage(places: dict[tuple[str, ...], str]) -> object:
    skewed = api.SkewedInfo(skewedColNames=["a"], skewedColValues=[["a", "1"]], skewedColValueLocationMaps=places)
    column = api.FieldSchema(name="c", type="int")
    return api.StorageDescriptor(cols=[column], serdeInfo=api.SerDeInfo(parameters={"a": "b"}), skewedInfo=skewed)


def _message(name: str, **arguments: object) -> bytes:
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer).write_struct(methods()[name].arguments(**arguments))
    encoded: bytes = buffer.getvalue()
    return encoded


def test_the_places_of_a_tables_skewed_values_are_read() -> None:
    table = api.Table(tableName="t", dbName="d", sd=_storage(PLACES), parameters={"x": "y"})
    found = decode_arguments(methods()["create_table"], _message("create_table", tbl=table), 0)["tbl"]
    assert found.sd.skewedInfo.skewedColValueLocationMaps == PLACES
    assert found.sd.skewedInfo.skewedColNames == ["a"]
    assert (found.tableName, found.parameters, found.sd.serdeInfo.parameters) == ("t", {"x": "y"}, {"a": "b"})


def test_each_partition_has_its_own() -> None:
    new = [
        api.Partition(values=["1"], dbName="d", tableName="t", sd=_storage(PLACES)),
        api.Partition(values=["2"], dbName="d", tableName="t", sd=_storage({})),
        api.Partition(values=["3"], dbName="d", tableName="t", sd=_storage({("z",): "file:/z"})),
    ]
    message = _message("add_partitions", new_parts=new)
    found = decode_arguments(methods()["add_partitions"], message, 0)["new_parts"]
    assert [each.values for each in found] == [["1"], ["2"], ["3"]]
    places = [each.sd.skewedInfo.skewedColValueLocationMaps for each in found]
    assert places == [PLACES, {}, {("z",): "file:/z"}]


def test_texts_that_are_none_are_refused() -> None:
    table = api.Table(tableName="t", dbName="d", sd=_storage({("abc",): "file:/z"}))
    message = _message("create_table", tbl=table).replace(b"\x00\x00\x00\x03abc", b"\x00\x00\x00\x03a\xffc")
    with pytest.raises(ProtocolError, match="not UTF-8"):
        decode_arguments(methods()["create_table"], message, 0)
