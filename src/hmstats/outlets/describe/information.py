"""The detailed information that DESCRIBE FORMATTED has of a table or a partition, and of where its data is."""

from collections.abc import Iterator, Mapping

from hmstats.model.catalog.objects import VIRTUAL_VIEW, Parameters, Partition, Storage, Table
from hmstats.outlets.describe.layout import EMPTY, date_text, list_text, parameter_rows, row, title


def table_information(table: Table, parameters: Parameters) -> list[str]:
    """The rows below a table's columns, with these parameters in place of its own."""
    facts = {
        "Database:": table.name.database,
        "OwnerType:": table.owner_type,
        "Owner:": table.owner,
        "CreateTime:": date_text(table.created_seconds),
        "LastAccessTime:": date_text(table.last_access_seconds),
        "Retention:": str(table.retention),
        "Location:": None if table.storage is None else table.storage.location,
        "Table Type:": table.table_type,
    }
    if table.table_type == VIRTUAL_VIEW:
        del facts["Location:"]
    lines = [EMPTY, title("# Detailed Table Information"), *_facts(facts)]
    if parameters:
        lines += [title("Table Parameters:"), *parameter_rows(parameters, of_table=True)]
    lines += _storage_information(table.storage)
    if table.view_original_text is not None:
        lines += [EMPTY, title("# View Information")]
        lines += _facts({"Original Query:": table.view_original_text, "Expanded Query:": table.view_expanded_text})
    return lines


def partition_information(table: Table, partition: Partition) -> list[str]:
    """The rows below a partition's columns."""
    facts = {
        "Partition Value:": list_text(partition.values),
        "Database:": table.name.database,
        "Table:": table.name.table,
        "CreateTime:": date_text(partition.created_seconds),
        "LastAccessTime:": date_text(partition.last_access_seconds),
        "Location:": None if partition.storage is None else partition.storage.location,
    }
    lines = [EMPTY, title("# Detailed Partition Information"), *_facts(facts)]
    if partition.parameters:
        lines += [title("Partition Parameters:"), *parameter_rows(partition.parameters, of_table=False)]
    if table.table_type != VIRTUAL_VIEW:
        lines += _storage_information(partition.storage)
    return lines


def _storage_information(storage: Storage | None) -> list[str]:
    lines = [EMPTY, title("# Storage Information")]
    if storage is None:
        return lines
    orders = (f"Order(col:{each.column}, order:{each.order})" for each in storage.sort_columns)
    facts = {
        "SerDe Library:": storage.serde.library,
        "InputFormat:": storage.input_format,
        "OutputFormat:": storage.output_format,
        "Compressed:": "Yes" if storage.compressed else "No",
        "Num Buckets:": str(storage.buckets),
        "Bucket Columns:": list_text(storage.bucket_columns),
        "Sort Columns:": list_text(orders),
    }
    lines += _facts(facts)
    if storage.serde.parameters:
        lines += [title("Storage Desc Params:"), *parameter_rows(storage.serde.parameters, of_table=False)]
    return lines


def _facts(facts: Mapping[str, str | None]) -> Iterator[str]:
    for name, value in facts.items():
        yield from row(name, value)
