"""An application ► a server of uvicorn on one address, that stops without losing a request it has taken."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import Any

try:
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as error:
    raise ImportError("A server needs: pip install 'skcamel[serve]'") from error

# seconds in which a stopping server still takes requests, and tells clients to connect elsewhere
DRAIN = 0.5
BACKLOG = 1024  # clients that wait for a connection
ACCEPTED = (
    16  # connections that are accepted at once; four times as many are open until one is closed
)
MOST_CONNECTIONS = 1000
logger = logging.getLogger("skcamel.serve")


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; 0 takes any free port.

    Examples
    --------
    >>> with bound("127.0.0.1", 0) as listening:
    ...     listening.getsockname()[0]
    '127.0.0.1'
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


def most_connections() -> int:
    """How many connections may be open at once, as far as the process may open files."""
    try:
        import resource
    except ImportError:  # Windows
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(MOST_CONNECTIONS, files // 2)


class Connection(H11Protocol):
    """A connection that is closed where a request does not arrive in time, or too many are open."""

    most = MOST_CONNECTIONS
    seconds = 30.0
    last_warning = 0.0
    timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take it, and close the one that waits longest for its client where too many are open."""
        super().connection_made(transport)
        self._wait_for_client()
        if len(self.connections) <= self.most:
            return
        waiting: Any = [other for other in self.connections if getattr(other, "timer", None)]
        longest = min(waiting, key=lambda other: other.timer.when())
        longest.stop_timer()
        longest.transport.abort()
        now = time.monotonic()
        if now - Connection.last_warning > 1:
            Connection.last_warning = now
            logger.warning("%d connections are open; idle ones are closed.", self.most)

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        super().data_received(data)
        self._wait_for_client()

    def connection_lost(self, exc: Exception | None) -> None:
        """End it."""
        super().connection_lost(exc)
        self.stop_timer()

    def stop_timer(self) -> None:
        """Wait no longer."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _wait_for_client(self) -> None:
        """Wait some seconds for the rest of a request."""
        is_waiting = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if not is_waiting:
            self.stop_timer()
        elif self.timer is None:
            self.timer = self.loop.call_later(self.seconds, self.transport.abort)


class Server(uvicorn.Server):
    """A server that goes on for a moment when it is stopped, so that clients leave their connections, and then finishes what it has."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept few connections at once, while many may wait."""
        await super().startup(sockets)
        for listening in sockets or []:
            listening.listen(BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more requests once the moment is over; answer all that were taken."""
        app: Any = self.config.app
        app.state.stopping = True
        if not self.force_exit:
            await asyncio.sleep(DRAIN)
        await super().shutdown(sockets)


def run(app: Any, listening: socket.socket, *, patience: float = 30.0) -> None:
    """Serve until a signal comes, then finish what is at work.

    Parameters
    ----------
    app : FastAPI
        From :func:`skcamel.serve.create_app`.
    listening : socket
        From :func:`bound`.
    patience : float, default=30
        Seconds in which a request must arrive, and which a server that is stopped waits for answers.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    Connection.most, Connection.seconds = most_connections(), patience
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=ACCEPTED,
        timeout_graceful_shutdown=int(patience) + 1,
    )
    Server(config).run(sockets=[listening])
