"""Calls about delegation tokens: tokens of other servers are stored; none is issued."""

from hmstats.errors import MetaError
from hmstats.server.rpc.caller import Session
from hmstats.service.access.tokens import Tokens


class TokenCalls:
    """Delegation tokens and the master keys that sign them, as HiveServer2 stores them in its metastore."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def get_delegation_token(
        self, session: Session, token_owner: str | None, renewer_kerberos_principal_name: str | None
    ) -> str:
        """Refused: a server gives no tokens that stand for a Kerberos login."""
        raise _no_tokens()

    def renew_delegation_token(self, session: Session, token_str_form: str | None) -> int:
        """Refused: a server gives no tokens that stand for a Kerberos login."""
        raise _no_tokens()

    def cancel_delegation_token(self, session: Session, token_str_form: str | None) -> None:
        """Refused: a server gives no tokens that stand for a Kerberos login."""
        raise _no_tokens()

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


def _no_tokens() -> MetaError:
    return MetaError("delegation tokens are not supported: this metastore issues none")


def _text(given: str | None) -> str:
    if given is None:
        raise MetaError("a token, its identifier and a key must be texts, found none")
    return given
