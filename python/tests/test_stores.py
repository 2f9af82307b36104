"""The command on Parquet in an object store and on tables in databases prints what it prints of files.

``EQUIPOISE_STORES`` names a command that was built with ``--features object-store,adbc``, ``EQUIPOISE_AZURITE`` the folder where npm has
installed ``azurite``, and ``DUCKDB_LIBRARY`` DuckDB's own library; ``scripts/test --long`` builds the one and installs the others. Google's storage has an interface of its
own and one that is read as S3 is, which the command uses: there the server of S3 stands for it.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from databases import Postgres, created, duckdb_file, need, rows
from seed import SEED

BINARY = os.environ.get("EQUIPOISE_STORES")
pytestmark = pytest.mark.skipif(not BINARY, reason="EQUIPOISE_STORES names no command with object stores and databases")

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}


def table(rows=6_000, classes=2):
    random = np.random.default_rng(SEED)
    p = np.floor(random.dirichlet([1.0] * classes, rows) * 1_000) / 1_000
    p[:, 0] = np.round(1 - p[:, 1:].sum(axis=1), 3)
    y = (random.random((rows, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(0, classes - 1)
    names = np.array(["a", "b", "c"])[:classes]
    columns = {"y": names[y], "sex": random.choice(["f", "m"], rows)}
    if classes == 2:
        return {**columns, "score": p[:, 1], "other": np.round(random.random(rows), 3)}
    return {**columns, **{f"p_{name}": p[:, n] for n, name in enumerate(names)}}


def odd():
    """Scores of which every tenth is not a number."""
    columns = {name: values[:500] for name, values in table().items()}
    return {**columns, "score": np.where(np.arange(500) % 10 == 3, np.nan, columns["score"])}


def run(place, line, environment=None, code=None):
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "GOOGLE_", "AZURE_", "AZURITE_"))}
    done = subprocess.run(
        [BINARY, *line], cwd=place, env={**plain, **(environment or {})}, capture_output=True, text=True, timeout=300
    )
    assert code is None or done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of three Parquet files of several row groups each, and CSV files of the same rows."""
    need("pyarrow")
    import pyarrow
    import pyarrow.parquet

    place = tmp_path_factory.mktemp("stores")
    (place / "parts").mkdir()
    columns = pyarrow.table(table())
    for n in range(3):
        part = columns.slice(n * 2_000, 2_000)
        pyarrow.parquet.write_table(part, place / f"parts/{n}.parquet", row_group_size=700)
    for classes in (2, 3):
        columns = table(classes=classes)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows(columns))]
        (place / f"t{classes}.csv").write_text("\n".join(lines) + "\n")
    return place


@contextlib.contextmanager
def served(command, answers=""):
    """The address of a server on loopback, started by a command that ends with its port, once it answers."""
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([*command, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(300):
            # A refusal is an answer, too.
            with contextlib.suppress(OSError):
                try:
                    urllib.request.urlopen(f"{address}/{answers}").close()
                except urllib.error.HTTPError:
                    pass
                break
            time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.fixture(scope="module")
def store(files):
    """The address of a real server of objects on loopback, with the folder in a bucket."""
    need("moto")
    need("boto3")
    import boto3

    with served([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p"], "moto-api/") as address:
        client = boto3.client(
            "s3", endpoint_url=address, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        # So that they can be read without a signature, by Google's words.
        public = {"ACL": "public-read"}
        client.create_bucket(Bucket="bucket")
        client.create_bucket(Bucket="empty")
        for path in sorted((files / "parts").iterdir()):
            client.upload_file(str(path), "bucket", f"deep/parts/{path.name}", ExtraArgs=public)
        client.put_object(Bucket="bucket", Key="deep/parts/_SUCCESS", Body=b"")
        client.put_object(Bucket="bucket", Key="deep/notes.txt", Body=b"hello")
        client.put_object(Bucket="bucket", Key="odd.parquet", Body=b"no Parquet at all", **public)
        yield {**KEYS, "AWS_ENDPOINT_URL": address}


@pytest.fixture(scope="module")
def google(files, store):
    """The same bucket by Google's words, without signatures."""
    account = files / "account.json"
    address = {"gcs_base_url": store["AWS_ENDPOINT_URL"], "disable_oauth": True}
    account.write_text(json.dumps({**address, "client_email": "", "private_key": "", "private_key_id": ""}))
    return {"GOOGLE_SERVICE_ACCOUNT": str(account), "GOOGLE_ALLOW_HTTP": "true"}


@pytest.fixture(scope="module")
def azure(files):
    """The same objects in a server of Azure's storage, whose requests are signed."""
    need("azure.storage.blob")
    from azure.storage.blob import BlobServiceClient

    script = pathlib.Path(os.environ.get("EQUIPOISE_AZURITE", "none"), "node_modules/azurite/dist/src/blob/main.js")
    if not script.is_file() or shutil.which("node") is None:
        pytest.skip("azurite is not installed")
    options = ["--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck", "--blobHost", "127.0.0.1", "--blobPort"]
    with served(["node", str(script), *options]) as address:
        # The account that every Azurite has.
        name = "devstoreaccount1"
        key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
        with BlobServiceClient(f"{address}/{name}", credential=key) as client:
            for container in ("bucket", "empty"):
                client.create_container(container)
            bucket = client.get_container_client("bucket")
            for path in sorted((files / "parts").iterdir()):
                bucket.upload_blob(f"deep/parts/{path.name}", path.read_bytes())
            bucket.upload_blob("deep/parts/_SUCCESS", b"")
            bucket.upload_blob("deep/notes.txt", b"hello")
            bucket.upload_blob("odd.parquet", b"no Parquet at all")
        known = {"AZURE_STORAGE_ACCOUNT_NAME": name, "AZURE_STORAGE_ACCOUNT_KEY": key}
        yield {**known, "AZURE_ENDPOINT": f"{address}/{name}", "AZURE_ALLOW_HTTP": "true"}


@pytest.mark.parametrize(
    "line",
    [
        ["inspect", "T", "--no-svg", "--scores", "score"],
        ["threshold", "T", "--metric", "6:1", "--no-svg", "--scores", "score", "--group", "sex"],
        ["score", "T", "--metric", "f1", "--models", "score"],
        ["score", "T", "--metric", "f1", "--models", "score,other"],
        ["rank", "T", "--metric", "f1", "--models", "score,other"],
        ["elicit", "T", "--oracle", "6:1", "--scores", "score", "--out", "OUT"],
    ],
    ids=lambda line: " ".join(line[:1] + line[2:4]),
)
@pytest.mark.parametrize("key", ["deep/parts", "deep/parts/", "deep/*/?.parquet"])
def test_objects_print_what_files_print(files, store, line, key, tmp_path):
    def said(name, environment, out):
        words = [name if word == "T" else str(tmp_path / out) if word == "OUT" else word for word in line]
        if line[0] == "elicit":
            words += ["--save", str(tmp_path / f"{out}.interview")]
        done = run(files, words, environment)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, done.stdout.replace(name, "T").replace(out, "OUT"), done.stderr

    here, there = said("parts", None, "out-1"), said(f"s3://bucket/{key}", store, "out-2")
    assert there[:2] == here[:2]
    assert "streamed: 6000 rows in 3 pieces" in there[2]


@pytest.mark.parametrize("kind", ["google", "azure"])
@pytest.mark.parametrize("key", ["deep/parts", "deep/*/?.parquet", "deep/parts/1.parquet"])
@pytest.mark.parametrize("command", [["inspect"], ["threshold", "--metric", "6:1"]], ids=lambda command: command[0])
def test_other_stores_print_what_files_print(files, request, kind, key, command):
    def said(name, environment=None):
        done = run(files, [command[0], name, "--no-svg", "--scores", "score", *command[1:]], environment)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, done.stdout.replace(name, "T").replace(pathlib.Path(name).name, "T")

    scheme = {"google": "gs", "azure": "az"}[kind]
    here = "parts/1.parquet" if key.endswith("1.parquet") else "parts"
    assert said(f"{scheme}://bucket/{key}", request.getfixturevalue(kind)) == said(here)


@pytest.mark.parametrize(
    ("kind", "address", "environment", "told"),
    [
        ("google", "gs://nowhere/x", {}, "gs://nowhere/x: found no such bucket, expected the name of one that exists"),
        ("google", "gs://empty", {}, "gs://empty: found no Parquet, expected an object, or a folder of .parquet files"),
        ("google", "gs://bucket/odd.parquet", {}, "gs://bucket/odd.parquet: found a damaged Parquet file"),
        ("azure", "az://nowhere/x", {}, "az://nowhere/x: found no such bucket, expected the name of one that exists"),
        ("azure", "az://empty", {}, "az://empty: found no Parquet, expected an object, or a folder of .parquet files"),
        ("azure", "az://bucket/odd.parquet", {}, "az://bucket/odd.parquet: found a damaged Parquet file"),
        ("azure", "az://bucket/deep", {"AZURE_STORAGE_ACCOUNT_KEY": "AAAA"}, "found an object store that refuses ("),
        ("azure", "az://bucket/deep", {"AZURE_STORAGE_ACCOUNT_KEY": "no key"}, "expected settings in the environment that fit together"),
        ("azure", "az://bucket/deep", {"AZURE_ENDPOINT": "http://127.0.0.1:9"}, "an object store that does not answer ("),
    ],
)
def test_what_other_stores_have_not_is_said_in_one_sentence(files, request, kind, address, environment, told):
    known = {**request.getfixturevalue(kind), **environment}
    done = run(files, ["inspect", address, "--no-svg"], known, code=3)
    assert told in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_one_object_is_a_table(files, store):
    done = run(files, ["inspect", "s3://bucket/deep/parts/1.parquet", "--no-svg", "--scores", "score", "--json"], store)
    assert '"rows": 2000' in done.stdout


@pytest.mark.parametrize(
    ("address", "environment", "told"),
    [
        ("s3://nowhere/x", {}, "s3://nowhere/x: found no such bucket, expected the name of one that exists"),
        ("s3://empty", {}, "s3://empty: found no Parquet, expected an object, or a folder of .parquet files"),
        ("s3://bucket/deep/nothing", {}, "found no Parquet, expected an object, or a folder of .parquet files"),
        ("s3://bucket/odd.parquet", {}, "s3://bucket/odd.parquet: found a damaged Parquet file"),
        ("s3:///x", {}, "found no bucket, expected an address such as s3://bucket/folder"),
        ("s3://bucket/deep", {"AWS_ACCESS_KEY_ID": None}, "no credentials, expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("s3://bucket/deep", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "an object store that does not answer ("),
        ("gs://bucket/deep", {"GOOGLE_SERVICE_ACCOUNT": "no.json"}, "found "),
        ("az://bucket/deep", {}, "no credentials, expected AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(files, store, address, environment, told):
    known = {name: value for name, value in {**store, **environment}.items() if value is not None}
    done = run(files, ["inspect", address, "--no-svg"], known, code=3)
    assert told in done.stderr and done.stderr.count("\n") == 1, done.stderr


def library(module):
    need(module)
    import importlib

    return importlib.import_module(module)._driver_path()


DATABASES = ["sqlite", "postgresql", "duckdb"]


@pytest.fixture(scope="module")
def databases(files):
    """Drivers with addresses of databases that hold the same tables."""
    found = {}
    with contextlib.ExitStack() as stack:

        def database(kind):
            if kind not in found:
                found[kind] = made(kind)
            return found[kind]

        def made(kind):
            if kind == "sqlite":
                driver, place = library("adbc_driver_sqlite"), files / "tables.sqlite"
                with contextlib.closing(sqlite3.connect(place)) as connection:
                    for classes in (2, 3):
                        columns = table(classes=classes)
                        connection.execute(created(f"t{classes}", columns))
                        marks = ", ".join("?" * len(columns))
                        connection.executemany(f"INSERT INTO t{classes} VALUES ({marks})", rows(columns))
                    connection.commit()
                return ["--adbc", driver, "--uri", str(place)]
            if kind == "duckdb":
                driver, place = os.environ.get("DUCKDB_LIBRARY"), files / "tables.duckdb"
                if not driver:
                    pytest.skip("DUCKDB_LIBRARY names no library of DuckDB")
                duckdb_file(place, {"t2": table(), "t3": table(classes=3), "odd": odd()})
                return ["--adbc", driver, "--uri", str(place)]
            driver, server = library("adbc_driver_postgresql"), Postgres()
            stack.callback(server.stop)
            connection = server.loaded("t2", table())
            for name, columns in (("t3", table(classes=3)), ("odd", odd())):
                connection.execute(created(name, columns))
                with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
                    for row in rows(columns):
                        copy.write_row(row)
            connection.commit()
            connection.close()
            return ["--adbc", driver, "--uri", server.url(f"d{server.count}")]

        yield database


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize(
    "line",
    [
        ["inspect", "t2", "--no-svg", "--scores", "score"],
        ["inspect", "t2", "--no-svg", "--scores", "score", "--group", "sex"],
        ["inspect", "t3", "--no-svg"],
        ["inspect", "t3", "--no-svg", "--group", "sex"],
        ["threshold", "t2", "--metric", "6:1", "--no-svg", "--scores", "score", "--group", "sex", "--per-group"],
        ["elicit", "t2", "--oracle", "6:1", "--scores", "score", "--out", "OUT", "--save", "SAVE"],
        ["elicit", "t3", "--oracle", "accuracy", "--around", "model", "--budget", "4", "--out", "OUT", "--save", "SAVE"],
    ],
    ids=lambda line: " ".join(line[:1] + line[2:4]),
)
def test_tables_in_a_database_print_what_files_print(files, databases, kind, line, tmp_path):
    def said(name, more):
        for file in tmp_path.iterdir():
            file.unlink()
        changed = {line[1]: name, "OUT": str(tmp_path / "metric"), "SAVE": str(tmp_path / "interview")}
        done = run(files, [*(changed.get(word, word) for word in line), *more])
        assert done.returncode in (0, 1), done.stderr
        return done.returncode, done.stdout.replace(name, "T"), done.stderr

    (code, printed, _), there = said(f"{line[1]}.csv", []), said(line[1], databases(kind))
    assert there[:2] == (code, printed.replace(f"{line[1]}.csv", "T"))
    assert "in a database: 6000 rows, of which only counts are fetched" in there[2]


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize("classes", [2, 3])
def test_models_in_a_database_have_the_value_they_have_in_files(files, databases, kind, classes):
    scores = ["--scores", "score"] if classes == 2 else []

    def value(name, more):
        done = run(files, ["score", name, "--metric", "accuracy", "--draws", "400", "--json", *scores, *more])
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    here, there = value(f"t{classes}.csv", []), value(f"t{classes}", databases(kind))
    own, other = here["models"][0], there["models"][0]
    assert other["value"] == own["value"]
    # Rows have no numbers in a database, so that other random numbers draw them.
    np.testing.assert_allclose(list(other["interval"].values()), list(own["interval"].values()), atol=0.005)


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize("classes", [2, 3])
def test_rules_are_tuned_and_classifiers_optimised_on_counts(files, databases, kind, classes, tmp_path):
    scores = "score" if classes == 2 else "p_a,p_b,p_c"

    def value(line, more):
        done = run(files, [*line, "--json", *more])
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    if classes == 3:
        line = ["--metric", "accuracy", "--require", "recall:c>=0.5", "--draws", "20", "--no-svg"]
        here, there = value(["threshold", "t3.csv", *line], []), value(["threshold", "t3", *line], databases(kind))
        assert there["tuned"] == here["tuned"]
        assert [rule["value"] for rule in there["rules"]] == [rule["value"] for rule in here["rules"]]
    names = {}
    for where, train, more in (("here", f"t{classes}.csv", []), ("there", f"t{classes}", databases(kind))):
        out = tmp_path / f"{where}.json"
        line = ["optimize", "--train", train, "--validation", f"t{classes}.csv", "--truth", "y", "--scores", scores]
        found = value([*line, "--metric", "g_mean", "--iterations", "3", "--classifier", str(out)], more)
        names[where] = (found["value"]["validation"], found["method"], out.read_text())
    assert names["here"] == names["there"]


ALIKE = "intervals: rows are drawn again by how many of them are counted alike (Poisson)"
TOGETHER = "intervals: rows are drawn again for all models together, by how many of them the models decide alike (Poisson)"


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["score", "t2", "--metric", "f1", "--scores", "score", "--draws", "50"], ALIKE),
        (["score", "t3", "--metric", "accuracy", "--draws", "50"], ALIKE),
        (["threshold", "t2", "--metric", "6:1", "--scores", "score", "--draws", "20", "--no-svg"], ALIKE),
        (["rank", "t2", "--models", "score,other", "--metric", "f1", "--draws", "50"], TOGETHER),
        (["gate", "--champion", "t2", "--challenger", "t2", "--metric", "f1", "--scores", "score", "--draws", "100"], TOGETHER),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, list) else None,
)
def test_how_rows_of_a_database_are_drawn_again_is_said(files, databases, kind, line, told):
    done = run(files, [*line, *databases(kind)])
    assert done.returncode in (0, 1, 4), done.stderr
    assert done.stderr.count("drawn again") == 1 and told in done.stderr.splitlines(), done.stderr
    # Rows in a file have numbers, and are drawn one by one.
    here = run(files, [f"{word}.csv" if word in ("t2", "t3") else word for word in line])
    assert here.returncode in (0, 1, 4) and "Poisson" not in here.stderr, here.stderr


@pytest.mark.parametrize("kind", ["postgresql", "duckdb"])
def test_scores_that_are_not_a_number_are_missing(files, databases, kind):
    there, line = databases(kind), ["inspect", "odd", "--no-svg", "--scores", "score", "--group", "sex"]
    done = run(files, [*line, *there], code=3)
    assert done.stderr == (
        "error: table odd, column score: found no value in 50 of 500 rows, expected one in every row; "
        "--drop-missing leaves such rows out\n"
    )
    # Left out, the others print what they print from a file.
    columns = odd()
    kept = [row for row in rows(columns) if row[list(columns).index("score")] >= 0]
    (files / "kept.csv").write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in kept)]) + "\n")
    here = run(files, ["inspect", "kept.csv", *line[2:]])
    done = run(files, [*line, "--drop-missing", *there], code=here.returncode)
    assert here.returncode in (0, 1), here.stderr
    assert done.stdout.replace("odd", "T") == here.stdout.replace("kept.csv", "T")
    assert "50 of 500 rows without a value left out" in done.stderr


def test_two_models_of_a_table_are_ranked(files, databases):
    line = ["rank", "t2", "--models", "score,other", "--metric", "f1", *databases("sqlite")]
    done = run(files, line, code=0)
    assert done.stdout.index("score") < done.stdout.index("other")


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (["inspect", "t9"], 3, "table t9: found a database that does not answer ("),
        (["inspect", "t2", "--scores", "risk"], 2, 'found no column "risk", expected one of the columns y, sex, score'),
    ],
)
def test_what_a_database_cannot_answer_is_said_in_one_sentence(files, databases, line, code, told):
    done = run(files, [*line, "--no-svg", *databases("sqlite")], code=code)
    assert told in done.stderr, done.stderr


def test_a_driver_or_an_address_that_is_missing_is_named(files):
    done = run(files, ["inspect", "t2", "--adbc", "adbc_driver_nowhere", "--uri", "x"], code=3)
    assert '--adbc: found no driver "adbc_driver_nowhere" (' in done.stderr
    done = run(files, ["inspect", "t2", "--adbc", "adbc_driver_nowhere"], code=2)
    assert "EQUIPOISE_ADBC_URI" in done.stderr


def ordinary(rows=900):
    """What people have: names and labels with spaces and letters of other languages."""
    random = np.random.default_rng(SEED + 2)
    risk = np.round(random.random(rows), 2)
    return {
        "Ausgang": np.where(random.random(rows) < risk, "überlebt", "not well"),
        "risk score": risk,
        "age group": random.choice(["65 and over", "under 65"], rows),
    }


ORDINARY = ["--truth", "Ausgang", "--scores", "risk score", "--group", "age group", "--positive", "überlebt"]


@pytest.fixture(scope="module")
def guarded(files):
    """A PostgreSQL server with an encoding of its own, and roles that have a password, may only read, or may nothing."""
    import psycopg

    library("adbc_driver_postgresql")
    server = Postgres()
    try:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE old ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
            connection.execute("CREATE ROLE reader LOGIN PASSWORD 'right'")
            connection.execute("CREATE ROLE stranger LOGIN PASSWORD 'right'")
        with psycopg.connect(server.url("old")) as connection:
            columns = ordinary()
            connection.execute(created("val.csv", columns))
            with connection.cursor() as cursor:
                cursor.executemany('INSERT INTO "val.csv" VALUES (%s, %s, %s)', rows(columns))
            connection.execute('GRANT SELECT ON "val.csv" TO reader')
        # Of these two a password is asked.
        access = server.folder / "data/pg_hba.conf"
        access.write_text("host all reader,stranger 127.0.0.1/32 scram-sha-256\n" + access.read_text())
        server.call("pg_ctl", "-D", str(server.folder / "data"), "reload")
        time.sleep(1)
        yield server
    finally:
        server.stop()


def as_role(server, role, database="old", scheme="postgresql"):
    return server.url(database).replace("equipoise@", f"{role}@").replace("postgresql:", f"{scheme}:")


@pytest.fixture(scope="module")
def ordinary_file(files):
    columns = ordinary()
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows(columns))]
    (files / "val.csv").write_text("\n".join(lines) + "\n")
    return files


def test_a_role_that_may_only_read_and_an_older_encoding_print_what_files_print(ordinary_file, guarded):
    there = ["--adbc", library("adbc_driver_postgresql"), "--uri", as_role(guarded, "reader:right")]
    for line in (["inspect", "val.csv", "--no-svg"], ["threshold", "val.csv", "--metric", "6:1", "--no-svg"]):
        here = run(ordinary_file, [*line, *ORDINARY])
        assert here.returncode in (0, 1), here.stderr
        done = run(ordinary_file, [*line, *ORDINARY, *there])
        assert done.stdout == here.stdout, done.stderr


@pytest.mark.parametrize(
    ("role", "database", "port", "told"),
    [
        ("reader:wrong", "old", None, "password authentication failed"),
        ("stranger:right", "old", None, "permission denied for table val.csv"),
        ("reader:right", "nowhere", None, 'database "nowhere" does not exist'),
        ("reader:right", "old", 9, "onnection refused"),
    ],
)
def test_whoever_may_not_is_told_so_without_the_password(ordinary_file, guarded, role, database, port, told):
    address = as_role(guarded, role, database)
    address = address if port is None else address.replace(f":{guarded.port}/", f":{port}/")
    line = ["inspect", "val.csv", "--no-svg", "--adbc", library("adbc_driver_postgresql"), "--uri", address]
    done = run(ordinary_file, [*line, *ORDINARY], code=3)
    assert told in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert role.split(":")[1] + "@" not in done.stderr and address not in done.stderr


def test_a_study_in_a_database_that_cannot_hold_it_is_refused_in_one_sentence(files, guarded, tmp_path):
    run(tmp_path, ["study", "new", "cancer", "--template", "binary-cancer"], code=0)
    told = {
        as_role(guarded, "equipoise", "old", "postgres"): "is encoded in LATIN1, expected UTF8",
        as_role(guarded, "reader:wrong", "postgres", "postgres"): "password authentication failed",
        as_role(guarded, "reader:right", "postgres", "postgres"): "permission denied for schema public",
        as_role(guarded, "reader:right", "nowhere", "postgres"): 'database "nowhere" does not exist',
    }
    for address, sentence in told.items():
        done = run(tmp_path, ["study", "lock", "cancer", "--database", address], code=3)
        assert sentence in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert "right@" not in done.stderr and "wrong@" not in done.stderr, done.stderr


@pytest.fixture(scope="module")
def gaps(ordinary_file):
    """A file of SQLite with the ordinary table, one of percentages, and one with rows that lack a value."""
    driver, place = library("adbc_driver_sqlite"), ordinary_file / "ordinary.sqlite"
    columns = ordinary()
    with contextlib.closing(sqlite3.connect(place)) as connection:
        for name, scores in (
            ("val.csv", columns["risk score"]),
            ("percent", columns["risk score"] * 100),
            ("gaps", np.where(np.arange(900) % 90 == 7, np.nan, columns["risk score"])),
        ):
            table = {**columns, "risk score": scores}
            connection.execute(created(name, table))
            marked = [tuple(None if cell != cell else cell for cell in row) for row in rows(table)]
            connection.executemany(f'INSERT INTO "{name}" VALUES (?, ?, ?)', marked)
            lines = [",".join(table), *(",".join("" if cell is None else str(cell) for cell in row) for row in marked)]
            (ordinary_file / f"{name}.csv").write_text("\n".join(lines) + "\n")
        connection.commit()
    return ["--adbc", driver, "--uri", str(place)]


def test_ordinary_tables_print_what_files_print(ordinary_file, gaps):
    def said(name, more):
        return run(ordinary_file, ["threshold", name, "--metric", "f1", "--no-svg", *ORDINARY, *more], code=None)

    assert said("val.csv", gaps).stdout == said("val.csv", []).stdout != ""
    here, there = said("gaps.csv", ["--drop-missing"]), said("gaps", ["--drop-missing", *gaps])
    assert there.stdout == here.stdout != ""
    assert "10 of 900 rows without a value left out" in there.stderr
    missing = said("gaps", gaps)
    assert missing.returncode == 3 and "no value in 10 of 900 rows" in missing.stderr, missing.stderr
    percent = said("percent", gaps)
    assert percent.returncode == 3 and "percentages are divided by 100.0 in a view" in percent.stderr, percent.stderr
    for done in (missing, percent):
        assert done.stderr.count("\n") == 1 and done.stdout == "", done.stderr
