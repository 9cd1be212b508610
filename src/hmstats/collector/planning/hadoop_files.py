"""Lists data files in stores that only Spark's Hadoop has a client for, such as viewfs, Ozone or a vendor's own."""

import errno
from collections.abc import Iterator, Mapping
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from hmstats.collector.planning.data_files import DataFile, is_data
from hmstats.collector.spark.spark_reasons import first_reason

_MISSING = "java.io.FileNotFoundException"
_NS_PER_MS = 1_000_000


class HadoopFiles:
    """Lists files through the driver's Java, one after the other: some 200 a second."""

    def __init__(self, spark: SparkSession) -> None:
        self._java: Any = spark._jvm  # noqa: SLF001 - Hadoop is known to the JVM only
        self._conf: Any = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001

    def list_each(self, locations: Mapping[str, str]) -> dict[str, list[DataFile] | OSError]:
        """The data files under each location, sorted by path, or the error if it cannot be listed."""
        return {key: self._list(location) for key, location in locations.items()}

    def _list(self, location: str) -> list[DataFile] | OSError:
        try:
            return sorted(self._files_below(location), key=lambda each: each.path)
        except Py4JJavaError as error:
            if error.java_exception.getClass().getName() == _MISSING:
                return FileNotFoundError(errno.ENOENT, "there is no such directory", location)
            return OSError(first_reason(error))

    def _files_below(self, location: str) -> Iterator[DataFile]:
        root = self._java.org.apache.hadoop.fs.Path(location)
        files = root.getFileSystem(self._conf)
        top = files.getFileStatus(root).getPath().toUri().getPath().rstrip("/")
        found = files.listFiles(root, True)
        while found.hasNext():
            status = found.next()
            path = status.getPath().toUri().getPath()
            if status.getLen() and is_data(path[len(top) + 1 :]):
                yield DataFile(path, status.getLen(), status.getModificationTime() * _NS_PER_MS)
