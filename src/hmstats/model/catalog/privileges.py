"""Roles, their grants, and privileges on objects, which are stored for engines that enforce them."""

from dataclasses import dataclass
from enum import Enum

USER, GROUP, ROLE = "USER", "GROUP", "ROLE"
ADMIN_ROLE, PUBLIC_ROLE = "admin", "public"
"""The built-in roles. Every user has `public` without a grant."""

SQL_AUTHORIZER = "SQL"
"""The authorizer of the privileges that are created with a new table."""


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
    """The kinds of objects that can have privileges."""

    GLOBAL = "global"
    DATABASE = "database"
    TABLE = "table"
    PARTITION = "partition"
    TABLE_COLUMN = "column of a table"
    PARTITION_COLUMN = "column of a partition"


@dataclass(frozen=True, slots=True)
class Secured:
    """An object with privileges; fields that its kind does not need are None. `values` are a partition's."""

    kind: SecuredKind
    catalog: str
    database: str | None = None
    table: str | None = None
    values: tuple[str, ...] | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A privilege, such as SELECT, its grantor and time. With `grant_option` it may be granted on."""

    privilege: str
    grantor: str | None = None
    grantor_type: str | None = None
    grant_option: bool = False
    created_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Privilege:
    """A grant to a principal on an object. `authorizer` names the system that manages it, such as SQL or Ranger."""

    on: Secured
    principal: Principal
    grant: Grant
    authorizer: str | None = None
