"""Calls about delegation tokens. None is issued, since that takes Kerberos; those of other servers are kept."""

from hmstats.errors import MetaError
from hmstats.server.session import Session
from hmstats.service.access.tokens import Tokens


class TokenCalls:
    """Delegation tokens and the master keys that sign them, as HiveServer2 keeps them in its metastore."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def get_delegation_token(
        self, session: Session, token_owner: str | None, renewer_kerberos_principal_name: str | None
    ) -> str:
        """Refused: tokens stand for a Kerberos login, and there is none."""
        raise _no_tokens()

    def renew_delegation_token(self, session: Session, token_str_form: str | None) -> int:
        """Refused: tokens stand for a Kerberos login, and there is none."""
        raise _no_tokens()

    def cancel_delegation_token(self, session: Session, token_str_form: str | None) -> None:
        """Refused: tokens stand for a Kerberos login, and there is none."""
        raise _no_tokens()

    def add_token(self, session: Session, token_identifier: str | None, delegation_token: str | None) -> bool:
        """Keep another server's token; false where the identifier has one already."""
        return self._tokens.add(_text(token_identifier), _text(delegation_token))

    def get_token(self, session: Session, token_identifier: str | None) -> str:
        """The token of an identifier; an empty text where there is none."""
        return self._tokens.get(_text(token_identifier)) or ""

    def get_all_token_identifiers(self, session: Session) -> list[str]:
        """The identifiers of all tokens."""
        return self._tokens.identifiers()

    def remove_token(self, session: Session, token_identifier: str | None) -> bool:
        """Forget a token; false where there is none."""
        return self._tokens.remove(_text(token_identifier))

    def add_master_key(self, session: Session, key: str | None) -> int:
        """Keep a master key; its number comes back."""
        return self._tokens.add_key(_text(key))

    def update_master_key(self, session: Session, seq_number: int, key: str | None) -> None:
        """Replace a master key."""
        self._tokens.replace_key(seq_number, _text(key))

    def remove_master_key(self, session: Session, key_seq: int) -> bool:
        """Forget a master key; false where there is none of this number."""
        return self._tokens.remove_key(key_seq)

    def get_master_keys(self, session: Session) -> list[str]:
        """All master keys, the oldest first."""
        return self._tokens.keys()


def _no_tokens() -> MetaError:
    return MetaError("delegation tokens are not supported: this metastore does not log clients in with Kerberos")


def _text(given: str | None) -> str:
    if given is None:
        raise MetaError("a token, its identifier and a key must be texts, found none")
    return given
