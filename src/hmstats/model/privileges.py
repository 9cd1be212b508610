"""Roles, who has them, and privileges on objects. They are kept for engines that enforce them; nothing here does."""

from dataclasses import dataclass
from enum import Enum

USER, GROUP, ROLE = "USER", "GROUP", "ROLE"
ADMIN_ROLE, PUBLIC_ROLE = "admin", "public"
"""The roles that are always there. Every user has `public` without a grant."""

SQL_AUTHORIZER = "SQL"
"""Who is said to have granted what a new table brings with it."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A user, a group or a role; `type` is USER, GROUP or ROLE."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Role:
    """A role."""

    name: str
    owner: str | None = None
    created_seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleGrant:
    """A role that a principal has. With `grant_option` the principal may grant it on."""

    role: str
    principal: Principal
    grantor: str | None = None
    grantor_type: str | None = None
    grant_option: bool = False
    granted_seconds: int = 0


class SecuredKind(Enum):
    """The kinds of objects that privileges are on."""

    GLOBAL = "global"
    DATABASE = "database"
    TABLE = "table"
    PARTITION = "partition"
    TABLE_COLUMN = "column of a table"
    PARTITION_COLUMN = "column of a partition"


@dataclass(frozen=True, slots=True)
class Secured:
    """An object that privileges are on; what its kind does not need is None. `values` are a partition's."""

    kind: SecuredKind
    catalog: str
    database: str | None = None
    table: str | None = None
    values: tuple[str, ...] | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A privilege, such as SELECT, who gave it and when. With `grant_option` it may be granted on."""

    privilege: str
    grantor: str | None = None
    grantor_type: str | None = None
    grant_option: bool = False
    created_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Privilege:
    """A grant to a principal on an object. `authorizer` names the system that keeps it, such as SQL or Ranger."""

    on: Secured
    principal: Principal
    grant: Grant
    authorizer: str | None = None
