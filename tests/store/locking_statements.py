"""Which statements of a migration hold up a service that is running, or break the version before, and why.

Facts: PostgreSQL's documentation of explicit locking and of ALTER TABLE.
"""

import re

_NAME = r'(?:ONLY )?"?(\w+)"?'
_CREATED = re.compile(rf"CREATE TABLE (?:IF NOT EXISTS )?{_NAME}")
_TABLE = re.compile(
    rf"(?:(?:ALTER|DROP) TABLE(?: IF EXISTS)? |TRUNCATE (?:TABLE )?|UPDATE |DELETE FROM |LOCK (?:TABLE )?"
    rf"|CLUSTER |VACUUM FULL |REINDEX TABLE |CREATE (?:UNIQUE )?INDEX (?:\w+ |\"\w+\" )?ON ){_NAME}",
    re.IGNORECASE,
)
_OWN = "HMSTATS_ALEMBIC_VERSION"

_RULES: tuple[tuple[str, str], ...] = (
    (r"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)", "writers wait until the index is made: CONCURRENTLY"),
    (r"ALTER COLUMN .* TYPE ", "the table is rewritten while nobody may read it"),
    (r"SET NOT NULL", "all rows are read while nobody may write them"),
    (r"ADD COLUMN (?!.*DEFAULT).* NOT NULL", "rows that are there have no value, nor have those of the version before"),
    (r"ADD (?:CONSTRAINT .*)?(?:FOREIGN KEY|CHECK)(?!.*NOT VALID)", "all rows are checked under a lock: NOT VALID"),
    (r"ADD (?:CONSTRAINT \S+ )?(?:UNIQUE|PRIMARY KEY) \(", "an index is made under a lock: USING INDEX"),
    (r"DROP COLUMN|RENAME|DROP TABLE", "the version before still uses it"),
    (
        r"SET TABLESPACE|SET (?:UN)?LOGGED|CLUSTER|VACUUM FULL|REINDEX|LOCK |TRUNCATE",
        "the table is locked or rewritten",
    ),
    (r"^(?:UPDATE|DELETE)", "many rows may be locked, in one transaction"),
)


_KEY = re.compile(rf"FOREIGN KEY\s*\([^)]*\) REFERENCES {_NAME} \([^)]*\)(?! ON DELETE CASCADE)")
_OF_OURS = "HMSTATS_"
"""Tables whose shape Hive does not give."""


def complaints(sql: str) -> list[str]:
    """What is wrong with the statements of a migration; tables that it makes itself are free."""
    statements = [" ".join(each.split()) for each in re.sub(r"--.*", "", sql).split(";")]
    made = {found[1] for each in statements if (found := _CREATED.match(each))} | {_OWN}
    return _complaints_of_keys(statements, made) + [
        f"{statement}: {reason}"
        for statement in statements
        if (table := _TABLE.match(statement)) and table[1] not in made
        for pattern, reason in _RULES
        if re.search(pattern, statement, re.IGNORECASE)
    ]


def _complaints_of_keys(statements: list[str], made: set[str]) -> list[str]:
    """New tables of ours that keep the version before, which does not know them, from deleting rows."""
    created = [(found[1], each) for each in statements if (found := _CREATED.match(each))]
    return [
        f"{statement}: the version before cannot delete what is referred to in {key[1]}: ON DELETE CASCADE"
        for table, statement in created
        if table.startswith(_OF_OURS)
        for key in _KEY.finditer(statement)
        if key[1] not in made
    ]
