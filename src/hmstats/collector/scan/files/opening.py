"""Opens the file of a split, which must still have the size with which it was listed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from hmstats.collector.scan.files.splits import Split
from hmstats.errors import UnreadableFile
from hmstats.files.counted_reads import Reads
from hmstats.files.file_systems import open_location


@contextmanager
def open_split(split: Split, reads: Reads, remote_block_bytes: int | None = None) -> Iterator[pa.PythonFile]:
    """The file of a split; `reads` counts reads. In an object store it may be read in blocks of `remote_block_bytes`.

    Raises OSError, and UnreadableFile if the file has another size than was listed: its row groups may differ from
    those assigned to the tasks, and the stored sizes are those of the listing.
    """
    system, _ = open_location(split.location, split.settings)
    with reads.open(system, split.path, None if system.type_name == "local" else remote_block_bytes) as file:
        if split.listed_bytes not in (None, size := file.size()):
            raise UnreadableFile(
                f"file {split.path} was listed with {split.listed_bytes:,} bytes and has {size:,}: "
                "it was written while the table was analysed; analyze again"
            )
        yield file
