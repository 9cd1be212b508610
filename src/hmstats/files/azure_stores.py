"""Accounts of Azure's stores: Arrow's arguments for them, by Hadoop's settings and by Microsoft's connection string.

AZURE_STORAGE_CONNECTION_STRING has the credentials and the endpoints of one account (`AccountName=...;AccountKey=...;
BlobEndpoint=http://...`); locations of other accounts do without it. An emulator, Azurite, is reached by it.
"""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

VARIABLE = "AZURE_STORAGE_CONNECTION_STRING"
_HADOOP = {"fs.azure.account.key": "account_key", "fs.azure.sas.fixed.token": "sas_token"}
_CONNECTION = {"AccountKey": "account_key", "SharedAccessSignature": "sas_token"}
_PUBLIC = "core.windows.net"
_BLOB, _DFS = ".blob.", ".dfs."
"""The beginnings of a host behind its account, for the Blob service and for Data Lake Storage."""


def setting_names(host: str) -> tuple[str, ...]:
    """The names of Hadoop's settings for an account, by its host."""
    return tuple(name for each in _HADOOP for name in (each, f"{each}.{host}"))


def azure_arguments(host: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """Arguments for Arrow's AzureFileSystem: by an account's own settings, then Hadoop's, then the environment."""
    account, _, domain = host.partition(".")
    _, _, suffix = domain.partition(".")
    connection = _connection_string(account)
    found = _authorities(account, suffix, connection)
    given = {argument: settings.get(f"{name}.{host}") or settings.get(name) for name, argument in _HADOOP.items()}
    if not any(given.values()):
        given = {argument: connection.get(name) for name, argument in _CONNECTION.items()}
    return {"account_name": account, **found, **{name: value for name, value in given.items() if value}}


def blob_endpoint(arguments: Mapping[str, Any]) -> str | None:
    """The URL of the Blob service that the arguments name; None if it is the public one."""
    authority = arguments.get("blob_storage_authority")
    if authority is None:
        return None
    account, scheme = arguments["account_name"], arguments.get("blob_storage_scheme", "https")
    return f"{scheme}://{account}{authority}" if authority.startswith(".") else f"{scheme}://{authority}/{account}"


def _connection_string(account: str) -> dict[str, str]:
    """The parts of the environment's connection string; none if it is another account's."""
    parts = (each.partition("=") for each in os.environ.get(VARIABLE, "").split(";"))
    found = {name.strip(): value.strip() for name, _, value in parts if value}
    return found if found.get("AccountName") == account else {}


def _authorities(account: str, suffix: str, connection: Mapping[str, str]) -> dict[str, str]:
    """The addresses of an account's services, where they are not the public ones."""
    endpoint = urlsplit(connection.get("BlobEndpoint", ""))
    scheme = endpoint.scheme or connection.get("DefaultEndpointsProtocol", "https")
    if endpoint.netloc and not endpoint.netloc.startswith(f"{account}{_BLOB}"):
        blob = dfs = endpoint.netloc  # of an emulator, which has accounts as paths
    else:
        domain = endpoint.netloc.removeprefix(f"{account}{_BLOB}") or connection.get("EndpointSuffix") or suffix
        blob, dfs = _BLOB + domain, _DFS + domain
    if scheme == "https" and blob in (_BLOB, _BLOB + _PUBLIC):
        return {}
    return {
        "blob_storage_authority": blob,
        "blob_storage_scheme": scheme,
        "dfs_storage_authority": dfs,
        "dfs_storage_scheme": scheme,
    }
