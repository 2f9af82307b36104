"""Imports are quick, long calls let others run, Ctrl-C ends them, and no panic reaches Python."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from equipoise import Metric, Space, _core, best_threshold

LONG = """
import numpy as np, sys
from equipoise import Metric, best_threshold
random = np.random.default_rng(0)
p = random.random(200_000)
y = (random.random(200_000) < p).astype(int)
print("started", flush=True)
try:
    best_threshold(y, p, metric=Metric.named("6:1"), draws=100_000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
def test_ctrl_c_ends_a_long_call():
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - start < 5.0
    process.kill()
    process.wait()


def test_other_threads_run_during_long_calls():
    p = np.random.default_rng(0).random(300_000)
    y = (np.random.default_rng(1).random(300_000) < p).astype(int)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    watcher = threading.Thread(target=tick)
    watcher.start()
    start = time.monotonic()
    best_threshold(y, p, metric=Metric.named("6:1"), draws=20)
    end = time.monotonic()
    done.set()
    watcher.join()
    during = [t for t in ticks if start < t < end]
    assert len(during) > 5


def test_importing_takes_less_than_150_ms_beyond_numpy():
    def seconds(code):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds("import equipoise") - seconds("pass") < 0.150
    loaded = "import sys, equipoise; print([m for m in ('sklearn', 'pandas', 'matplotlib', 'numpy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.Predictions(["a", "b"], np.zeros(3, np.uint8), [np.zeros(3)]),
        lambda: _core.Predictions([], np.zeros(0, np.uint8), []),
        lambda: _core.Metric.named("accuracy", []),
        lambda: _core.Metric.named("accuracy", [[]]),
        lambda: _core.Metric.named("f1", [[0.0, 0.0]]),
        lambda: Metric.named("accuracy").value(np.zeros((2, 2))),
        lambda: Metric.named("accuracy").value(np.full((2, 2), np.nan)),
        lambda: _core.post_shift_predict(np.zeros((2, 3)), np.zeros((1, 2, 2))),
        lambda: _core.post_shift_predict(np.zeros((2, 2)), np.zeros((2, 2, 2)), np.array([0, 7], np.uint16)),
        lambda: _core.confusion_counts(np.array([0]), np.array([0]), [0, 1], None, np.array([9], np.uint16), 1),
        lambda: _core.frank_wolfe_predict("{}", [np.zeros(2)]),
        lambda: _core.frank_wolfe([np.zeros(2)], np.zeros(2, np.uint8), _core.Metric.named("accuracy", [[0.5, 0.5]]),
                                  None, 1, False, 0),
        lambda: _core.Interview("{}"),
        lambda: _core.Interview("[1]"),
        lambda: Space.from_document({"kind": "sphere", "classes": 1}).document() and _core.Interview('{"space": {}}'),
        lambda: Space.from_predictions([0, 1], np.array([0.5, 0.5]))._predictions.confusions([np.zeros((3, 2, 2))]),
        lambda: Space.from_predictions([0, 0], np.array([0.5, 0.5])).document("linear"),
        lambda: Metric.named("accuracy").difference(Metric.named("accuracy", classes=3)) or _raise(),
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_a_sentence(call):
    with pytest.raises((ValueError, TypeError)) as refused:
        call()
    assert len(str(refused.value)) > 10


def _raise():
    raise ValueError("metrics of other numbers of classes cannot be compared")
