"""Arrow's file systems for Hadoop's locations, with the settings that Spark uses for the same locations.

Settings are those of Hadoop (fs.s3a.*, fs.azure.*, fs.gs.*). Unset settings are taken from the standard environment:
for S3 AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION, for Azure
AZURE_STORAGE_CONNECTION_STRING, for Google STORAGE_EMULATOR_HOST, credentials from variables, profiles or the machine's
own identity. HDFS takes its settings from Hadoop's files on the machine too (hdfs.py). Local links are followed.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from pyarrow import fs

from hmstats.extras import install_advice
from hmstats.files import azure_stores, hdfs
from hmstats.model.catalog.location import LOCAL, parse, parts_of

Settings: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values of Hadoop's settings, in the order of their names."""
NO_SETTINGS: Settings = ()

_S3_SCHEMES = ("s3", "s3a", "s3n")
_NO_HADOOP = ("libhdfs", "libjvm")
"""Parts of Arrow's errors that mean that the machine has no Hadoop."""
_AZURE_SCHEMES = ("abfs", "abfss", "wasb", "wasbs")
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
_S3_ATTEMPTS = 6
"""How often a request is sent to S3 if it is refused for a moment: over some seconds."""
_GS = {"fs.gs.project.id": "project_id", "fs.gs.storage.root.url": "endpoint_override"}
_GS_TYPE = "fs.gs.auth.type"
_GS_EMULATOR = "STORAGE_EMULATOR_HOST"
"""The variable by which Google's clients find an emulator, which asks for no credentials."""


def setting_names(scheme: str, authority: str) -> tuple[str, ...]:
    """The names of Hadoop's settings for a scheme and an authority."""
    if scheme in _S3_SCHEMES:
        prefixes = ("fs.s3a", f"fs.s3a.bucket.{authority}")
        return tuple(f"{prefix}.{name}" for prefix in prefixes for name in (*_S3, *_S3_OTHERS))
    if scheme in _AZURE_SCHEMES:
        return azure_stores.setting_names(authority.rpartition("@")[2])
    return (*_GS, _GS_TYPE) if scheme == "gs" else ()


def settings_of(places: Iterable[tuple[str, str]], get: Callable[[str], str | None]) -> Settings:
    """The settings that have a value, for file systems given as pairs of scheme and authority."""
    names = {name for place in set(places) for name in _setting_names(*place, get)}
    found = {name: get(name) for name in sorted(names)}
    return tuple((name, value) for name, value in found.items() if value)


def _setting_names(scheme: str, authority: str, get: Callable[[str], str | None]) -> Iterable[str]:
    return hdfs.setting_names(authority, get) if scheme in hdfs.SCHEMES else setting_names(scheme, authority)


class NoFileSystem(OSError):
    """Raised for a location of a store that this machine has no client for."""


def open_location(location: str, settings: Settings = NO_SETTINGS) -> tuple[fs.FileSystem, str]:
    """The file system of a location, and the path in it. `settings` are Hadoop's.

    Raises NoFileSystem, and OSError when the store does not answer.
    """
    path = parse(location).path
    scheme, authority, _ = parts_of(location)
    if scheme == LOCAL:
        return fs.LocalFileSystem(), path
    try:
        files, base = open_root(scheme, authority, settings)
    except (ValueError, NotImplementedError) as error:  # a scheme that Arrow does not know, or was built without
        raise NoFileSystem(f"{location} cannot be opened: {error}") from error
    except OSError as error:
        if scheme in hdfs.SCHEMES and any(each in str(error) for each in _NO_HADOOP):
            advice = f"neither a client of HDFS nor Hadoop's libraries are installed: {install_advice('hdfs')}"
            raise NoFileSystem(f"{location} cannot be opened: {advice}") from error
        raise
    return files, (base + path).rstrip("/")


@lru_cache
def open_root(scheme: str, authority: str, settings: Settings = NO_SETTINGS) -> tuple[fs.FileSystem, str]:
    """The file system of a scheme and an authority, and its root path.

    Cached, so that all locations of a bucket or a cluster share one client and its connections.
    """
    if scheme in hdfs.SCHEMES and hdfs.is_installed():
        return hdfs.open_cluster(f"{scheme}://{authority}", dict(settings)), ""
    given = {name: value for name, value in settings if name in setting_names(scheme, authority)}
    if scheme in _S3_SCHEMES:
        arguments = s3_with_environment(s3_arguments(authority, given))
        if not {"region", "endpoint_override"} & arguments.keys():
            arguments["region"] = fs.resolve_s3_region(authority)
        retries = fs.AwsStandardS3RetryStrategy(max_attempts=_S3_ATTEMPTS)
        return fs.S3FileSystem(**arguments, retry_strategy=retries), authority
    container, at, host = authority.rpartition("@")
    if scheme in _AZURE_SCHEMES and at:
        return fs.AzureFileSystem(**azure_stores.azure_arguments(host, given)), container
    if scheme == "gs" and (arguments := gs_arguments(given)):
        return fs.GcsFileSystem(**arguments), authority
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(f"{scheme}://{authority}/")
    return found[0], found[1].rstrip("/")


def s3_with_environment(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for Arrow's S3FileSystem, with those that the standard variables of AWS's clients give and these lack.

    The scheme is that of the endpoint: one from the environment does not go with another endpoint.
    """
    found: dict[str, Any] = {}
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region:
        found["region"] = region
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint and "endpoint_override" not in arguments:
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        found |= {"endpoint_override": parts.netloc + parts.path.rstrip("/"), "scheme": parts.scheme}
    return found | dict(arguments)


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
        # Arrow needs both or neither; a key without a secret belongs to another credentials provider.
        arguments = {name: each for name, each in arguments.items() if name not in ("access_key", "secret_key")}
        arguments.pop("session_token", None)
    return arguments


def gs_arguments(settings: Mapping[str, str]) -> dict[str, Any]:
    """Arguments for Arrow's GcsFileSystem: by Hadoop's settings, else of an emulator that the environment names."""
    arguments: dict[str, Any] = {each: settings[name] for name, each in _GS.items() if name in settings}
    emulator = os.environ.get(_GS_EMULATOR)
    if settings.get(_GS_TYPE) == "UNAUTHENTICATED" or (emulator and not arguments):
        arguments["anonymous"] = True
    if emulator and "endpoint_override" not in arguments:
        arguments["endpoint_override"] = emulator if "://" in emulator else f"http://{emulator}"
    if "endpoint_override" in arguments:
        scheme, _, host = arguments["endpoint_override"].rpartition("://")
        arguments |= {"endpoint_override": host.strip("/"), "scheme": scheme or "https"}
    return arguments
