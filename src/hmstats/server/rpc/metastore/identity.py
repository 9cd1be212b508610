"""The call that asks which metastore this is."""

from hmstats.server.rpc.caller import Session
from hmstats.service.identity import Identity


class IdentityCalls:
    """get_metastore_db_uuid."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    def get_metastore_db_uuid(self, session: Session) -> str:
        """The UUID of the database, the same from every server on it."""
        return self._identity.uuid()
