#!/usr/bin/env python3
"""The same answers to two servers: ours, and oTree with a page of two buttons.

    python3 experiments/peer/compare.py --equipoise target/debug/equipoise --otree VENV/bin/otree [--people 50] [--kills 5]

Both keep their data in SQLite on this disk. First many people answer at once, with some thought before each answer, and wait for the
next question; then the server is killed without warning while they answer, again and again, and what was acknowledged is looked
for. An answer counts as acknowledged when the reply to it has been read: with us a receipt, with oTree the redirect to the next
page. Nothing is tuned for either. Prints one line of JSON per server and measure.
"""

import argparse
import html
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.parse

ROUNDS = 100


def wait_for(port, path, seconds=60):
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", path)
            connection.getresponse().read()
            return time.monotonic() - begun
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nobody answers at port {port}")


class Browser:
    """Cookies; every request has a connection of its own, since servers close idle ones at times of their own."""

    def __init__(self, port):
        self.port, self.cookies = port, {}

    def ask(self, method, path, fields=None, accept="text/html"):
        body = urllib.parse.urlencode(fields) if fields is not None else None
        headers = {"Accept": accept, "Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        for line in reply.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
        text = reply.read().decode("utf-8", "replace")
        connection.close()
        return reply.status, reply.headers.get("Location"), text


class Ours:
    name = "equipoise"

    def __init__(self, binary, directory, port):
        self.binary, self.directory, self.port = binary, directory / "study", port
        subprocess.run([binary, "study", "new", str(self.directory)], check=True, capture_output=True)
        file = self.directory / "study.toml"
        text = file.read_text().replace("evaluation = 15", f"evaluation = {ROUNDS}", 1).replace("cap = 40", "cap = 4", 1)
        file.write_text(text)
        subprocess.run([binary, "study", "lock", str(self.directory)], check=True, capture_output=True)

    def start(self):
        command = [self.binary, "study", "serve", str(self.directory), "--listen", f"127.0.0.1:{self.port}", "--quiet"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        return wait_for(self.port, "/health")

    def invite(self, people):
        command = [self.binary, "study", "invite", str(self.directory), "--count", str(people), "--json"]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return re.findall(r"/s/([0-9a-f]{32})", json.dumps(told))

    def begin(self, token):
        browser = Browser(self.port)
        browser.ask("GET", f"/s/{token}")
        page = browser.ask("GET", "/")[2]
        for _ in range(60):
            form = re.search(r'<form[^>]*action="(/[a-z]+)"', page)
            if not form and 'href="/?begin=yes"' in page:
                page = browser.ask("GET", "/?begin=yes")[2]
                continue
            if form.group(1) == "/answer":
                return browser, page
            page = self.send(browser, form.group(1), page)[1]
        raise RuntimeError("never came to a question")

    def send(self, browser, action, page, choice="a"):
        hidden = dict(re.findall(r'name="([a-z_]+)" value="([^"]*)"', page))
        fields = {key: html.unescape(hidden.get(key, "")) for key in ["csrf", "key", "query", "text", "position", "when", "question"]}
        fields |= {
            "/language": {"language": "en"}, "/consent": {"agree": "yes", "decision": "agree"}, "/stated": {"say": "nothing"},
            "/learn": {"seen": "yes"} if 'name="seen"' in page else {"option": "0"}, "/practice": {"choice": "a"},
            "/answer": {"choice": choice, "response_ms": "2000"},
        }.get(action, {})
        if action == "/questionnaire":
            for name, rest in re.findall(r'name="(item[.][^"]*)"([^>]*)', page):
                option = re.search(r'value="([^"]+)"', rest)
                fields.setdefault(name, html.unescape(option.group(1)) if option else "30")
        status, _, body = browser.ask("POST", action, fields, "application/json")
        if status != 200:
            raise ConnectionError(f"{action}: {status}")
        reply = json.loads(body)
        return reply["receipt"], reply["page"]

    def answer(self, state, token):
        browser, page = state
        if 'action="/answer"' not in page:
            return None, state
        receipt, page = self.send(browser, "/answer", page, random.choice("ab"))
        return receipt, (browser, page)

    def stored(self):
        log = sqlite3.connect(self.directory / "log.sqlite")
        rows = log.execute("SELECT position, hash FROM event JOIN payload USING (position) WHERE body LIKE '%\"answered\"%'")
        return [f"{position}-{digest.hex()[:16]}" for position, digest in rows]


OTREE_SETTINGS = """
SESSION_CONFIGS = [dict(name='pair', app_sequence=['pair'], num_demo_participants=1)]
SESSION_CONFIG_DEFAULTS = dict(real_world_currency_per_point=1.0, participation_fee=0.0)
LANGUAGE_CODE = 'en'
REAL_WORLD_CURRENCY_CODE = 'USD'
USE_POINTS = True
ADMIN_USERNAME = 'admin'
ADMIN_PASSWORD = 'not used here'
SECRET_KEY = 'of a measurement'
INSTALLED_APPS = ['otree']
"""
OTREE_APP = f"""
from otree.api import *

class C(BaseConstants):
    NAME_IN_URL = 'pair'
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = {ROUNDS}

class Subsession(BaseSubsession):
    pass

class Group(BaseGroup):
    pass

class Player(BasePlayer):
    choice = models.StringField(choices=['a', 'b'])

class Pair(Page):
    form_model = 'player'
    form_fields = ['choice']

page_sequence = [Pair]
"""
OTREE_PAGE = """{{ block title }}Which is better?{{ endblock }}
{{ block content }}<button name="choice" value="a">A</button><button name="choice" value="b">B</button>{{ endblock }}
"""


class OTree:
    name = "oTree"

    def __init__(self, binary, directory, port):
        self.binary, self.directory, self.port = binary, directory / "otree", port
        for part in ["pair", "_static", "_templates"]:
            (self.directory / part).mkdir(parents=True)
        (self.directory / "settings.py").write_text(OTREE_SETTINGS)
        (self.directory / "pair/__init__.py").write_text(OTREE_APP)
        (self.directory / "pair/Pair.html").write_text(OTREE_PAGE)
        # It starts itself by its name.
        path = f"{pathlib.Path(binary).parent}:{os.environ['PATH']}"
        self.surroundings = os.environ | {"OTREE_REST_KEY": "measured", "OTREE_PRODUCTION": "1", "PATH": path}
        subprocess.run([binary, "resetdb", "--noinput"], cwd=self.directory, check=True, capture_output=True, env=self.surroundings)

    def start(self):
        command = [self.binary, "prodserver", str(self.port)]
        self.process = subprocess.Popen(
            command, cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.surroundings,
            start_new_session=True)
        return wait_for(self.port, "/demo")

    def invite(self, people):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        headers = {"otree-rest-key": "measured", "Content-Type": "application/json"}
        connection.request("POST", "/api/sessions", json.dumps({"session_config_name": "pair", "num_participants": people}), headers)
        code = json.loads(connection.getresponse().read())["code"]
        connection.request("GET", f"/api/sessions/{code}", headers=headers)
        return [one["code"] for one in json.loads(connection.getresponse().read())["participants"]]

    def begin(self, code):
        browser = Browser(self.port)
        path = f"/InitializeParticipant/{code}"
        for _ in range(5):
            status, to, _ = browser.ask("GET", path)
            if status not in (301, 302, 303, 307):
                break
            path = urllib.parse.urlparse(to).path
        return browser, path

    def answer(self, state, code):
        browser, path = state
        place = re.fullmatch(r"/p/[^/]+/pair/Pair/(\d+)", path)
        if not place:
            return None, state
        choice = random.choice("ab")
        status, to, _ = browser.ask("POST", path, {"choice": choice})
        if status not in (302, 303) or not to:
            raise ConnectionError(f"{path}: {status}")
        path = urllib.parse.urlparse(to).path
        browser.ask("GET", path)
        return f"{code} {place.group(1)} {choice}", (browser, path)

    def stored(self):
        data = sqlite3.connect(self.directory / "db.sqlite3")
        rows = data.execute(
            "SELECT p.code, r.round_number, r.choice FROM pair_player r JOIN otree_participant p ON p.id = r.participant_id "
            "WHERE r.choice IS NOT NULL")
        return [f"{code} {number} {choice}" for code, number, choice in rows]


def many(server, tokens, think, seconds):
    """Everybody answers until the time is over or the server is gone: waits, receipts, and what went wrong."""
    waits, receipts, errors, lock = [], [], [], threading.Lock()
    ends = time.monotonic() + seconds

    def person(token):
        try:
            state = server.begin(token)
            while time.monotonic() < ends:
                time.sleep(random.expovariate(1 / think) if think else 0)
                begun = time.monotonic()
                receipt, state = server.answer(state, token)
                if receipt is None:
                    return
                with lock:
                    waits.append(time.monotonic() - begun)
                    receipts.append(receipt)
        except (OSError, http.client.HTTPException, RuntimeError, ValueError) as error:
            with lock:
                errors.append(f"{type(error).__name__}: {error}")

    people = [threading.Thread(target=person, args=(token,)) for token in tokens]
    return people, waits, receipts, errors


def end(server):
    os.killpg(server.process.pid, signal.SIGKILL)
    server.process.wait()


def measure(server, options):
    started = server.start()
    tokens = server.invite(options.people)
    people, waits, _, errors = many(server, tokens, options.think, options.seconds)
    for one in people:
        one.start()
        time.sleep(4 / len(people))
    for one in people:
        one.join()
    waits.sort()
    quantile = lambda share: round(waits[min(len(waits) - 1, int(share * len(waits)))] * 1e3, 1) if waits else None
    print(json.dumps({
        "server": server.name, "measure": "load", "people": options.people, "think_s": options.think, "seconds": options.seconds,
        "answers": len(waits), "p50_ms": quantile(0.5), "p99_ms": quantile(0.99), "max_ms": quantile(1.0), "errors": len(errors),
        "first_error": errors[:1], "start_s": round(started, 2)}), flush=True)
    acknowledged, restarts = [], []
    for _ in range(options.kills):
        tokens = server.invite(12)
        people, _, receipts, _ = many(server, tokens, 0.02, 30)
        for one in people:
            one.start()
        time.sleep(random.uniform(2, 4))
        end(server)
        for one in people:
            one.join()
        acknowledged += receipts
        restarts.append(server.start())
    end(server)
    stored = server.stored()
    known = set(stored)
    print(json.dumps({
        "server": server.name, "measure": "kills", "kills": options.kills, "acknowledged": len(acknowledged),
        "lost": sum(receipt not in known for receipt in acknowledged), "twice": len(stored) - len(known),
        "slowest_restart_s": round(max(restarts, default=0), 2)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--equipoise", required=True)
    parser.add_argument("--otree", required=True)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--think", type=float, default=2.0)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--kills", type=int, default=5)
    options = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="equipoise-peer-"))
    try:
        for kind, binary, port in [(Ours, options.equipoise, 18181), (OTree, options.otree, 18182)]:
            server = kind(os.path.abspath(binary), directory, port)
            try:
                measure(server, options)
            finally:
                if server.process.poll() is None:
                    end(server)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


main()
