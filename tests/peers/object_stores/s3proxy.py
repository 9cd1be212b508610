"""S3Proxy from Maven: a server of S3's protocol in memory, which is not moto and checks signatures.

Over a folder it would keep directories that S3 has not."""

from pathlib import Path

from tests.peers import cache, launch

VERSION = "4.1.0"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


def command(folder: Path, port: int, key: str, secret: str) -> list[str]:
    """The command that serves an empty store, with its settings in a folder; needs a JDK 17."""
    settings = folder / "object-store.properties"
    given = {
        "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.endpoint": f"http://127.0.0.1:{port}",
        "s3proxy.identity": key,
        "s3proxy.credential": secret,
        "jclouds.provider": "transient-nio2",
    }
    settings.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    return [launch.find_java(17, 99), "-Xmx1g", "-jar", str(_jar()), "--properties", str(settings)]


def _jar() -> Path:
    """The jar, fetched on first use."""
    folder = cache.CACHE / f"s3proxy-{VERSION}"
    with cache.filling(folder) as empty:
        if empty:
            artifact = f"-Dartifact=org.gaul:s3proxy:{VERSION}:jar:jar-with-dependencies"
            launch.maven(["-q", _COPY, artifact, f"-DoutputDirectory={folder}"], folder, folder / "maven.log")
    return folder / f"s3proxy-{VERSION}-jar-with-dependencies.jar"
