"""Arrow reaches what Spark reaches, with Spark's settings."""

import pickle

import pytest
from pyarrow import fs

from hmstats.files.file_systems import (
    gs_arguments,
    open_root,
    s3_arguments,
    s3_with_environment,
    setting_names,
    settings_of,
)

S3 = {
    "fs.s3a.access.key": "key",
    "fs.s3a.secret.key": "secret",
    "fs.s3a.endpoint": "http://127.0.0.1:9000",
    "fs.s3a.endpoint.region": "eu-west-1",
    "fs.s3a.connection.ssl.enabled": "false",
    "fs.s3a.path.style.access": "true",
}


def test_s3_settings_become_arrows_arguments() -> None:
    assert s3_arguments("lake", S3) == {
        "access_key": "key",
        "secret_key": "secret",
        "endpoint_override": "http://127.0.0.1:9000",
        "region": "eu-west-1",
        "scheme": "http",
    }


def test_the_settings_of_a_bucket_win() -> None:
    own = {"fs.s3a.bucket.lake.access.key": "mine", "fs.s3a.bucket.lake.secret.key": "too"}
    found = s3_arguments("lake", S3 | own)
    assert (found["access_key"], found["secret_key"], found["region"]) == ("mine", "too", "eu-west-1")
    assert s3_arguments("other", S3 | own)["access_key"] == "key"


@pytest.mark.parametrize(
    ("name", "value", "argument"),
    [
        ("path.style.access", "false", {"force_virtual_addressing": True, "endpoint_override": "s3.example"}),
        (
            "aws.credentials.provider",
            "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider",
            {"anonymous": True, "endpoint_override": "s3.example"},
        ),
        ("access.key", "without a secret", {"endpoint_override": "s3.example"}),
    ],
)
def test_other_s3_settings(name: str, value: str, argument: dict[str, object]) -> None:
    assert s3_arguments("lake", {"fs.s3a.endpoint": "s3.example", f"fs.s3a.{name}": value}) == argument


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that says nothing of S3 yet."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_the_standard_environment_says_what_settings_do_not(environment: pytest.MonkeyPatch) -> None:
    assert s3_with_environment({}) == {}
    environment.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    environment.setenv("AWS_ENDPOINT_URL", "https://any.example")
    assert s3_with_environment({}) == {
        "region": "eu-west-1",
        "endpoint_override": "any.example",
        "scheme": "https",
    }
    environment.setenv("AWS_REGION", "eu-west-2")
    environment.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000/")
    given = {"region": "eu-west-2", "endpoint_override": "127.0.0.1:9000", "scheme": "http"}
    assert s3_with_environment({}) == given
    assert s3_with_environment({"region": "us-east-1"}) == {**given, "region": "us-east-1"}


def test_an_endpoint_of_the_settings_has_no_scheme_of_the_environment(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    assert s3_with_environment({"endpoint_override": "s3.example"}) == {"endpoint_override": "s3.example"}


def test_google_settings_become_arrows_arguments() -> None:
    given = {"fs.gs.auth.type": "UNAUTHENTICATED", "fs.gs.storage.root.url": "http://127.0.0.1:4443/"}
    assert gs_arguments(given) == {"anonymous": True, "endpoint_override": "127.0.0.1:4443", "scheme": "http"}


def test_only_settings_of_the_places_are_asked_for() -> None:
    conf = S3 | {"fs.s3a.bucket.other.access.key": "not mine", "fs.gs.project.id": "p"}
    found = settings_of([("s3a", "lake"), ("file", "")], conf.get)
    assert dict(found) == S3
    assert settings_of([("hdfs", "name")], conf.get) == ()
    assert "fs.s3a.bucket.lake.access.key" in setting_names("s3a", "lake")


def test_a_bucket_is_opened_with_its_settings_wherever_they_travel() -> None:
    settings = pickle.loads(pickle.dumps(settings_of([("s3a", "lake")], S3.get)))
    system, path = open_root("s3a", "lake", settings)
    assert isinstance(system, fs.S3FileSystem)
    assert (system.region, path) == ("eu-west-1", "lake")


def test_an_emulator_of_googles_store_is_found_by_the_environment(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:4443")
    found = {"anonymous": True, "endpoint_override": "127.0.0.1:4443", "scheme": "http"}
    assert gs_arguments({}) == found
    environment.setenv("STORAGE_EMULATOR_HOST", "https://127.0.0.1:4443/")
    assert gs_arguments({}) == found | {"scheme": "https"}
    named = {"fs.gs.auth.type": "UNAUTHENTICATED", "fs.gs.storage.root.url": "http://127.0.0.1:1"}
    assert gs_arguments(named)["endpoint_override"] == "127.0.0.1:1"
