"""Calls of subjects that hmstats does not have: unknown methods, after which the connection lives."""

from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

_CALLS: dict[str, tuple[Any, ...]] = {
    "get_all_resource_plans": (api.WMGetAllResourcePlanRequest(),),
    "get_active_resource_plan": (api.WMGetActiveResourcePlanRequest(),),
    "create_ischema": (api.ISchema(name="s"),),
    "get_stored_procedure": (api.StoredProcedureRequest(catName="hive", dbName="default", procName="p"),),
    "get_all_packages": (api.ListPackageRequest(catName="hive"),),
    "scheduled_query_poll": (api.ScheduledQueryPollRequest(clusterNamespace="hive"),),
    "get_file_metadata": (api.GetFileMetadataRequest(fileIds=[1]),),
}


@pytest.mark.parametrize("name", _CALLS)
def test_what_is_not_served_is_unknown_and_the_connection_lives(our_metastore: Metastore, name: str) -> None:
    client = our_metastore.client()
    with pytest.raises(TApplicationException) as raised:
        getattr(client, name)(*_CALLS[name])
    assert raised.value.type == TApplicationException.UNKNOWN_METHOD
    assert raised.value.message == f"Invalid method name: '{name}'"
    assert our_metastore.database in client.get_all_databases()
