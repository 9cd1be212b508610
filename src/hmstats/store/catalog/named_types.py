"""Named types: TYPES and their fields in TYPE_FIELDS."""

from sqlalchemy import Connection, delete, insert, select

from hmstats.model.catalog.named_types import NamedType
from hmstats.model.catalog.objects import Column
from hmstats.store.schema import TYPE_FIELDS, TYPES
from hmstats.store.unit import ids
from hmstats.store.unit.unit import Unit


def get(connection: Connection, name: str) -> NamedType | None:
    """The type; None if it does not exist."""
    row = connection.execute(select(TYPES).where(TYPES.c.TYPE_NAME == name)).one_or_none()
    if row is None:
        return None
    query = select(TYPE_FIELDS).where(TYPE_FIELDS.c.TYPE_NAME == row.TYPES_ID).order_by(TYPE_FIELDS.c.INTEGER_IDX)
    fields = tuple(Column(each.FIELD_NAME, each.FIELD_TYPE, each.COMMENT) for each in connection.execute(query))
    return NamedType(name, row.TYPE1, row.TYPE2, fields)


def insert_one(unit: Unit, new: NamedType) -> None:
    """Insert a type."""
    type_id = unit.ids(ids.Sequence.TYPE, 1)[0]
    row = {"TYPES_ID": type_id, "TYPE_NAME": new.name, "TYPE1": new.first, "TYPE2": new.second}
    unit.connection.execute(insert(TYPES), row)
    fields = [
        {
            "TYPE_NAME": type_id,
            "FIELD_NAME": field.name,
            "FIELD_TYPE": field.type,
            "COMMENT": field.comment,
            "INTEGER_IDX": index,
        }
        for index, field in enumerate(new.fields)
    ]
    if fields:
        unit.connection.execute(insert(TYPE_FIELDS), fields)


def remove(unit: Unit, name: str) -> None:
    """Remove a type, if it exists."""
    inside = select(TYPES.c.TYPES_ID).where(TYPES.c.TYPE_NAME == name)
    unit.connection.execute(delete(TYPE_FIELDS).where(TYPE_FIELDS.c.TYPE_NAME.in_(inside)))
    unit.connection.execute(delete(TYPES).where(TYPES.c.TYPE_NAME == name))
