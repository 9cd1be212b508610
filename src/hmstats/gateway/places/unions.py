"""Calls that list what all places have: the places' answers, without the entries that belong to another place.

If a place does not answer, the call is refused with an error that names the place: a list without its databases would
look complete.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmstats.errors import UnknownCall
from hmstats.gateway.places.all_places import AllPlaces, own_refusal, value_at
from hmstats.model.catalog.names import database_name, split_database
from hmstats.model.catalog.objects import DatabaseName
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments, encode_struct
from hmstats.service.health.blame import MOST as MOST_BLAME
from hmstats.service.health.runs import MOST as MOST_RUNS
from hmstats.wire.idl import extension, methods
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.messages.envelope import Refusal, encode_refusal, encode_reply

_OLD_CATALOGS = api.GetCatalogsResponse(names=["hive"])


@dataclass(frozen=True, slots=True)
class _List:
    """How the lists of one call are merged: its elements, the database of each if it has one, and the value to return.

    `cut` sorts the elements of all places, and drops those beyond the number that the call asks for.
    """

    elements: Callable[[Any], Sequence[Any] | None]
    database: Callable[[Any, Mapping[str, Any]], DatabaseName | None] | None
    value: Callable[[list[Any]], Any]
    cut: Callable[[list[Any], Mapping[str, Any]], list[Any]] | None = None


def union(request: Request, places: AllPlaces) -> Relayed:
    """The answer to a call of UNIONS, merged from the places' answers. Raises MetaError if a place does not answer."""
    head = request.head
    spec = _LISTS[head.name]
    arguments = decode_arguments(methods()[head.name], request.message, head.body_at)
    answers = places.answers(dict.fromkeys(places.names, request))
    if (refused := own_refusal(answers)) is not None:
        return refused
    found: list[Any] = []
    for place in places.names:
        try:
            value = value_at(place, head.name, answers[place])
        except UnknownCall as error:
            if head.name != "get_catalogs":  # an older metastore: its clients fall back on older calls
                return Relayed((encode_refusal(head, Refusal.UNKNOWN_METHOD, str(error)),), refused=True)
            value = _OLD_CATALOGS
        found += _of_place(spec, value, arguments, lambda name, place=place: places.place_of(name) == place)  # type: ignore[misc]
    if spec.cut is not None:
        found = spec.cut(found, arguments)
    result = methods()[head.name].result(success=spec.value(found))
    return Relayed((encode_reply(head, encode_struct(result)),))


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


def _unchanged(value: Any) -> Any:
    return value


def _newest_runs(found: list[Any], arguments: Mapping[str, Any]) -> list[Any]:
    """The newest runs, and all leases."""
    runs = sorted(filter(_is_run, found), key=lambda each: -each.startedAt)
    leases = [each for each in found if not _is_run(each)]
    return runs[: arguments["request"].most or MOST_RUNS] + leases


def _is_run(each: Any) -> bool:
    return isinstance(each, extension.StatisticsRun)


def _heaviest(found: list[Any], arguments: Mapping[str, Any]) -> list[Any]:
    return sorted(found, key=lambda each: -each.weight)[: arguments["request"].most or MOST_BLAME]


def _list_globals_once(found: list[Any], _: Mapping[str, Any]) -> list[Any]:
    """The preferences; global ones that several places have are listed once."""
    first: dict[Any, Any] = {}
    for number, each in enumerate(found):
        first.setdefault(number if each.dbName else (each.name, each.value), each)
    return list(first.values())


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
        _list_globals_once,
    ),
    "get_statistics_runs": _List(
        lambda value: [*value.runs, *value.leases],
        lambda each, _: database_name(each.dbName, each.catName),
        lambda found: extension.RunsResult(
            runs=[each for each in found if _is_run(each)], leases=[each for each in found if not _is_run(each)]
        ),
        _newest_runs,
    ),
    "get_blame": _List(
        lambda value: value.sums,
        lambda each, _: database_name(each.worst.dbName, each.worst.catName),
        lambda found: extension.BlameResult(sums=found),
        _heaviest,
    ),
    "list_pending_statistics": _List(
        lambda value: value.owners,
        lambda each, arguments: database_name(each.dbName, arguments["request"].catName),
        lambda found: extension.PendingResult(owners=found),
    ),
    "get_all_databases": _List(_unchanged, _in_default, _sort_names),
    "get_databases": _List(_unchanged, _in_pattern, _sort_names),
    "get_databases_req": _List(
        lambda value: value.databases,
        lambda each, _: database_name(each.name, each.catalogName),
        lambda found: api.GetDatabaseObjectsResponse(databases=found),
    ),
    "get_table_meta": _List(_unchanged, lambda each, _: database_name(each.dbName, each.catName), _unchanged),
    "get_all_functions": _List(
        lambda value: value.functions,
        lambda each, _: database_name(each.dbName, each.catName),
        lambda found: api.GetAllFunctionsResponse(functions=found),
    ),
    "get_all_materialized_view_objects_for_rewriting": _List(
        _unchanged, lambda each, _: database_name(each.dbName, each.catName), _unchanged
    ),
    "get_catalogs": _List(
        lambda value: value.names, None, lambda found: api.GetCatalogsResponse(names=_sort_names(found))
    ),
}
UNIONS = frozenset(_LISTS)
"""Calls that list what all places have."""
