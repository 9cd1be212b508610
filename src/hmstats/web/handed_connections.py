"""Serves connections that another process has accepted and hands over, for a page that is mounted beside others."""

import asyncio
import contextlib
import socket

import uvicorn

from hmstats.web.renewed_certificate import RenewingServer

_HANDSHAKE_SECONDS = 10.0


class HandedConnections(RenewingServer):
    """Listens nowhere: takes connections from a channel, one with each byte, and ends when the channel is closed."""

    def __init__(self, config: uvicorn.Config, channel: socket.socket) -> None:
        super().__init__(config)
        self._channel = channel
        self._begun = set[asyncio.Task[None]]()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and begin to take connections."""
        await super().startup(sockets=sockets or [])
        self._channel.setblocking(False)
        asyncio.get_running_loop().add_reader(self._channel, self._take)

    def _take(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            said, filenos, *_ = socket.recv_fds(self._channel, 1, 1)
        except BlockingIOError:
            return
        except OSError:
            said, filenos = b"", []
        if not said:
            loop.remove_reader(self._channel)
            self.should_exit = True
            return
        for fileno in filenos:
            task = loop.create_task(self._begin(socket.socket(fileno=fileno)))
            self._begun.add(task)
            task.add_done_callback(self._begun.discard)

    async def _begin(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        with contextlib.suppress(OSError):  # over TLS, whose handshake a client may break off
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().connect_accepted_socket(
                self._protocol,
                connection,
                ssl=self.config.ssl,
                ssl_handshake_timeout=_HANDSHAKE_SECONDS if self.config.ssl else None,
            )

    def _protocol(self) -> asyncio.Protocol:
        made: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made
