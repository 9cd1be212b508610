"""Data catalogs that read a metastore's database, not the metastore: DataHub, OpenMetadata, Amundsen.

Their connectors ask a PostgreSQL with Hive's schema for databases, tables, columns, keys, views, parameters and
partitions. The questions below ask for the same tables and columns in our own words; each is put to a database that a
real Hive 4.0.1 filled and to one that hmstats filled, by the same calls.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text
from tests.behaviour.structs import STRUCTS, column_object, statistics
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.wire.idl import hive_metastore as api

pytestmark = [pytest.mark.hive, pytest.mark.slow]

DATABASE = "shop"
TABLE_OF_DATABASE = """"TBLS" t JOIN "DBS" d ON d."DB_ID" = t."DB_ID" """
QUESTIONS = {
    "databases": """SELECT d."NAME", d."DESC", d."OWNER_NAME", d."OWNER_TYPE" FROM "DBS" d ORDER BY d."NAME" DESC""",
    "columns of tables": f"""
        SELECT d."NAME", t."TBL_NAME", to_char(to_timestamp(t."CREATE_TIME"), 'YYYY') > '2000' AS dated,
               c."COLUMN_NAME", c."INTEGER_IDX", c."COMMENT", c."TYPE_NAME", s."LOCATION", 0 AS is_key
        FROM {TABLE_OF_DATABASE} JOIN "SDS" s ON s."SD_ID" = t."SD_ID" JOIN "COLUMNS_V2" c ON c."CD_ID" = s."CD_ID"
        WHERE t."TBL_TYPE" IN ('MANAGED_TABLE', 'EXTERNAL_TABLE')
        UNION
        SELECT d."NAME", t."TBL_NAME", to_char(to_timestamp(t."CREATE_TIME"), 'YYYY') > '2000' AS dated,
               k."PKEY_NAME", k."INTEGER_IDX", k."PKEY_COMMENT", k."PKEY_TYPE", s."LOCATION", 1 AS is_key
        FROM {TABLE_OF_DATABASE} JOIN "SDS" s ON s."SD_ID" = t."SD_ID"
             JOIN "PARTITION_KEYS" k ON k."TBL_ID" = t."TBL_ID"
        WHERE t."TBL_TYPE" IN ('MANAGED_TABLE', 'EXTERNAL_TABLE')
        ORDER BY 1, 2, 9, 5""",
    "columns by their descriptor": f"""
        SELECT c."COLUMN_NAME", c."TYPE_NAME", c."COMMENT" FROM "COLUMNS_V2" c JOIN "CDS" cd ON cd."CD_ID" = c."CD_ID"
        JOIN "SDS" s ON s."CD_ID" = cd."CD_ID" JOIN "TBLS" t ON t."SD_ID" = s."SD_ID" AND t."TBL_NAME" = 'sales'
        JOIN "DBS" d ON d."DB_ID" = t."DB_ID" AND d."NAME" = '{DATABASE}' ORDER BY c."INTEGER_IDX" """,
    "names of views": f"""
        SELECT t."TBL_NAME" FROM {TABLE_OF_DATABASE} WHERE t."TBL_TYPE" = 'VIRTUAL_VIEW' ORDER BY 1""",
    "names of tables": f"""
        SELECT t."TBL_NAME", t."OWNER", t."OWNER_TYPE" FROM {TABLE_OF_DATABASE}
        WHERE t."TBL_TYPE" <> 'VIRTUAL_VIEW' OR t."TBL_TYPE" IS NULL ORDER BY 1""",
    "views": f"""
        SELECT d."NAME", t."TBL_NAME", t."VIEW_ORIGINAL_TEXT", t."VIEW_EXPANDED_TEXT", p."PARAM_VALUE", c."COLUMN_NAME"
        FROM {TABLE_OF_DATABASE} JOIN "SDS" s ON s."SD_ID" = t."SD_ID" JOIN "COLUMNS_V2" c ON c."CD_ID" = s."CD_ID"
        LEFT JOIN "TABLE_PARAMS" p ON p."TBL_ID" = t."TBL_ID" AND p."PARAM_KEY" = 'comment'
        WHERE t."TBL_TYPE" = 'VIRTUAL_VIEW' ORDER BY 1, 2, c."INTEGER_IDX" """,
    "views of Presto": f"""
        SELECT t."TBL_NAME", t."VIEW_ORIGINAL_TEXT" FROM {TABLE_OF_DATABASE}
        WHERE t."VIEW_EXPANDED_TEXT" = '/* Presto View */' """,
    "comments": f"""
        SELECT d."NAME", t."TBL_NAME", p."PARAM_VALUE" FROM {TABLE_OF_DATABASE}
        LEFT JOIN "TABLE_PARAMS" p ON p."TBL_ID" = t."TBL_ID" AND p."PARAM_KEY" = 'comment' ORDER BY 1, 2""",
    "parameters": f"""
        SELECT t."TBL_NAME", p."PARAM_KEY", p."PARAM_VALUE" FROM "TABLE_PARAMS" p JOIN {TABLE_OF_DATABASE}
        ON p."TBL_ID" = t."TBL_ID" WHERE p."PARAM_KEY" NOT LIKE '%DdlTime' ORDER BY 1, 2""",
    "partitions": f"""
        SELECT d."NAME", t."TBL_NAME", count(p."PART_NAME"), min(p."PART_NAME"), max(p."PART_NAME"), min(s."LOCATION"),
               min(p."CREATE_TIME") > 1000000000 AS dated
        FROM {TABLE_OF_DATABASE} JOIN "PARTITIONS" p ON p."TBL_ID" = t."TBL_ID" JOIN "SDS" s ON s."SD_ID" = p."SD_ID"
        GROUP BY 1, 2 ORDER BY 1, 2""",
    "values and parameters of partitions": """
        SELECT p."PART_NAME", v."PART_KEY_VAL", v."INTEGER_IDX", a."PARAM_VALUE" FROM "PARTITIONS" p
        JOIN "PARTITION_KEY_VALS" v ON v."PART_ID" = p."PART_ID"
        LEFT JOIN "PARTITION_PARAMS" a ON a."PART_ID" = p."PART_ID" AND a."PARAM_KEY" = 'numRows' ORDER BY 1, 3""",
    "formats": f"""
        SELECT t."TBL_NAME", s."INPUT_FORMAT", s."OUTPUT_FORMAT", e."SLIB", s."IS_COMPRESSED", s."NUM_BUCKETS"
        FROM {TABLE_OF_DATABASE} JOIN "SDS" s ON s."SD_ID" = t."SD_ID" JOIN "SERDES" e ON e."SERDE_ID" = s."SERDE_ID"
        ORDER BY 1""",
    "statistics of tables": f"""
        SELECT t."TBL_NAME", c."COLUMN_NAME", c."COLUMN_TYPE", c."NUM_NULLS", c."NUM_DISTINCTS", c."LONG_LOW_VALUE",
               c."LONG_HIGH_VALUE", c."AVG_COL_LEN", c."MAX_COL_LEN", c."ENGINE", c."DB_NAME", c."TABLE_NAME"
        FROM "TAB_COL_STATS" c JOIN {TABLE_OF_DATABASE} ON t."TBL_ID" = c."TBL_ID" ORDER BY 1, 2""",
    "statistics of partitions": """
        SELECT p."PART_NAME", c."COLUMN_NAME", c."NUM_NULLS", c."NUM_DISTINCTS", c."PARTITION_NAME"
        FROM "PART_COL_STATS" c JOIN "PARTITIONS" p ON p."PART_ID" = c."PART_ID" ORDER BY 1, 2""",
}


def _fill(metastore: Metastore) -> None:
    """The same catalog by the same calls."""
    client = metastore.client()
    owner = {"ownerName": "ada", "ownerType": api.PrincipalType.USER}
    client.create_database(api.Database(name=DATABASE, description="what is sold", parameters={"team": "one"}, **owner))
    columns = {"id": "bigint", "name": "string", "price": "decimal(10,2)"}
    metastore.table("orders", columns, parameters={"comment": "all orders", "EXTERNAL": "TRUE"})
    metastore.table("sales", columns, keys=("day", "region"), parameters={"comment": "by day", "EXTERNAL": "TRUE"})
    metastore.add_partitions(("1", "eu"), ("2", "a b"), table="sales", columns=columns)
    _view(
        metastore, "big", "SELECT * FROM orders", "SELECT `orders`.`id` FROM `shop`.`orders`", {"comment": "big ones"}
    )
    _view(metastore, "presto", "/* Presto View: eyJhIjoxfQ== */", "/* Presto View */", {"presto_view": "true"})
    both = (column_object("id", "bigint", *STRUCTS["l"]), column_object("name", "string", *STRUCTS["s"]))
    assert client.update_table_column_statistics(statistics(metastore, *both, table="orders"))
    of_partition = statistics(metastore, *both, table="sales", partition="day=1/region=eu")
    assert client.update_partition_column_statistics(of_partition)
    altered = client.get_partition(DATABASE, "sales", ["1", "eu"])
    altered.parameters = (altered.parameters or {}) | {"numRows": "7"}
    context = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
    client.alter_partition_with_environment_context(DATABASE, "sales", altered, context)


def _view(metastore: Metastore, name: str, original: str, expanded: str, parameters: dict[str, str]) -> None:
    storage = metastore.storage({"id": "bigint"})
    view = api.Table(
        tableName=name,
        dbName=DATABASE,
        owner="tester",
        sd=storage,
        partitionKeys=[],
        parameters=parameters,
        viewOriginalText=original,
        viewExpandedText=expanded,
        tableType="VIRTUAL_VIEW",
    )
    metastore.client().create_table(view)


def _answers(url: str, warehouse: str) -> dict[str, list[Any]]:
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg2"))
    with engine.connect() as connection:
        found = {
            about: [
                tuple(each.replace(warehouse, "WAREHOUSE") if isinstance(each, str) else each for each in row)
                for row in connection.execute(text(asked))
            ]
            for about, asked in QUESTIONS.items()
        }
    engine.dispose()
    return found


@pytest.fixture(scope="module")
def both(
    postgres_server: str, postgres_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[dict[str, list[Any]], dict[str, list[Any]]]]:
    """What Hive's database answers to each question, and what ours does."""
    theirs, ours = tmp_path_factory.mktemp("catalog-hive"), tmp_path_factory.mktemp("catalog-ours")
    transformer = "metastore.metadata.transformer.class= "
    with ExitStack() as stack:
        hive_url = stack.enter_context(fresh_database(postgres_server))
        our_url = stack.enter_context(fresh_database(postgres_server, postgres_template))
        hive_port = stack.enter_context(hive("4.0", theirs, transformer, database=hive_url))
        our_port = stack.enter_context(serving(ours, database=our_url))
        for port in (hive_port, our_port):
            metastore = Metastore("", port, 4.0, DATABASE)
            with metastore.clients:
                _fill(metastore)
        yield _answers(hive_url, f"file:{theirs}/warehouse"), _answers(our_url, f"file:{ours}/warehouse")


@pytest.mark.parametrize("about", list(QUESTIONS))
def test_a_catalog_reads_the_same_as_from_hives_database(
    both: tuple[dict[str, list[Any]], dict[str, list[Any]]], about: str
) -> None:
    theirs, ours = both
    assert theirs[about]
    assert ours[about] == theirs[about]
