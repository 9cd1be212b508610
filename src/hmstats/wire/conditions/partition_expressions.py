"""Conditions over partitions in the bytes of Hive 2.3, 3.1 and 4, which write their planner's expressions with Kryo.

Only what is listed here and in `hive_classes` is read. Source: ExprNodeGenericFuncDesc and its neighbours in Hive, as
SerializationUtilities writes them: Hive 4 names the outermost class, Hive 2.3 and 3.1 do not.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from hmstats.errors import ProtocolError, UnknownExpression
from hmstats.model.partitions.key_values import Moment, Value
from hmstats.model.partitions.partition_expression import CAST, Call, Constant, Key, PartitionExpression
from hmstats.wire.conditions.hive_classes import GENERIC, HIVE, HIVE_2_3, HIVE_3_1, HIVE_4, PLAN, VALUES
from hmstats.wire.conditions.kryo import DEEPEST, MOST_OBJECTS, Format, Object, read_object

MOST_BYTES = 4 * 1024 * 1024

_FUNCTION = f"{PLAN}ExprNodeGenericFuncDesc"
_NAMED = b"\x01\x00org.apache.hadoop.hive.ql.plan."
_NONE = b"\xff"
"""The bytes that SHOW PARTITIONS .. ORDER BY of Hive 4 sends if there is no condition."""
_SIMPLE = {
    "OPAnd": "and",
    "OPOr": "or",
    "OPNot": "not",
    "OPEqual": "=",
    "OPNotEqual": "!=",
    "OPLessThan": "<",
    "OPEqualOrLessThan": "<=",
    "OPGreaterThan": ">",
    "OPEqualOrGreaterThan": ">=",
    "OPEqualNS": "<=>",
    "OPNull": "is null",
    "OPNotNull": "is not null",
    "OPTrue": "is true",
    "OPNotTrue": "is not true",
    "OPFalse": "is false",
    "OPNotFalse": "is not false",
    "In": "in",
    "Between": "between",
    "Struct": "struct",
    "Lower": "lower",
    "Upper": "upper",
    "Length": "length",
    "Concat": "concat",
    "Coalesce": "coalesce",
    "Nvl": "coalesce",
    "If": "case when",
    "When": "case when",
    "Case": "case",
    "ToString": f"{CAST}string",
    "ToDate": f"{CAST}date",
    "Date": f"{CAST}date",
    "Timestamp": f"{CAST}timestamp",
}
_BRIDGED = {
    "UDFToBoolean": f"{CAST}boolean",
    "UDFToByte": f"{CAST}tinyint",
    "UDFToShort": f"{CAST}smallint",
    "UDFToInteger": f"{CAST}int",
    "UDFToLong": f"{CAST}bigint",
    "UDFToFloat": f"{CAST}float",
    "UDFToDouble": f"{CAST}double",
    "UDFToString": f"{CAST}string",
    "UDFLike": "like",
    "UDFSubstr": "substr",
}
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - Hive's timestamps have no zone
_GREGORIAN = date(1582, 10, 15)
_NANOSECONDS = 1_000_000_000
_HALF_DAY = timedelta(hours=12)


def condition_from_bytes(data: bytes | None) -> PartitionExpression | str | None:
    """A call's condition: an expression, a filter's text if the bytes are text, or None.

    Raises UnknownExpression.
    """
    if not data or data == _NONE:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return expression_from_bytes(data)
    readable = all(each.isprintable() or each.isspace() for each in text)
    return text if readable else expression_from_bytes(data)


def expression_from_bytes(data: bytes) -> PartitionExpression:
    """Deserialize a condition. Raises UnknownExpression."""
    if len(data) > MOST_BYTES:
        raise UnknownExpression(f"a condition over partitions has at most {MOST_BYTES} bytes, found {len(data)}")
    named = data.startswith(_NAMED)
    formats = (HIVE_4, HIVE_3_1, HIVE_2_3) if named else (HIVE_3_1, HIVE_2_3, HIVE_4)
    reasons = []
    for form in formats:
        try:
            return _Tree().expression(_read(data, form, named=named))
        except (ProtocolError, UnknownExpression) as error:
            reasons.append(str(error))
    raise UnknownExpression(f"a condition over partitions cannot be read: {reasons[0]}")


def _read(data: bytes, form: Format, *, named: bool) -> Any:
    try:
        return read_object(data, form, None if named else _FUNCTION)
    except RecursionError as error:
        raise ProtocolError("a condition over partitions is too deep") from error


class _Tree:
    """Converts objects to a tree of expressions; an object with two references counts twice against the limit."""

    def __init__(self) -> None:
        self._left = MOST_OBJECTS

    def expression(self, node: Any, depth: int = 0) -> PartitionExpression:
        """Convert an object to an expression."""
        self._count(depth)
        kind = node.kind if isinstance(node, Object) else type(node).__name__
        match kind.removeprefix(PLAN):
            case "ExprNodeColumnDesc":
                return Key(_text(node.fields["column"]))
            case "ExprNodeConstantDesc":
                return Constant(self._value(node.fields["value"], depth))
            case "ExprNodeGenericFuncDesc":
                return self._call(node, depth)
        raise UnknownExpression(f"a part of a condition over partitions is a {kind}")

    def _call(self, node: Object, depth: int) -> PartitionExpression:
        children, function = node.fields["children"], node.fields["genericUDF"]
        if not isinstance(children, list) or not isinstance(function, Object):
            raise UnknownExpression("a function of a condition over partitions has no name or no arguments")
        arguments = tuple([self.expression(each, depth + 1) for each in children])
        return Call(_function(function), arguments)

    def _value(self, value: Any, depth: int) -> Value:
        self._count(depth)
        match value:
            case None | str() | bool() | int() | float():
                return value
            case list():
                return tuple([self._value(each, depth + 1) for each in value])
            case Object(kind, fields):
                return _object(kind, fields)
        raise UnknownExpression(f"a constant of a condition over partitions is a {type(value).__name__}")

    def _count(self, depth: int) -> None:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            raise UnknownExpression(
                f"a condition over partitions has at most {MOST_OBJECTS} parts, {DEEPEST} inside each other"
            )


def _function(function: Object) -> str:
    name = function.kind.removeprefix(GENERIC)
    if name == "Bridge":
        return _bridged(_text(function.fields["udfClassName"]))
    if name in ("ToDecimal", "ToChar", "ToVarchar"):
        return f"{CAST}{_type(function.fields['typeInfo'])}"
    if name == "Timestamp" and function.fields["intToTimestampInSeconds"]:
        raise UnknownExpression("a cast of a whole number of seconds to a timestamp is not supported")
    if name not in _SIMPLE:
        raise UnknownExpression(f"function {function.kind} is not supported")
    return _SIMPLE[name]


def _bridged(name: str) -> str:
    found = _BRIDGED.get(name.removeprefix(f"{HIVE}ql.udf."))
    if found is None:
        raise UnknownExpression(f"function {name[:200]} is not supported")
    return found


def _type(node: Any) -> str:
    match node:
        case Object(_, {"typeName": "decimal", "precision": int(precision), "scale": int(scale)}):
            return f"decimal({precision},{scale})"
        case Object(_, {"typeName": "char" | "varchar" as name, "length": int(length)}):
            return f"{name}({length})"
    raise UnknownExpression("a cast of a condition over partitions names no type")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise UnknownExpression("a name of a condition over partitions is no text")
    return value


def _object(kind: str, fields: dict[str, Any]) -> Value:
    try:
        match kind.removeprefix(VALUES):
            case "HiveDecimal":
                return _decimal(fields)
            case "HiveVarchar":
                return _text(fields["value"])
            case "HiveChar":
                return _text(fields["value"]).rstrip(" ")
            case "Date":
                return date(*_date_parts(fields["localDate"]))
            case "Timestamp":
                return _moment(*_moment_parts(fields["localDateTime"]))
            case "java.sql.Date":
                return _sql_date(fields["milliseconds"])
            case "java.sql.Timestamp":
                return _sql_timestamp(fields["milliseconds"], fields["nanos"])
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise UnknownExpression(f"a constant of a condition over partitions is no {kind}: {error}") from error
    raise UnknownExpression(f"a constant of a condition over partitions is a {kind}")


def _decimal(fields: dict[str, Any]) -> Decimal:
    """A decimal from three words of 16 digits each, the lowest first."""
    digits = fields["fast0"] + fields["fast1"] * 10**16 + fields["fast2"] * 10**32
    return Decimal(f"{fields['fastSignum'] * digits}e{-fields['fastScale']}")


def _date_parts(value: Any) -> Sequence[int]:
    if isinstance(value, Object):
        return value.fields["year"], value.fields["month"], value.fields["day"]
    parts: Sequence[int] = value
    return parts


def _moment_parts(value: Any) -> Sequence[int]:
    if isinstance(value, Object):
        time = value.fields["time"].fields
        day = _date_parts(value.fields["date"])
        return (*day, time["hour"], time["minute"], time["second"], time["nano"])
    parts: Sequence[int] = value
    return parts


def _moment(*parts: int) -> Moment:
    *whole, nanoseconds = parts
    since = datetime(*whole) - _EPOCH  # type: ignore[arg-type]  # noqa: DTZ001
    return Moment((since.days * 86_400 + since.seconds) * _NANOSECONDS + nanoseconds)


def _sql_date(milliseconds: int) -> date:
    """The date of a midnight in the writer's time zone, which is not sent: that of the nearest midnight in UTC."""
    day = _EPOCH + timedelta(milliseconds=milliseconds) + _HALF_DAY
    return _modern(day.date())


def _sql_timestamp(milliseconds: int, nanoseconds: int) -> Moment:
    """A moment in the writer's time zone, which is not sent; as in Hive, the reader's own zone is used."""
    local = datetime.fromtimestamp(milliseconds // 1000)  # noqa: DTZ006 - the machine's zone, as said
    _modern(local.date())
    return _moment(local.year, local.month, local.day, local.hour, local.minute, local.second, nanoseconds)


def _modern(day: date) -> date:
    if day < _GREGORIAN:
        raise UnknownExpression(f"a day before {_GREGORIAN} is of another calendar in Hive 2, found {day}")
    return day
