"""Accounts of Azure's stores are reached by Hadoop's settings, or by Microsoft's connection string."""

import pytest
from pyarrow import fs

from hmstats.collector.lake.delta import storage_options
from hmstats.collector.lake.opened import no_settings
from hmstats.files.azure_stores import VARIABLE, azure_arguments
from hmstats.files.file_systems import open_root

HOST = "acc.dfs.core.windows.net"
EMULATOR = "AccountName=acc;AccountKey=a2V5==;BlobEndpoint=http://127.0.0.1:10000/acc;DefaultEndpointsProtocol=http"
ADDRESSES = {
    "blob_storage_authority": "127.0.0.1:10000",
    "blob_storage_scheme": "http",
    "dfs_storage_authority": "127.0.0.1:10000",
    "dfs_storage_scheme": "http",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that says nothing of Azure yet."""
    monkeypatch.delenv(VARIABLE, raising=False)
    return monkeypatch


def test_settings_of_hadoop_become_arrows_arguments() -> None:
    assert azure_arguments(HOST, {}) == {"account_name": "acc"}
    for name in ("fs.azure.account.key", f"fs.azure.account.key.{HOST}"):
        assert azure_arguments(HOST, {name: "a2V5"}) == {"account_name": "acc", "account_key": "a2V5"}
    both = {"fs.azure.account.key": "b3RoZXI=", f"fs.azure.account.key.{HOST}": "a2V5"}
    assert azure_arguments(HOST, both) == {"account_name": "acc", "account_key": "a2V5"}


def test_an_account_of_another_cloud_has_the_addresses_of_its_cloud() -> None:
    found = azure_arguments("acc.dfs.core.chinacloudapi.cn", {"fs.azure.account.key": "a2V5"})
    assert found == {
        "account_name": "acc",
        "account_key": "a2V5",
        "blob_storage_authority": ".blob.core.chinacloudapi.cn",
        "blob_storage_scheme": "https",
        "dfs_storage_authority": ".dfs.core.chinacloudapi.cn",
        "dfs_storage_scheme": "https",
    }


def test_a_connection_string_has_the_address_of_an_emulator(environment: pytest.MonkeyPatch) -> None:
    environment.setenv(VARIABLE, EMULATOR)
    assert azure_arguments(HOST, {}) == {"account_name": "acc", "account_key": "a2V5==", **ADDRESSES}
    # A job's own credentials go to the same address.
    token = {"fs.azure.sas.fixed.token": "sv=1"}
    assert azure_arguments(HOST, token) == {"account_name": "acc", "sas_token": "sv=1", **ADDRESSES}


def test_a_connection_string_is_of_its_account_alone(environment: pytest.MonkeyPatch) -> None:
    environment.setenv(VARIABLE, EMULATOR.replace("AccountName=acc", "AccountName=another"))
    assert azure_arguments(HOST, {}) == {"account_name": "acc"}


@pytest.mark.parametrize(
    "endpoint",
    [
        "BlobEndpoint=https://acc.blob.core.chinacloudapi.cn/",
        "EndpointSuffix=core.chinacloudapi.cn",
        "DefaultEndpointsProtocol=https;EndpointSuffix=core.chinacloudapi.cn",
    ],
)
def test_endpoints_of_a_cloud(environment: pytest.MonkeyPatch, endpoint: str) -> None:
    environment.setenv(VARIABLE, f"{endpoint};AccountName=acc;SharedAccessSignature=sv=1&sig=x=")
    found = azure_arguments(HOST, {})
    assert (found["sas_token"], found["blob_storage_scheme"]) == ("sv=1&sig=x=", "https")
    assert found["blob_storage_authority"] == ".blob.core.chinacloudapi.cn"
    assert found["dfs_storage_authority"] == ".dfs.core.chinacloudapi.cn"


def test_the_public_cloud_needs_no_addresses(environment: pytest.MonkeyPatch) -> None:
    portal = "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=a2V5;EndpointSuffix=core.windows.net"
    environment.setenv(VARIABLE, portal)
    assert azure_arguments(HOST, {}) == {"account_name": "acc", "account_key": "a2V5"}


def test_delta_reads_the_same_addresses(environment: pytest.MonkeyPatch) -> None:
    environment.setenv(VARIABLE, EMULATOR)
    assert storage_options(f"abfss://box@{HOST}/t", no_settings) == {
        "AZURE_STORAGE_ACCOUNT_NAME": "acc",
        "AZURE_STORAGE_ACCOUNT_KEY": "a2V5==",
        "AZURE_STORAGE_ENDPOINT": "http://127.0.0.1:10000/acc",
        "allow_http": "true",
    }
    environment.setenv(VARIABLE, "AccountName=acc;AccountKey=a2V5;EndpointSuffix=core.chinacloudapi.cn")
    found = storage_options(f"abfss://box@{HOST}/t", no_settings)
    assert found["AZURE_STORAGE_ENDPOINT"] == "https://acc.blob.core.chinacloudapi.cn"
    assert found["allow_http"] == "false"


def test_a_container_is_opened() -> None:
    system, path = open_root("abfss", f"box@{HOST}", ((f"fs.azure.account.key.{HOST}", "a2V5"),))
    assert isinstance(system, fs.AzureFileSystem)
    assert path == "box"
