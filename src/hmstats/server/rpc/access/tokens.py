"""Calls about tokens and master keys that other servers store here; delegation.py has the tokens of this one."""

from hmstats.errors import AccessDenied, MetaError
from hmstats.server.rpc.caller import Session
from hmstats.service.access.tokens import Tokens


class TokenCalls:
    """Delegation tokens and the master keys that sign them, as HiveServer2 stores them in its metastore.

    A client that reads a key can forge tokens. So where users are proven, but no access rules say who may, nobody may.
    """

    def __init__(self, tokens: Tokens, *, refused: bool = False) -> None:
        self._stored = tokens
        self._refused = refused

    @property
    def _tokens(self) -> Tokens:
        """The stored tokens and keys. Raises AccessDenied if nobody may have them."""
        if self._refused:
            raise AccessDenied(
                "stored tokens and master keys are for users whom access rules allow admin of the server, found no "
                "rules: the setting rules names their file"
            )
        return self._stored

    def add_token(self, session: Session, token_identifier: str | None, delegation_token: str | None) -> bool:
        """Store another server's token; false if the identifier has one already."""
        return self._tokens.add(_text(token_identifier), _text(delegation_token))

    def get_token(self, session: Session, token_identifier: str | None) -> str:
        """The token of an identifier; an empty text if there is none."""
        return self._tokens.get(_text(token_identifier)) or ""

    def get_all_token_identifiers(self, session: Session) -> list[str]:
        """The identifiers of all tokens."""
        return self._tokens.identifiers()

    def remove_token(self, session: Session, token_identifier: str | None) -> bool:
        """Delete a token; false if there is none."""
        return self._tokens.remove(_text(token_identifier))

    def add_master_key(self, session: Session, key: str | None) -> int:
        """Store a master key, and return its number."""
        return self._tokens.add_key(_text(key))

    def update_master_key(self, session: Session, seq_number: int, key: str | None) -> None:
        """Replace a master key."""
        self._tokens.replace_key(seq_number, _text(key))

    def remove_master_key(self, session: Session, key_seq: int) -> bool:
        """Delete a master key; false if there is none with this number."""
        return self._tokens.remove_key(key_seq)

    def get_master_keys(self, session: Session) -> list[str]:
        """All master keys, the oldest first."""
        return self._tokens.keys()


def _text(given: str | None) -> str:
    if given is None:
        raise MetaError("a token, its identifier and a key must be texts, found none")
    return given
