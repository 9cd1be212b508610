"""The work of `hmstats move`: builds the places of a server that has several upstreams, and moves a database."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial

import typer

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.serving.logs import on_standard_error
from hmstats.cli.serving.places import places_of
from hmstats.cli.serving.preparation import make_embedded, make_embedded_mirrors
from hmstats.cli.serving.roots import warehouse_of
from hmstats.cli.serving.rules import rules_of
from hmstats.cli.serving.serve_settings import load_served
from hmstats.errors import SettingsError, StatementError
from hmstats.gateway.moving.described import Described
from hmstats.gateway.moving.moving import MoveResult, Moving
from hmstats.gateway.places.places import Places, UpstreamPlace
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DatabaseName
from hmstats.outlets.people.cells import amount
from hmstats.server.assembly import assemble_here
from hmstats.server.calls.dispatch import Dispatcher
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import Session
from hmstats.service.mirrors.moved import MovedDatabases
from hmstats.service.mirrors.routes import OWN
from hmstats.settings import Settings
from hmstats.store.database.store import Store
from hmstats.store.opening import open_store

_TITLE = "hmstats"
_ITSELF = "hmstats move"


@on_standard_error()
def move_database(database: str, *, to: str | None, dry_run: bool, as_json: bool) -> None:
    """Move a database and print what became of it. Exits with ExitCode.NO if something was in the way."""
    settings = load_served()
    make_embedded(settings)
    make_embedded_mirrors(settings)
    with ExitStack() as stack:
        store = open_store(settings.database, pool_size=2, statement_seconds=settings.statement_seconds)
        stack.callback(store.close)
        places = places_of(settings, store)
        if places is None:
            raise SettingsError(
                "move needs upstreams in the settings file: docs/operate/gateway.md#move-database-by-database"
            )
        stack.callback(places.close)
        if to is not None and to not in places.upstreams:
            raise StatementError(f"upstream {to} is not in the settings, which have {', '.join(places.upstreams)}")
        for each in places.upstreams.values():
            each.gateway.probe()
        moving = _moving(settings, store, places, _silent if as_json else typer.echo)
        result = moving.move(_name(database), to or OWN, dry_run=dry_run)
    typer.echo(json.dumps(asdict(result), indent=2) if as_json else _sentences(result, dry_run=dry_run))
    if result.reasons:
        raise typer.Exit(ExitCode.NO)


def _moving(settings: Settings, store: Store, places: Places, report: Callable[[str], None]) -> Moving:
    # As if its tables were mirrors: statistics are written without a change of parameters, and nothing is logged.
    here, _ = assemble_here(store, warehouse_of(settings), rules_of(settings), mirrors=True)
    session, own = (Session(connection_id=-1, peer=_ITSELF) for _ in range(2))
    own.identify(_ITSELF)
    found = {
        name: Described(f"upstream {name}", partial(_of_upstream, each, session), each.gateway.delivery.send_database)
        for name, each in places.upstreams.items()
    }
    found[OWN] = Described(_TITLE, partial(_of_own, here, own))
    return Moving(places.routing, found, MovedDatabases(store), report)


def _of_upstream(place: UpstreamPlace, session: Session, request: Request) -> Relayed:
    return place.answer(request, session, WholeAnswer())


def _of_own(here: Dispatcher, session: Session, request: Request) -> Relayed:
    return here.run(request, session)


def _name(text: str) -> DatabaseName:
    catalog, _, database = text.lower().rpartition(".")
    return DatabaseName(catalog or DEFAULT_CATALOG, database)


def _silent(_: str) -> None:
    """Ignore a message about progress, since the output is JSON."""


def _sentences(result: MoveResult, *, dry_run: bool) -> str:
    size = f"{amount(result.tables, 'table')} and {amount(result.partitions, 'partition')}"
    if result.reasons:
        return "\n".join([*result.reasons, f"database {result.database} was not moved"])
    left = [f"not moved: {', '.join(result.not_moved)}"] if result.not_moved else []
    if dry_run:
        last = f"database {result.database} with {size} can be moved to {result.to}; nothing was changed"
    else:
        last = f"database {result.database} is in {result.to} from now on"
    return "\n".join([*left, last])
