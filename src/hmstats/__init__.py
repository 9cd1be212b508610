"""hmstats: table, partition and column statistics behind the Hive Metastore's Thrift API."""

__version__ = "0.1.0"
