"""An application ► a server of uvicorn on one address, that stops without losing a request it has taken."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

try:
    import uvicorn
except ImportError as error:
    raise ImportError("A server needs: pip install 'skcamel[serve]'") from error

# seconds in which a stopping server still takes requests, and asks whoever sent them to come back
# elsewhere
DRAIN = 0.5
BACKLOG = 2048
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "%(asctime)s %(levelname)s %(message)s"},
        "access": {
            "()": "uvicorn.logging.AccessFormatter",
            "fmt": '%(asctime)s %(client_addr)s "%(request_line)s" %(status_code)s',
        },
    },
    "handlers": {
        name: {"class": "logging.StreamHandler", "formatter": name, "stream": "ext://sys.stderr"}
        for name in ("plain", "access")
    },
    "loggers": {
        "uvicorn": {"handlers": ["plain"], "level": "WARNING", "propagate": False},
        "uvicorn.access": {"handlers": ["access"], "level": "INFO", "propagate": False},
        "skcamel.serve": {"handlers": ["plain"], "level": "INFO", "propagate": False},
    },
}


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; 0 takes any free port.

    Examples
    --------
    >>> with bound("127.0.0.1", 0) as listening:
    ...     address_of(listening).startswith("http://127.0.0.1:")
    True
    """
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return socket.create_server(address[:2], family=family, backlog=BACKLOG)


def address_of(listening: socket.socket) -> str:
    """How a browser finds it."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class Server(uvicorn.Server):
    """A server that, told to stop, goes on for a moment, so that clients leave their connections, and then finishes what it has."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more once the moment is over; answer all that was taken."""
        self.config.app.state.skcamel.stopping = True  # pyrefly: ignore[missing-attribute] (the application of create_app)
        if not self.force_exit:
            await asyncio.sleep(DRAIN)
        await super().shutdown(sockets)


def run(
    app: Any,
    listening: socket.socket,
    *,
    access_log: bool = False,
    patience: float = 30.0,
    started: Callable[[], None] | None = None,
) -> None:
    """Serve until a signal comes, then finish what is at work.

    Parameters
    ----------
    app : Starlette
        From :func:`skcamel.serve.create_app`.
    listening : socket
        From :func:`bound`.
    access_log : bool, default=False
        Whether each request is a line of the log.
    patience : float, default=30
        Seconds that requests at work have to finish once the server is told to stop.
    started : callable, default=None
        Called when requests can come.
    """
    config = uvicorn.Config(
        app,
        log_config=LOGGING,
        access_log=access_log,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=int(patience) + 1,
        ws="none",
    )
    config.load()
    if started is not None:
        started()
    Server(config).run(sockets=[listening])
