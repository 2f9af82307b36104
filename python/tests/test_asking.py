"""`interview.ask()` where people use it: in a notebook's kernel, and in a terminal."""

import os
import re
import sys
import time

import pytest

SETUP = """
from equipoise import Interview, Space
interview = Interview(Space.from_document({"kind": "logistic", "slope": 21, "offset": 6.3}), width=3.0)
"""
ASK = SETUP + "outcome = interview.ask()\nprint('ratio', outcome.metric.cost_ratio, 'after', outcome.questions)"


def preferred(first, second):
    """What somebody types who holds 6 : 1, for missed cases and false alarms as they were shown."""
    cost = [6 * missed + alarms for missed, alarms in (first, second)]
    return "a" if cost[0] <= cost[1] else "b"


def test_a_notebook_shows_charts_and_asks(tmp_path):
    pytest.importorskip("ipykernel")
    client = pytest.importorskip("jupyter_client.manager")
    manager, kernel = client.start_new_kernel(cwd=str(tmp_path))
    pages, printed = [], []

    def output(message):
        content = message["content"]
        if message["msg_type"] == "display_data":
            pages.append(content["data"]["text/html"])
        elif message["msg_type"] == "stream":
            printed.append(content["text"])
        elif message["msg_type"] == "error":
            pytest.fail("\n".join(content["traceback"]))

    def stdin(message):
        assert message["content"]["prompt"].startswith("A or B?")
        # The chart reaches the notebook before the question does, by another way.
        deadline = time.monotonic() + 10
        while len(pages) <= len(typed) and time.monotonic() < deadline:
            output(kernel.get_iopub_msg(timeout=10))
        charts = re.findall(r'aria-label="([^"]*)"', pages[-1])
        missed, alarms = ([int(re.search(rf"(\d+) {kind}", chart)[1]) for chart in charts]
                          for kind in ("1 predicted as 0", "0 predicted as 1"))  # fmt: skip
        typed.append(preferred(*zip(missed, alarms, strict=True)))
        kernel.input(typed[-1])

    typed = []
    try:
        kernel.execute_interactive(ASK, allow_stdin=True, output_hook=output, stdin_hook=stdin, timeout=60)
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    assert len(pages) == len(typed) > 3 and all(page.count("<svg") == 2 for page in pages)
    found = re.search(r"ratio ([\d.]+) after (\d+)", "".join(printed))
    assert 2.5 < float(found[1]) < 15 and int(found[2]) == len(typed)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of other systems")
def test_a_terminal_asks_line_by_line():
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", ASK])
    seen, questions = "", 0
    try:
        while True:
            try:
                part = os.read(terminal, 65536).decode()
            except OSError:  # the other end is closed
                break
            if not part:
                break
            seen += part
            if seen.count("A or B? [") > questions:
                questions += 1
                question = seen[seen.rindex("Question "):]
                counts = [int(n.replace(",", "")) for n in re.findall(r"─▶ +([\d,]+) as", question)]
                # Found A, found B, missed A, missed B, cleared A, cleared B, false alarms A, false alarms B.
                key = preferred((counts[2], counts[6]), (counts[3], counts[7]))
                os.write(terminal, {1: b"u\n", 2: b"what\n"}.get(questions, key.encode() + b"\n"))
    finally:
        os.close(terminal)
        status = os.waitpid(child, 0)[1]
    assert status == 0, seen
    assert "There is no answer to take back yet." in seen and "'what' is not an answer" in seen
    found = re.search(r"ratio ([\d.]+) after (\d+)", seen)
    assert 2.5 < float(found[1]) < 15 and int(found[2]) == questions - 2
