"""What a table's properties name is never opened: a client could have a server call addresses inside of its network."""

import socket

from tests.fixtures.metastores import Metastore

NAMED = ("avro.schema.url", "schema.url", "metadata_location", "hive.metastore.uris", "path")


def test_no_address_in_a_property_is_opened(our_metastore: Metastore) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/schema.avsc"
        name, client, database = our_metastore.table("t", keys=("k",)), our_metastore.client(), our_metastore.database
        table = client.get_table(database, name)
        for properties in (table.parameters, table.sd.parameters, table.sd.serdeInfo.parameters):
            properties.update(dict.fromkeys(NAMED, address))
        table.sd.serdeInfo.serializationLib = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"
        client.alter_table(database, name, table)
        assert client.get_table(database, name).sd.serdeInfo.parameters["avro.schema.url"] == address
        assert [each.name for each in client.get_schema(database, name)][-1] == "k"
        client.get_fields(database, name)
        our_metastore.add_partitions(("a",))
        client.drop_table(database, name, True)
        listening.setblocking(False)
        try:
            caller = listening.accept()[1]
        except BlockingIOError:
            caller = None
    assert caller is None
