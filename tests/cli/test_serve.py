"""`skcamel serve`: a real server on this machine, its token, its limits, and how it stops."""

import contextlib
import json
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install skcamel[serve]")
pytest.importorskip("fastapi", reason="fastapi is not installed: pip install skcamel[serve]")
pytest.importorskip("httpx", reason="httpx is not installed: pip install --group test")

import httpx

from serving import ROW, TOKEN, mixed, mixed_table, numbers, running
from skcamel import outputs, save


def test_a_server_answers_and_stops_with_what_it_did(tmp_path):
    with running(mixed(), tmp_path, environment={"SKCAMEL_TOKEN": TOKEN}) as (
        address,
        process,
    ):
        assert address.startswith("http://127.0.0.1:")
        with httpx.Client(base_url=address, headers={"authorization": f"Bearer {TOKEN}"}) as client:
            assert client.get("/ready").json() == {"status": "ready", "model": "served"}
            head = client.head("/health")
            assert (head.status_code, head.content) == (200, b"")
            columns, _ = mixed_table()
            row = {name: cells[0] for name, cells in columns.items()}
            (told,) = client.post("/predict", json={"rows": [row]}).json()["predictions"]
            expected = outputs(mixed(), {name: cells[:1] for name, cells in columns.items()})
            assert list(told["scores"].values()) == expected.scores[0].tolist()
            large = client.post("/predict", content=b"x" * (17 * 2**20))
            assert large.status_code == 413
        assert httpx.get(f"{address}/model").status_code == 401
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert log.splitlines()[-1] == "Stopped; 5 requests answered."
    assert TOKEN not in log
    assert "Traceback" not in log


def raw(address, request):
    """What a server says to these bytes, at first."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(request)
        return connection.recv(2**16)


def test_offers_of_other_protocols_are_overlooked_and_a_head_without_end_is_refused(tmp_path):
    """Java's client offers HTTP/2 with its first request; httptools then leaves out the body."""
    body = json.dumps({"rows": [ROW]})
    lines = ["POST /predict HTTP/1.1", "Host: here", "Content-Type: application/json"]
    lines += ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", f"Content-Length: {len(body)}"]
    with running(numbers(), tmp_path) as (address, _):
        request = "\r\n".join([*lines, "", body])
        assert raw(address, request.encode()).startswith(b"HTTP/1.1 200")
        assert raw(address, b"GET / HTTP/1.1\r\nx: \xff\r\n\r\n").startswith(b"HTTP/1.1 200")
        for odd in (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"\x16\x03\x01\x00", b"\x00" * 99):
            assert raw(address, odd).startswith(b"HTTP/1.1 400")
        with contextlib.suppress(ConnectionError):  # closed while the client still sends
            assert not raw(address, b"GET / HTTP/1.1\r\nx: " + b"x" * 10**7).startswith(
                b"HTTP/1.1 2"
            )
        assert httpx.get(f"{address}/health").status_code == 200


def test_half_sent_requests_end_in_time_and_leave_room_for_others(tmp_path):
    """400 idle connections left a server with 256 files without an answer, and filled its log."""
    with running(numbers(), tmp_path, "--timeout", "3", files=256) as (address, process):
        host, port = address.removeprefix("http://").split(":")
        idle = [socket.create_connection((host, int(port)), timeout=30) for _ in range(400)]
        for k, connection in enumerate(idle):
            body = b"Content-Length: 9\r\n\r\n{" if k % 2 else b"Accept:"
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"POST /predict HTTP/1.1\r\nHost: here\r\n" + body)
        assert httpx.get(f"{address}/health", timeout=10).status_code == 200
        for connection in idle:  # those that were not closed to leave room are closed in time
            with connection, contextlib.suppress(ConnectionError):
                assert connection.recv(1) == b""
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert len(log.splitlines()) == 1


def test_every_request_that_was_taken_is_answered_when_the_server_is_told_to_stop(tmp_path):
    answered, refused, lock, enough = [], [], threading.Lock(), threading.Event()

    def keep_asking(address):
        with httpx.Client(base_url=address) as client:
            while True:
                try:
                    response = client.post("/predict", json={"rows": [ROW] * 20})
                except httpx.TransportError as error:
                    with lock:
                        refused.append(error)
                    return
                with lock:
                    answered.append(response.status_code)
                if len(answered) >= 60:
                    enough.set()

    with running(numbers(), tmp_path) as (address, process), ThreadPoolExecutor(8) as clients:
        work = [clients.submit(keep_asking, address) for _ in range(8)]
        assert enough.wait(120)
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
        for one in work:
            one.result()
    assert set(answered) == {200}
    assert log.splitlines()[-1] == f"Stopped; {len(answered):,} requests answered."
    assert len(refused) == 8  # each client ends at a closed door


def test_an_address_that_cannot_be_taken_is_refused(refused, tmp_path):
    save(numbers(), tmp_path / "m.skcamel")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(1, f"cannot listen on 127.0.0.1, port {port}", "serve", "m.skcamel", "--port", port)
    refused(
        1, "cannot listen on no.such.invalid", "serve", "m.skcamel", "--host", "no.such.invalid"
    )
