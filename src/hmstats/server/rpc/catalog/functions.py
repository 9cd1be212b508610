"""Calls about user-defined functions."""

from dataclasses import replace
from typing import Any

from hmstats.errors import MetaError
from hmstats.model.catalog.functions import FunctionName
from hmstats.model.catalog.names import split_database
from hmstats.model.catalog.objects import DatabaseName
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.databases.functions import Functions
from hmstats.wire.catalog.functions import function_from_thrift, function_to_thrift
from hmstats.wire.idl import hive_metastore


class FunctionCalls:
    """create, get, list, alter and drop of functions."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def create_function(self, session: Session, func: Any) -> None:
        """Make a function; without an owner it is the caller's."""
        function = function_from_thrift(func)
        self._functions.create(replace(function, owner=function.owner or session.user))

    def get_function(self, session: Session, dbName: str | None, funcName: str | None) -> Any:
        """The function."""
        return function_to_thrift(self._functions.get(_name(dbName, funcName)))

    def get_functions(self, session: Session, dbName: str | None, pattern: str | None) -> list[str]:
        """The names that the pattern matches."""
        return self._functions.names(_database(dbName), pattern)

    def get_functions_req(self, session: Session, request: Any) -> Any:
        """The names that the pattern matches, or the functions when the request says so."""
        database = subject.database(request.dbName, request.catalogName)
        if request.returnNames:
            return hive_metastore.GetFunctionsResponse(function_names=self._functions.names(database, request.pattern))
        found = self._functions.matching(database, request.pattern)
        return hive_metastore.GetFunctionsResponse(functions=[function_to_thrift(each) for each in found])

    def get_all_functions(self, session: Session) -> Any:
        """Every function of the default catalog."""
        found = [function_to_thrift(each) for each in self._functions.all()]
        return hive_metastore.GetAllFunctionsResponse(functions=found)

    def alter_function(self, session: Session, dbName: str | None, funcName: str | None, newFunc: Any) -> None:
        """Replace a function with its files; its creation time stays."""
        self._functions.alter(_name(dbName, funcName), function_from_thrift(newFunc))

    def drop_function(self, session: Session, dbName: str | None, funcName: str | None) -> None:
        """Drop a function; its files stay."""
        self._functions.drop(_name(dbName, funcName))


def _database(text: str | None) -> DatabaseName:
    if text is None or split_database(text)[1] is None:
        raise MetaError("Database name cannot be null.")
    return subject.database(text)


def _name(database: str | None, function: str | None) -> FunctionName:
    parent = _database(database)
    if function is None:
        raise MetaError("Function name cannot be null.")
    return FunctionName(parent.catalog, parent.database, function.strip().lower())
