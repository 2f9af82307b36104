"""The seed of tests that hold whatever is drawn: the same every time, or what EQUIPOISE_SEED says."""

import os

SEED = int(os.environ.get("EQUIPOISE_SEED", 17))
