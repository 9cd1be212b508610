"""A parcel as the bytes of a file in a spool folder, both directions side by side.

    hmstats-spool 1 <SHA-256 of all that follows this line, in hexadecimal>
    <one line of JSON: table, keys, madeAt, parameters>
    <a SetStatisticsRequest of thrift/hmstats.thrift in Thrift's binary protocol>

`table` has catalog, database and table; `keys` the partition keys in their order; `madeAt` epoch seconds; `parameters`
one object for each of the request's colStats, in its order. A reader refuses a version that it does not know.
"""

import hashlib
import json
from typing import Any

from thriftpy2.protocol.cybin import ProtocolError, TCyBinaryProtocol
from thriftpy2.thrift import TException
from thriftpy2.transport import TCyMemoryBuffer

from hmstats.client.sending.parcel import Item, Parcel
from hmstats.errors import InvalidInput, SpoolError
from hmstats.model.catalog.objects import TableName
from hmstats.wire.idl import extension
from hmstats.wire.statistics.extension import sets_with_details_from_thrift, sets_with_details_to_thrift

VERSION = 1
_FORMAT = "hmstats-spool"


def encode(parcel: Parcel) -> bytes:
    """The bytes of a parcel's file."""
    name = parcel.table
    head = {
        "table": {"catalog": name.catalog, "database": name.database, "table": name.table},
        "keys": list(parcel.keys),
        "madeAt": parcel.made_at_seconds,
        "parameters": [dict(item.parameters) for item in parcel.items],
    }
    sets = [item.statistics for item in parcel.items]
    structs, details = sets_with_details_to_thrift(name, sets, stamp=False)
    request = extension.SetStatisticsRequest(colStats=structs, details=details)
    content = json.dumps(head, ensure_ascii=False).encode() + b"\n" + _to_bytes(request)
    return f"{_FORMAT} {VERSION} {hashlib.sha256(content).hexdigest()}\n".encode() + content


def decode(data: bytes) -> Parcel:
    """The parcel in a file's bytes. Raises SpoolError when they are damaged, or of another version."""
    first, _, content = data.partition(b"\n")
    words = first.decode(errors="replace").split(" ")
    if len(words) != 3 or words[0] != _FORMAT:
        raise SpoolError(f"it must begin with {_FORMAT}, found {first[:40]!r}")
    if words[1] != str(VERSION):
        raise SpoolError(f"it must be of version {VERSION}, found version {words[1]}")
    if words[2] != hashlib.sha256(content).hexdigest():
        raise SpoolError("its checksum is not that of its content")
    try:
        return _decode_content(content)
    except (ValueError, KeyError, TypeError, EOFError, TException, ProtocolError, InvalidInput) as error:
        raise SpoolError(f"its content is none of this version: {error}") from error


def _decode_content(content: bytes) -> Parcel:
    line, _, body = content.partition(b"\n")
    head = json.loads(line)
    request = _from_bytes(extension.SetStatisticsRequest(), body)
    found = sets_with_details_from_thrift(request.colStats, request.details or [], None)
    items = (Item(each, parameters) for (_, each), parameters in zip(found, head["parameters"], strict=True))
    return Parcel(TableName(**head["table"]), tuple(head["keys"]), tuple(items), int(head["madeAt"]))


def _to_bytes(struct: Any) -> bytes:
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer).write_struct(struct)
    return bytes(buffer.getvalue())


def _from_bytes(struct: Any, data: bytes) -> Any:
    TCyBinaryProtocol(TCyMemoryBuffer(data)).read_struct(struct)
    return struct
