"""The process of the page: how it listens."""

import socket

from hmstats.web.process import _listening


def test_a_body_does_not_wait_for_the_acknowledgement_of_its_headers() -> None:
    with _listening("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
