"""Pages whose examples need libraries that are not everywhere are skipped by the names of those."""

from importlib.util import find_spec

import pytest

NEEDS = {"choose.md": ["fairlearn", "mlflow", "optuna", "sklearn", "sqlalchemy"]}


def pytest_collection_modifyitems(items):
    for item in items:
        missing = [name for name in NEEDS.get(item.path.name, []) if find_spec(name) is None]
        if missing:
            item.add_marker(pytest.mark.skip(reason=f"{item.path.name} needs {', '.join(missing)}"))
