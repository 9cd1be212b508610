"""A call of hmstats: what a user may do by the access rules."""

from collections.abc import Callable, Sequence
from typing import Any

from hmstats.model.access.access import Access
from hmstats.wire.access import access_from_thrift
from hmstats.wire.idl import extension


class AccessCalls:
    """The rights of users by the server's access rules.

    Every method raises ServiceUnavailable if the metastore cannot be reached, CallRefused if it answers with an
    exception, and UnknownCall if it is not hmstats.
    """

    def __init__(self, ask: Callable[[str, Any], Any]) -> None:
        self._ask = ask

    def check(
        self,
        database: str | None = None,
        table: str | None = None,
        *,
        catalog: str | None = None,
        user: str | None = None,
        groups: Sequence[str] = (),
    ) -> Access:
        """What a user may do with a table, a database, a catalog, or without names with the server.

        The user is the caller, unless another is named, which needs admin of the server; `groups` are beside those
        of the rule file.
        """
        request = extension.CheckAccessRequest(
            catName=catalog, dbName=database, tblName=table, userName=user, groupNames=list(groups) or None
        )
        return access_from_thrift(self._ask("check_access", request))
