"""Records of TLS and frames of SASL that no client sends end their own connection, and hold up no other client."""

import contextlib
import random
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.identity.authorities import Files, issued
from tests.server.authentication.sasl_peers import SaslClient
from tests.server.layers.test_sasl_socket import Turned, proven, with_talk
from tests.server.layers.test_tls import tls_of, trusting
from tests.server.requests import request
from tests.server.serving import PATIENCE_SECONDS, Client, serving

from hmstats.server.limits import Limits
from hmstats.wire.sasl_messages import framed

CALL = request("getOption", 7, key="k")
_MB = 1_000_000


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return issued(tmp_path)


def to_the_end(sock: socket.socket, data: bytes) -> None:
    """Send bytes, and read until the server closes the connection."""
    sock.settimeout(PATIENCE_SECONDS)
    with contextlib.suppress(ConnectionError):
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
    with contextlib.suppress(ConnectionError):
        while sock.recv(65_536):
            pass


@contextlib.contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """Fails if more of the processor's time is spent inside, by server and test together."""
    began = time.process_time()
    yield
    assert time.process_time() - began < most


def test_a_client_that_negotiates_again_is_refused(files: Files) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("only the program openssl can ask for another handshake, not found on this machine")
    with serving(tls=tls_of(files)) as (host, port), Client((host, port), trusting(files)) as other:
        command = [openssl, "s_client", "-connect", f"{host}:{port}", "-tls1_2", "-CAfile", files.authority]
        done = subprocess.run(
            command, input=b"R\n" + b"R\n" * 50, capture_output=True, check=False, timeout=PATIENCE_SECONDS
        )
        said = done.stdout + done.stderr
        assert b"RENEGOTIATING" in said
        assert b"no renegotiation" in said
        assert other.echoes("still served")


def test_random_records_before_and_behind_a_handshake_end_their_connection(files: Files) -> None:
    drawn = random.Random(7)
    with serving(tls=tls_of(files, required=True)) as address, Client(address, trusting(files)) as other:
        for number in range(200):
            kind = drawn.choice([20, 21, 22, 22, 23, 24, drawn.randrange(256)])
            body = drawn.randbytes(drawn.choice([0, 1, 5, 200, 17_000]))
            size = drawn.choice([len(body), 0, 65_535, 2**14 + 257])
            record = bytes((kind, 3, drawn.choice([1, 3, 4]))) + size.to_bytes(2, "big") + body
            if number % 2:
                with socket.create_connection(address) as raw:
                    to_the_end(raw, (b"\x16" if number % 4 == 1 else b"") + record)
            else:
                with Client(address, trusting(files)) as client, socket.socket(fileno=client.socket.detach()) as raw:
                    to_the_end(raw, record)
            assert other.echoes(str(number))


def test_a_handshake_of_16_mb_is_refused_by_its_head(files: Files) -> None:
    with serving(tls=tls_of(files)) as address, Client(address, trusting(files)) as other:
        first = b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + bytes(16_380)
        with processor_seconds(5), socket.create_connection(address) as raw:
            to_the_end(raw, first + (b"\x16\x03\x01\x40\x00" + bytes(16_384)) * 300)
        assert other.echoes("still served")


@pytest.mark.parametrize("seal", [None, Turned()], ids=["plain", "protected"])
def test_empty_frames_without_end_hold_up_nobody(seal: Turned | None) -> None:
    """A frame of nothing costs four bytes."""
    with (
        serving(authentication=with_talk(seal)) as address,
        SaslClient(address) as client,
        SaslClient(address) as other,
        processor_seconds(4),
    ):
        proven(client)
        proven(other)
        flood = threading.Thread(target=to_the_end, args=(client.socket, bytes(2 * _MB)))
        flood.start()
        while flood.is_alive():
            wrapped = CALL if seal is None else seal.wrap(CALL)
            other.send(framed(wrapped))
            assert other.socket.recv(65_536)
            time.sleep(0.05)
        flood.join()


def test_frames_of_one_byte_are_one_request() -> None:
    large = request("getOption", 7, key="x" * 200_000)
    with serving(authentication=with_talk()) as address, SaslClient(address) as client, processor_seconds(5):
        proven(client)
        client.send(b"".join(framed(large[at : at + 1]) for at in range(len(large))))
        said = b""
        while len(said) < 200_000:
            data = client.socket.recv(65_536)
            assert data
            said += data


@pytest.mark.parametrize("part", [b"\0", b"\0\0\0", b"\0\0\1", framed(CALL)[:-1], framed(CALL[:20]) + b"\0\0"])
def test_a_frame_in_part_is_given_up_or_costs_nothing(part: bytes) -> None:
    """A part of a request has its time; a part of a frame's head is held as an idle connection is."""
    limits = Limits(receive_seconds=0.3, idle_seconds=1)
    with serving(limits, authentication=with_talk()) as address, SaslClient(address) as client:
        proven(client)
        client.send(part)
        while client.socket.recv(65_536):  # a sentence may come first
            pass


@pytest.mark.parametrize("size", [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff"])
@pytest.mark.parametrize("seal", [None, Turned()], ids=["plain", "protected"])
def test_a_frame_of_gigabytes_ends_its_connection(size: bytes, seal: Turned | None) -> None:
    limits = Limits(receive_seconds=0.3, idle_seconds=1)
    with serving(limits, authentication=with_talk(seal)) as address, SaslClient(address) as client:
        proven(client)
        client.send(size + (CALL[:-1] if seal is None else b"x"))
        assert client.at_end()
