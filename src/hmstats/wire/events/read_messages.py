"""What messages of the notification log say, whoever has written them: Hive 4 compresses its own."""

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import TableName

FOREIGN_KEYS = "ADD_FOREIGNKEY"
"""The type of an event of new foreign keys."""
UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, EOFError, OSError)
"""Errors of a message that is not as Hive writes it."""
_PARENT, _CHILD, _CATALOG = ("1", "2"), ("4", "5"), "15"
"""Fields of SQLForeignKey: the tables referred to and referring, and the catalog of both."""


def message_of(event: Any) -> Any:
    """The message of a NotificationEvent. Raises errors of UNREADABLE."""
    text = event.message
    if event.messageFormat and event.messageFormat.startswith("gzip"):
        text = gzip.decompress(base64.b64decode(text)).decode()
    return json.loads(text)


def tables_of_foreign_keys(event: Any) -> Iterator[TableName]:
    """The tables that an event of new foreign keys names. Raises errors of UNREADABLE."""
    for text in message_of(event)["foreignKeyListJson"]:
        key = json.loads(text)
        catalog = key[_CATALOG]["str"] if _CATALOG in key else None
        for database, table in (_PARENT, _CHILD):
            yield table_name(key[database]["str"], key[table]["str"], catalog)
