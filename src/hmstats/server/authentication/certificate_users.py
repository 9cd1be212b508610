"""The user that a client's certificate names, by a rule of the settings."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from hmstats.errors import NotAuthenticated
from hmstats.model.access.principal import is_user_name

Rule = Literal["cn", "san"]
Certificate = Mapping[str, Any]
"""A certificate as ssl.SSLObject.getpeercert tells it."""

_NAMES = frozenset({"DNS", "email", "URI"})


def certificate_user(certificate: Certificate, rule: Rule) -> str:
    """The user in a verified certificate: its one common name, or its one alternative name (DNS, email or URI).

    Raises NotAuthenticated unless there is exactly one that can be a user's name.
    """
    names = _RULES[rule](certificate)
    if len(names) != 1 or not is_user_name(names[0]):
        raise NotAuthenticated(
            f"the client's certificate must have one {_RULE_TEXTS[rule]} that is a user's name, found {len(names)}"
        )
    return names[0]


def _common_names(certificate: Certificate) -> list[str]:
    return [value for part in certificate.get("subject", ()) for name, value in part if name == "commonName"]


def _alternative_names(certificate: Certificate) -> list[str]:
    return [value for kind, value in certificate.get("subjectAltName", ()) if kind in _NAMES]


_RULES: Mapping[Rule, Callable[[Certificate], list[str]]] = {"cn": _common_names, "san": _alternative_names}
_RULE_TEXTS: Mapping[Rule, str] = {"cn": "common name", "san": "alternative name (DNS, email or URI)"}
