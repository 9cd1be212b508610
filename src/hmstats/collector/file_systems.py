"""Arrow's file systems for Hadoop's schemes, with the settings by which Spark reaches the same places.

Settings are those of Hadoop (fs.s3a.*, fs.azure.*, fs.gs.*). What is not set is found as Arrow finds it: from the
environment, from profiles, from the machine's own identity. HDFS takes its settings from the Hadoop on the machine.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from pyarrow import fs

Settings: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values of Hadoop's settings, in the order of their names."""
NO_SETTINGS: Settings = ()

_S3_SCHEMES = ("s3", "s3a", "s3n")
_AZURE_SCHEMES = ("abfs", "abfss")
_S3 = {
    "access.key": "access_key",
    "secret.key": "secret_key",
    "session.token": "session_token",
    "endpoint": "endpoint_override",
    "endpoint.region": "region",
    "assumed.role.arn": "role_arn",
}
"""Hadoop's name behind fs.s3a. (or fs.s3a.bucket.NAME.), and Arrow's argument."""
_S3_OTHERS = ("path.style.access", "connection.ssl.enabled", "aws.credentials.provider")
_AZURE = {"fs.azure.account.key": "account_key", "fs.azure.sas.fixed.token": "sas_token"}
_GS = {"fs.gs.project.id": "project_id", "fs.gs.storage.root.url": "endpoint_override"}
_GS_TYPE = "fs.gs.auth.type"


def setting_names(scheme: str, authority: str) -> tuple[str, ...]:
    """The settings of Hadoop that matter for a scheme and what stands behind its //."""
    if scheme in _S3_SCHEMES:
        prefixes = ("fs.s3a", f"fs.s3a.bucket.{authority}")
        return tuple(f"{prefix}.{name}" for prefix in prefixes for name in (*_S3, *_S3_OTHERS))
    if scheme in _AZURE_SCHEMES:
        host = authority.rpartition("@")[2]
        return tuple(name for each in _AZURE for name in (each, f"{each}.{host}"))
    return (*_GS, _GS_TYPE) if scheme == "gs" else ()


def settings_of(places: Iterable[tuple[str, str]], get: Callable[[str], str | None]) -> Settings:
    """Those settings that are set, for places by scheme and authority."""
    names = {name for place in set(places) for name in setting_names(*place)}
    found = {name: get(name) for name in sorted(names)}
    return tuple((name, value) for name, value in found.items() if value)


@lru_cache
def open_root(scheme: str, authority: str, settings: Settings = NO_SETTINGS) -> tuple[fs.FileSystem, str]:
    """The file system and the path in it of what a scheme and an authority name.

    One client for all places of a bucket or a cluster: it keeps its connections.
    """
    given = {name: value for name, value in settings if name in setting_names(scheme, authority)}
    if scheme in _S3_SCHEMES and given:
        arguments = s3_arguments(authority, given)
        if not {"region", "endpoint_override"} & arguments.keys():
            arguments["region"] = fs.resolve_s3_region(authority)
        return fs.S3FileSystem(**arguments), authority
    if scheme in _AZURE_SCHEMES and given:
        container, _, host = authority.rpartition("@")
        return fs.AzureFileSystem(**azure_arguments(host, given)), container
    if scheme == "gs" and given:
        return fs.GcsFileSystem(**gs_arguments(given)), authority
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(
        f"{'s3' if scheme in _S3_SCHEMES else scheme}://{authority}/"
    )
    return found[0], found[1].rstrip("/")


def s3_arguments(bucket: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """Arguments for Arrow's S3FileSystem; a bucket's own settings win."""
    own, every = f"fs.s3a.bucket.{bucket}.", "fs.s3a."
    found = {name: settings.get(own + name) or settings.get(every + name) for name in (*_S3, *_S3_OTHERS)}
    arguments: dict[str, Any] = {argument: value for name, argument in _S3.items() if (value := found[name])}
    if "Anonymous" in (found["aws.credentials.provider"] or ""):
        arguments["anonymous"] = True
    if found["connection.ssl.enabled"] == "false":
        arguments["scheme"] = "http"
    if "endpoint_override" in arguments and found["path.style.access"] == "false":
        arguments["force_virtual_addressing"] = True
    if not {"access_key", "secret_key"} <= arguments.keys():
        # Arrow takes both or neither; a key without its secret is of another provider.
        arguments = {name: each for name, each in arguments.items() if name not in ("access_key", "secret_key")}
        arguments.pop("session_token", None)
    return arguments


def azure_arguments(host: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """Arguments for Arrow's AzureFileSystem; an account's own settings win."""
    found = {argument: settings.get(f"{name}.{host}") or settings.get(name) for name, argument in _AZURE.items()}
    return {"account_name": host.split(".", maxsplit=1)[0], **{name: value for name, value in found.items() if value}}


def gs_arguments(settings: Mapping[str, str]) -> dict[str, Any]:
    """Arguments for Arrow's GcsFileSystem."""
    arguments: dict[str, Any] = {each: settings[name] for name, each in _GS.items() if name in settings}
    if "endpoint_override" in arguments:
        scheme, _, host = arguments["endpoint_override"].rpartition("://")
        arguments |= {"endpoint_override": host.strip("/"), "scheme": scheme or "https"}
    if settings.get(_GS_TYPE) == "UNAUTHENTICATED":
        arguments["anonymous"] = True
    return arguments
