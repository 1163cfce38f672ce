"""`skcamel serve`: a real server on this machine, its token, its limits, and how it stops."""

import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install skcamel[serve]")
pytest.importorskip("starlette", reason="starlette is not installed: pip install skcamel[serve]")
pytest.importorskip("httpx", reason="httpx is not installed: pip install --group test")

import httpx
import pandas as pd

from serving import numbers, rows, running
from skcamel import save

TOKEN = "a-token-of-sixteen-or-more"  # noqa: S105


def test_a_server_answers_and_stops_with_what_it_did(tmp_path):
    with running(numbers(), tmp_path, "--access-log", environment={"SKCAMEL_TOKEN": TOKEN}) as (
        address,
        process,
    ):
        assert address.startswith("http://127.0.0.1:")
        with httpx.Client(base_url=address, headers={"authorization": f"Bearer {TOKEN}"}) as client:
            assert client.get("/ready").json() == {"status": "ready", "model": "served"}
            X = rows()[0][:3]
            told = client.post("/predict", json={"rows": X.tolist()}).json()
            found = np.array([list(record["scores"].values()) for record in told["predictions"]])
            np.testing.assert_array_equal(
                found,
                numbers().decision_function(pd.DataFrame(X, columns=numbers().feature_names_in_)),
            )
            large = client.post(
                "/predict", content=b"x" * (17 * 2**20), headers={"content-type": "text/csv"}
            )
            assert large.status_code == 413
        assert httpx.get(f"{address}/model").status_code == 401
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert log.splitlines()[-1] == "Stopped; 4 requests answered."
    assert '"POST /predict HTTP/1.1" 200' in log
    assert TOKEN not in log
    assert "Traceback" not in log


def test_every_request_that_was_taken_is_answered_when_the_server_is_told_to_stop(tmp_path):
    answered, refused, lock, enough = [], [], threading.Lock(), threading.Event()

    def keep_asking(address):
        with httpx.Client(base_url=address) as client:
            while True:
                try:
                    response = client.post("/predict", json={"rows": [[1, 2, 3]] * 20})
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


def test_wrong_use_is_refused_before_a_port_is_taken(refused, tmp_path, monkeypatch):
    save(numbers(), tmp_path / "m.skcamel")
    (tmp_path / "token").write_text("short\n")
    refused(2, "at least 16 ASCII characters", "serve", "m.skcamel", "--token-file", "token")
    monkeypatch.setenv("SKCAMEL_TOKEN", "with a blank inside it")
    refused(2, "the token in SKCAMEL_TOKEN must be", "serve", "m.skcamel")
    monkeypatch.delenv("SKCAMEL_TOKEN")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(
            1,
            f"port {port} of 127.0.0.1 is in use; choose another by --port",
            "serve",
            "m.skcamel",
            "--port",
            port,
        )
    refused(
        1,
        "cannot listen on no.such.host.invalid",
        "serve",
        "m.skcamel",
        "--host",
        "no.such.host.invalid",
    )
    refused(1, "is no", "serve", "token")


def test_the_token_is_no_option(cli):
    said = cli("serve", "--help").stdout
    assert "--token-file" in said
    assert "--token " not in said


def test_without_its_packages_the_command_says_how_to_get_them(tmp_path):
    save(numbers(), tmp_path / "m.skcamel")
    code = (
        "import sys; sys.modules['uvicorn'] = None; from skcamel.cli import main;"
        " sys.exit(main(['serve', 'm.skcamel']))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert result.returncode == 2
    assert "pip install 'skcamel[serve]'" in result.stderr
