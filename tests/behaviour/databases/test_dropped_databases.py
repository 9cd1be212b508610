"""What a database leaves behind when it is dropped with all its tables."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api


@pytest.mark.parametrize("place", ["inside", "outside"])
@pytest.mark.parametrize("purge", [True, False])
def test_files_of_external_tables(metastore: Metastore, tmp_path: Path, place: str, purge: bool) -> None:
    """They go if the table says so, as with a drop of it alone; Hive removes all that lies in the database."""
    client, name, parameters = metastore.client(), f"{metastore.database}_gone", {"EXTERNAL": "TRUE"}
    client.create_database(api.Database(name=name, description="", parameters={}))
    storage = metastore.storage()
    if place == "outside":
        storage.location = f"file:{tmp_path}/t"
    if purge:
        parameters["external.table.purge"] = "TRUE"
    table = api.Table(
        tableName="t",
        dbName=name,
        owner="x",
        sd=storage,
        partitionKeys=[],
        parameters=parameters,
        tableType="EXTERNAL_TABLE",
    )
    client.create_table(table)
    stored = client.get_table_req(api.GetTableRequest(dbName=name, tblName="t")).table
    folder, above = (_folder(each) for each in (stored.sd.location, client.get_database(name).locationUri))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "part-0").write_text("rows")
    client.drop_database(name, True, True)
    older = metastore.flavour in ("hive-2.3", "hive-3.1")
    stays = place == "outside" and (older or not purge)
    kept = metastore.ours and not purge and place == "inside"
    assert (folder.exists(), above.exists()) == (stays or kept, kept)


def _folder(location: str) -> Path:
    return Path(urlsplit(location).path)
