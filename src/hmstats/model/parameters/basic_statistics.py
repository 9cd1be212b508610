"""Basic statistics of a table or a partition: rows, files and bytes, and how a writer has counted them.

The names are those of Hive's parameters and of the environment contexts that come with its calls.
"""

from dataclasses import dataclass
from enum import Enum, auto

from hmstats.model.catalog.objects import Parameters
from hmstats.model.parameters.row_counts import NUM_ROWS, row_count

NUM_FILES, TOTAL_SIZE, RAW_DATA_SIZE = "numFiles", "totalSize", "rawDataSize"
ERASURE_CODED = "numFilesErasureCoded"
COUNTS = (NUM_FILES, NUM_ROWS, TOTAL_SIZE, RAW_DATA_SIZE, ERASURE_CODED)
FILE_SIZES = (NUM_FILES, TOTAL_SIZE)
"""The parameters that a listing of files determines."""


class StatisticsSource(Enum):
    """The source of the basic statistics that the writer of a table or a partition sends."""

    UNSAID = auto()
    """Unset: the data may have changed, and nothing is exact."""
    AS_GIVEN = auto()
    """DO_NOT_UPDATE_STATS: the parameters are stored as they are."""
    TASK = auto()
    """STATS_GENERATED=TASK: a job has counted the rows."""
    USER = auto()
    """STATS_GENERATED=USER: somebody has set the numbers."""


@dataclass(frozen=True, slots=True)
class FileSizes:
    """The number of data files at a location and their bytes. `exists`: the location exists, perhaps empty."""

    files: int = 0
    size_bytes: int = 0
    exists: bool = False

    def parameters(self) -> dict[str, str]:
        """The parameters of these numbers."""
        return {NUM_FILES: str(self.files), TOTAL_SIZE: str(self.size_bytes)}


def same_sizes(one: Parameters, other: Parameters) -> bool:
    """Whether both have a number of files and bytes, and these are equal."""
    sizes = [tuple(row_count(each.get(key)) for key in FILE_SIZES) for each in (one, other)]
    return None not in sizes[0] and sizes[0] == sizes[1]
