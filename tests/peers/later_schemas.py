"""What Hive 4.1.0 and 4.2.0 changed in the metastore's schema: what they are taken out of at Maven has no scripts.

In 4.1.0 statistics lost the names of what they belong to (HIVE-27725), and two indexes have other columns (HIVE-28292,
HIVE-28828). In 4.2.0 catalogs have parameters (HIVE-29178).
"""

VERSIONS = {"4.1": "4.1.0", "4.2": "4.2.0"}
"""The version in the table VERSION, by generation."""
_TABLES = {
    "TAB_COL_STATS": ("TAB_COL_STATS_IDX", "TBL_ID", ("CAT_NAME", "DB_NAME", "TABLE_NAME")),
    "PART_COL_STATS": ("PCS_STATS_IDX", "PART_ID", ("CAT_NAME", "DB_NAME", "TABLE_NAME", "PARTITION_NAME")),
}
"""By table its index, the first column of that, and the columns that it lost."""
_OF_POSTGRES = (
    'DROP INDEX IF EXISTS "TAB_COL_STATS_N49"',
    'DROP INDEX IF EXISTS "PART_COL_STATS_N49"',
    'ALTER TABLE "TBLS" DROP CONSTRAINT "UNIQUETABLE"',
    'ALTER TABLE "TBLS" ADD CONSTRAINT "UNIQUETABLE" UNIQUE ("DB_ID", "TBL_NAME")',
    'DROP INDEX IF EXISTS "TBLS_N49"',
    'CREATE UNIQUE INDEX "TXN_STATE_IDX" ON "TXNS" ("TXN_STATE", "TXN_ID")',
)


def statements(kind: str, generation: str) -> list[str]:
    """The statements that make 4.0.0's schema on `postgres` or `derby` that of a later generation."""
    schema = '"APP".' if kind == "derby" else ""
    found: list[str] = []
    for table, (index, owner, lost) in _TABLES.items():
        found.append(f'DROP INDEX {schema}"{index}"')
        found.append(f'CREATE INDEX {schema}"{index}" ON {schema}"{table}" ("{owner}", "COLUMN_NAME")')
        found += [f'ALTER TABLE {schema}"{table}" DROP COLUMN "{name}"' for name in lost]
    if kind == "postgres":
        found += _OF_POSTGRES
    if generation == "4.2":
        found.append(
            f'CREATE TABLE {schema}"CATALOG_PARAMS" ("CTLG_ID" BIGINT NOT NULL, "PARAM_KEY" VARCHAR(180) NOT NULL, '
            '"PARAM_VALUE" VARCHAR(4000) DEFAULT NULL, PRIMARY KEY ("CTLG_ID", "PARAM_KEY"), '
            'CONSTRAINT "CATALOG_PARAMS_FK1" FOREIGN KEY ("CTLG_ID") '
            f'REFERENCES {schema}"CTLGS" ("CTLG_ID") ON DELETE CASCADE)'
        )
    version = VERSIONS[generation]
    comment = f"Hive release version {version}"
    found.append(f"""UPDATE {schema}"VERSION" SET "SCHEMA_VERSION" = '{version}', "VERSION_COMMENT" = '{comment}'""")
    return found
