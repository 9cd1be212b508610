"""The client's side of the metastore's API: connect, ask, and push statistics in batches.

It talks to our server and to real Hive Metastores from 2.3 on.
"""

from hmstats.client.metastore import Metastore, connect

__all__ = ["Metastore", "connect"]
