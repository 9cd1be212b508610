"""Functions: Thrift structs <-> model, both directions side by side."""

from typing import Any

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.functions import Function, FunctionKind, FunctionName, Resource, ResourceKind
from hmstats.model.catalog.names import database_name
from hmstats.wire.idl import hive_metastore
from hmstats.wire.principals import principal_number, principal_type


def function_from_thrift(struct: Any) -> Function:
    """The function in a struct; null resources become an empty list.

    Raises MetaError if its name, its database or a type is missing, InvalidObject if its class name is.
    """
    if struct.functionName is None:
        raise MetaError("Function name cannot be null.")
    if struct.dbName is None:
        raise MetaError("Database name in Function cannot be null.")
    if struct.className is None:
        raise InvalidObject("Function class name cannot be null")
    owner_type = principal_type(struct.ownerType)
    if owner_type is None:
        raise MetaError("Function owner type cannot be null.")
    if struct.functionType not in set(FunctionKind):
        raise MetaError("Function type cannot be null.")
    parent = database_name(struct.dbName, struct.catName)
    return Function(
        name=FunctionName(parent.catalog, parent.database, struct.functionName.strip().lower()),
        class_name=struct.className,
        owner=struct.ownerName,
        owner_type=owner_type,
        created_seconds=struct.createTime or 0,
        kind=FunctionKind(struct.functionType),
        resources=tuple(map(_resource_from_thrift, struct.resourceUris or ())),
    )


def function_to_thrift(function: Function) -> Any:
    """The Function struct."""
    return hive_metastore.Function(
        functionName=function.name.function,
        dbName=function.name.database,
        className=function.class_name,
        ownerName=function.owner,
        ownerType=principal_number(function.owner_type),
        createTime=function.created_seconds,
        functionType=function.kind.value,
        resourceUris=[
            hive_metastore.ResourceUri(resourceType=each.kind.value, uri=each.uri) for each in function.resources
        ],
        catName=function.name.catalog,
    )


def _resource_from_thrift(struct: Any) -> Resource:
    if struct.resourceType not in set(ResourceKind) or struct.uri is None:
        raise InvalidObject(f"a function's file must have a type and a URI, found {struct.resourceType} {struct.uri}")
    return Resource(ResourceKind(struct.resourceType), struct.uri)
