"""How large the wheel is and how long the import takes: python python/benchmarks/footprint.py WHEEL

Exits with 1 if the wheel has 15 MB or more, or `import equipoise` takes 150 ms or more. A wheel built for tests has lines
of the source in it and is several times as large as one built for release.
"""

import subprocess
import sys
import time
from pathlib import Path

LARGEST, LONGEST = 15.0, 150.0


def milliseconds(code):
    """How long a new interpreter takes for some code, at best."""
    times = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def main(wheel):
    size, plain = wheel.stat().st_size / 1e6, milliseconds("pass")
    imported = milliseconds("import equipoise") - plain
    used = milliseconds("import equipoise; equipoise.Metric") - plain
    print(f"wheel              {size:6.1f} MB  (below {LARGEST:.0f})")
    print(f"import equipoise   {imported:6.1f} ms  (below {LONGEST:.0f}; {used:.1f} with a metric, which loads NumPy)")
    return 0 if size < LARGEST and imported < LONGEST else 1


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
