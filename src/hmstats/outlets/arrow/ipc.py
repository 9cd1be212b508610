"""Statistics arrays as bytes and files: Arrow's IPC stream and IPC file, a record batch for each target."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from hmstats.errors import InvalidInput
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.arrow import statistics_batches
from hmstats.private_files import replaced_when_whole

_FILE_MAGIC = b"ARROW1"


def stream(found: Sequence[TableStatistics]) -> bytes:
    """An IPC stream of the targets' statistics, in their order."""
    sink = pa.BufferOutputStream()
    schema, batches = statistics_batches(found)
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def write_file(path: str | Path, found: Sequence[TableStatistics]) -> None:
    """Write an IPC file, which is Feather's second version too; it is there when it is whole.

    Raises OSError when it cannot be written, or the place is no file, such as a pipe.
    """
    schema, batches = statistics_batches(found)
    with replaced_when_whole(path) as part, pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def read(source: bytes | str | Path) -> list[pa.RecordBatch]:
    """The record batches of an IPC stream or file, given as its bytes or its path; table_statistics() reads each.

    Raises InvalidInput when it is neither.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    try:
        if not content.startswith(_FILE_MAGIC):
            return list(pa.ipc.open_stream(content))
        with pa.ipc.open_file(content) as reader:
            return [reader.get_batch(number) for number in range(reader.num_record_batches)]
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidInput(
            f"statistics must be an Arrow IPC stream or file, found {len(content)} bytes: {error}"
        ) from error
