"""Calls that list what all places have: the answers of all of them, without what does not belong to a place.

If a place does not answer, the call is refused with a sentence that names it: a list without its databases would look
like a whole one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmstats.errors import CallRefused, MetaError, MetastoreError, UnknownCall, UpstreamClosed
from hmstats.gateway.places.asking import Answer, Ask, ask_all
from hmstats.gateway.upstream.calling import value_of
from hmstats.model.catalog.names import database_name, split_database
from hmstats.model.catalog.objects import DatabaseName
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments, encode_struct
from hmstats.wire.idl import extension, methods
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.messages.envelope import Refusal, encode_refusal, encode_reply

_OLD_CATALOGS = api.GetCatalogsResponse(names=["hive"])


@dataclass(frozen=True, slots=True)
class _List:
    """How a list is merged: its elements, the database of each if it has one, and the value of elements."""

    elements: Callable[[Any], Sequence[Any] | None]
    database: Callable[[Any, Mapping[str, Any]], DatabaseName | None] | None
    value: Callable[[list[Any]], Any]


def union(
    request: Request,
    places: Mapping[str, Ask],
    belongs: Callable[[DatabaseName, str], bool],
    hangs: Callable[[str], bool],
) -> Relayed:
    """The answer to a call of UNIONS by what each place answers.

    `belongs` says whether a database is of a place, `hangs` whether a place is not waited for.

    Raises MetaError if a place does not answer.
    """
    head = request.head
    spec = _LISTS[head.name]
    arguments = decode_arguments(methods()[head.name], request.message, request.head.body_at)
    found: list[Any] = []
    answers = ask_all(places, hangs)
    for place in places:
        try:
            value = value_of(head.name, _answer(answers[place]))
        except UnknownCall as error:
            if head.name != "get_catalogs":  # a metastore of before: its clients fall back on older calls
                return Relayed((encode_refusal(head, Refusal.UNKNOWN_METHOD, str(error)),), refused=True)
            value = _OLD_CATALOGS
        except (CallRefused, MetastoreError, UpstreamClosed) as error:
            raise MetaError(f"{head.name} is refused, since upstream {place} does not answer: {error}") from error
        found += _of_place(spec, value, arguments, lambda name, place=place: belongs(name, place))  # type: ignore[misc]
    result = methods()[head.name].result(success=spec.value(found))
    return Relayed((encode_reply(head, encode_struct(result)),))


def _answer(found: Answer) -> Relayed:
    """A place's answer. Raises the error that it ended with."""
    if isinstance(found, Exception):
        raise found
    return found


def _of_place(
    spec: _List, value: Any, arguments: Mapping[str, Any], belongs: Callable[[DatabaseName], bool]
) -> Iterator[Any]:
    for each in spec.elements(value) or ():
        database = None if spec.database is None else spec.database(each, arguments)
        if database is None or belongs(database):
            yield each


def _in_default(name: str, _: Mapping[str, Any]) -> DatabaseName:
    return database_name(name)


def _in_pattern(name: str, arguments: Mapping[str, Any]) -> DatabaseName:
    return database_name(name, split_database(arguments["pattern"] or "")[0])


def _sort_names(names: list[str]) -> list[str]:
    return sorted(dict.fromkeys(names))


def _same(value: Any) -> Any:
    return value


_LISTS: Mapping[str, _List] = {
    "get_statistics_locks": _List(
        lambda value: value.locks,
        lambda each, _: database_name(each.dbName, each.catName),
        lambda found: extension.StatisticsLocksResult(locks=found),
    ),
    "get_preferences": _List(
        lambda value: value.preferences,
        lambda each, _: database_name(each.dbName, each.catName) if each.dbName else None,
        lambda found: extension.PreferencesResult(preferences=found),
    ),
    "list_pending_statistics": _List(
        lambda value: value.owners,
        lambda each, arguments: database_name(each.dbName, arguments["request"].catName),
        lambda found: extension.PendingResult(owners=found),
    ),
    "get_all_databases": _List(_same, _in_default, _sort_names),
    "get_databases": _List(_same, _in_pattern, _sort_names),
    "get_databases_req": _List(
        lambda value: value.databases,
        lambda each, _: database_name(each.name, each.catalogName),
        lambda found: api.GetDatabaseObjectsResponse(databases=found),
    ),
    "get_table_meta": _List(_same, lambda each, _: database_name(each.dbName, each.catName), _same),
    "get_all_functions": _List(
        lambda value: value.functions,
        lambda each, _: database_name(each.dbName, each.catName),
        lambda found: api.GetAllFunctionsResponse(functions=found),
    ),
    "get_all_materialized_view_objects_for_rewriting": _List(
        _same, lambda each, _: database_name(each.dbName, each.catName), _same
    ),
    "get_catalogs": _List(
        lambda value: value.names, None, lambda found: api.GetCatalogsResponse(names=_sort_names(found))
    ),
}
UNIONS = frozenset(_LISTS)
"""The calls that list what all places have."""
