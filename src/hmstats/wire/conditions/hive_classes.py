"""The classes of the conditions over partitions that Hive 2.3, 3.1 and 4 write: the fields of each, in Kryo's order.

The layouts were printed by Hive's own Kryo (tests/peers/hive_expressions, `layouts`). Functions also hold results and
inspectors of an earlier run, which are skipped. If a function is not listed here, the condition is unknown.
"""

from hmstats.wire.conditions.kryo import Fields, Format

HIVE = "org.apache.hadoop.hive."
PLAN, TYPES, WRITABLES = f"{HIVE}ql.plan.", f"{HIVE}serde2.typeinfo.", f"{HIVE}serde2.io."
GENERIC = f"{HIVE}ql.udf.generic.GenericUDF"
VALUES = f"{HIVE}common.type."
_INSPECTORS = f"{HIVE}serde2.objectinspector."
_PRIMITIVE_INSPECTORS = f"{_INSPECTORS}primitive."
_HADOOP = "org.apache.hadoop.io."
_COMPARE_TYPE = f"{GENERIC}BaseCompare$CompareType"
_DECIMAL_WRITABLE = f"{WRITABLES}HiveDecimalWritable"
_TEXT = "java.lang.String"


def _fields(text: str) -> Fields:
    """Fields written as `name:kind ...`."""
    named = {"text": _TEXT, "compare": _COMPARE_TYPE, "date": "java.time.LocalDate", "time": "java.time.LocalTime"}
    named["datetime"] = "java.time.LocalDateTime"
    pairs = (each.split(":") for each in text.split())
    return tuple((name, named.get(kind, kind)) for name, kind in pairs)


_DIGITS = (
    "fast0:long fast1:long fast2:long fastIntegerDigitCount:int fastScale:int fastSerializationScale:int fastSignum:int"
)
_COMPARING = "compareOI:* compareType:compare opDisplayName:text opName:text result:*"
_RESULT = "result:*"
_TRUTH = "conditionConverter:* result:*"
_BYTES = "bytesEmpty:boolean currentBytes:byte[] externalBytes:byte[] internalBytes:byte[] offset:int"

_PLAIN: dict[str, str] = {
    f"{PLAN}ExprNodeColumnDesc": (
        "column:text isPartitionColOrVirtualCol:boolean isSkewedCol:boolean tabAlias:text typeInfo:*"
    ),
    f"{PLAN}ExprNodeConstantDesc": "typeInfo:* value:*",
    f"{PLAN}ExprNodeGenericFuncDesc": "children:* genericUDF:* isSortedExpr:boolean typeInfo:*",
    f"{TYPES}PrimitiveTypeInfo": "typeName:text",
    f"{TYPES}DecimalTypeInfo": "precision:int scale:int typeName:text",
    f"{TYPES}CharTypeInfo": "length:int typeName:text",
    f"{TYPES}VarcharTypeInfo": "length:int typeName:text",
    f"{TYPES}StructTypeInfo": "allStructFieldNames:texts allStructFieldTypeInfos:*",
    f"{VALUES}Date": "localDate:date",
    f"{VALUES}Timestamp": "localDateTime:datetime",
    f"{VALUES}HiveDecimal": _DIGITS,
    f"{VALUES}HiveChar": "value:text",
    f"{VALUES}HiveVarchar": "value:text",
    f"{GENERIC}Bridge": "isOperator:boolean udfClassName:text udfName:text",
    f"{GENERIC}Between": "argumentOIs:* egt:* elt:* result:*",
    f"{GENERIC}In": "bw:* isInSetConstant:boolean",
    f"{GENERIC}ToDecimal": "typeInfo:*",
    f"{GENERIC}ToChar": "typeInfo:*",
    f"{GENERIC}ToVarchar": "typeInfo:*",
    f"{GENERIC}Timestamp": "intToTimestampInSeconds:boolean",
    **{
        f"{GENERIC}{name}": ""
        for name in (
            *("Struct", "ToDate", "ToString", "Date", "Lower", "Upper", "Concat"),
            *("Coalesce", "Nvl", "If", "When", "Case"),
        )
    },
    f"{GENERIC}Length": _RESULT,
    **{f"{GENERIC}OP{name}": _RESULT for name in ("And", "Or", "Not", "Null", "NotNull")},
    **{f"{GENERIC}OP{name}": _TRUTH for name in ("True", "False", "NotTrue", "NotFalse")},
    **{
        f"{GENERIC}OP{name}": _COMPARING
        for name in (
            *("Equal", "EqualNS", "NotEqual", "NotEqualNS"),
            *("LessThan", "GreaterThan", "EqualOrLessThan", "EqualOrGreaterThan"),
        )
    },
    **{f"{_HADOOP}{name}Writable": f"value:{name.lower()}" for name in ("Boolean", "Int", "Long", "Float")},
    **{f"{WRITABLES}{name}Writable": f"value:{name.lower()}" for name in ("Byte", "Short", "Double")},
    f"{_HADOOP}Text": "bytes:byte[] length:int",
    f"{WRITABLES}DateWritable": "daysSinceEpoch:int",
    f"{WRITABLES}DateWritableV2": "date:*",
    f"{WRITABLES}TimestampWritable": f"{_BYTES} timestamp:* timestampEmpty:boolean",
    f"{WRITABLES}TimestampWritableV2": f"{_BYTES} timestamp:* timestampEmpty:boolean",
    _DECIMAL_WRITABLE: f"{_DIGITS} internalScratchBuffer:byte[] internalScratchLongs:long[] isSet:boolean",
    f"{_INSPECTORS}ObjectInspectorConverters$IdentityConverter": "",
    f"{_PRIMITIVE_INSPECTORS}PrimitiveObjectInspectorConverter$BooleanConverter": "inputOI:* outputOI:* r:*",
    **{
        f"{_PRIMITIVE_INSPECTORS}{made}{kind}ObjectInspector": "typeInfo:* value:*" if "Const" in made else "typeInfo:*"
        for made in ("Writable", "WritableConstant", "Java", "JavaConstant")
        for kind in (
            *("Void", "Boolean", "Byte", "Short", "Int", "Long", "Float", "Double", "String", "HiveVarchar"),
            *("HiveChar", "HiveDecimal", "Date", "Timestamp"),
        )
    },
    f"{_PRIMITIVE_INSPECTORS}WritableConstantHiveDecimalObjectInspector": f"typeInfo:* value:{_DECIMAL_WRITABLE}",
}
_OF_KRYO_3 = {
    "java.time.LocalDate": "day:short month:short year:int",
    "java.time.LocalTime": "hour:byte minute:byte nano:int second:byte",
    "java.time.LocalDateTime": "date:date time:time",
    f"{WRITABLES}HiveVarcharWritable": "value:*",
    f"{WRITABLES}HiveCharWritable": "value:*",
}
_OF_KRYO_5 = {
    f"{WRITABLES}HiveVarcharWritable": "charLength:int value:*",
    f"{WRITABLES}HiveCharWritable": "charLength:int value:*",
}
_REGISTERED = {
    0: "java.lang.Integer",
    1: _TEXT,
    **{number: f"java.lang.{name}" for number, name in ((2, "Float"), (3, "Boolean"), (4, "Byte"))},
    **{number: f"java.lang.{name}" for number, name in ((6, "Short"), (7, "Long"), (8, "Double"))},
}
_ENUMS = frozenset({_COMPARE_TYPE})
_NAMES_ONLY = frozenset({f"{PLAN}ExprNodeDesc", "java.lang.Object"})
_LIST = "java.util.Arrays$ArrayList"


def _format(version: int, own: dict[str, str], registered: dict[int, str]) -> Format:
    fields = {kind: _fields(text) for kind, text in (_PLAIN | own).items()}
    return Format(version, _REGISTERED | registered, fields, _ENUMS, _NAMES_ONLY)


HIVE_2_3 = _format(3, _OF_KRYO_3, {10: "java.sql.Date", 11: "java.sql.Timestamp", 13: _LIST})
HIVE_3_1 = _format(3, _OF_KRYO_3, {10: "java.sql.Date", 11: "java.sql.Timestamp", 14: _LIST})
HIVE_4 = _format(5, _OF_KRYO_5, {9: "java.sql.Date", 10: "java.sql.Timestamp", 13: _LIST})
