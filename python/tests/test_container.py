"""What the image runs besides the server: the health check, against a real server."""

import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BINARY = os.environ.get("EQUIPOISE")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def health_check(port):
    """The command of the Dockerfile, at another port."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", "")
    command = json.loads(re.search(r"^HEALTHCHECK .*? CMD (\[.*\])$", text, re.MULTILINE)[1])
    return [part.replace("/8080", f"/{port}") for part in command]


@pytest.mark.skipif(BINARY is None, reason="needs the command equipoise, in EQUIPOISE")
def test_the_health_check_tells_a_server_from_none(tmp_path):
    study, port = tmp_path / "study", free_port()
    for verb in (["new", str(study), "--template", "binary-cancer"], ["lock", str(study)]):
        subprocess.run([BINARY, "study", *verb, "--quiet"], check=True, timeout=60)
    serve = [BINARY, "study", "serve", str(study), "--listen", f"127.0.0.1:{port}", "--quiet", "--invite", "1"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline().startswith("http"), "it serves once it prints a link"
            assert subprocess.run(health_check(port), timeout=20).returncode == 0
        finally:
            # What the image is stopped with.
            server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 0
    assert subprocess.run(health_check(port), timeout=20, stderr=subprocess.DEVNULL).returncode != 0


def test_both_servers_are_on_one_database_and_the_image_can_use_it():
    compose = (ROOT / "compose.yaml").read_text()
    assert compose.count(": *server") == 2 and "    - --database\n    - postgres://equipoise@%2Frun%2Fpostgresql/" in compose
    assert re.search(r"cargo build .*--features postgres", (ROOT / "Dockerfile").read_text())


def test_the_image_runs_as_nobody_and_is_stopped_as_the_server_wants_it():
    text = (ROOT / "Dockerfile").read_text()
    assert text.count("\nFROM ") == 2 and re.search(r"^USER [1-9]\d+$", text, re.MULTILINE)
    assert "STOPSIGNAL SIGINT" in text and "/health" in text
