"""Access to files for PyIceberg's catalogs, by the project's rule for places and by the environment alone."""

from collections.abc import Mapping

from hmstats.collector.lake.iceberg.file_io import PlacesFileIO
from hmstats.collector.lake.opened import no_settings
from hmstats.files.counted_reads import Reads


class EnvironmentFileIO(PlacesFileIO):
    """Files by their location, as PyIceberg makes it by its name."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        super().__init__(properties, no_settings, Reads())
