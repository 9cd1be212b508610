"""Calls about delegation tokens, which Kerberos would need: refused, since there is no Kerberos here."""

from hmstats.errors import MetaError
from hmstats.server.session import Session


class TokenCalls:
    """get, renew and cancel of delegation tokens."""

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


def _no_tokens() -> MetaError:
    return MetaError("delegation tokens are not supported: this metastore does not log clients in with Kerberos")
