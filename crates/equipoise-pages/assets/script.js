// What the pages do beyond forms. Without this script everything still works, by form posts.
//
// One answer at a time is on its way: it is kept in this browser until the server says that it is on disk, and the
// next question appears only then. The key sent with it makes a second arrival harmless.
(() => {
  "use strict";
  document.documentElement.classList.add("script");

  // Buttons and keys are deaf for this long after a question appears, so that a second press of the last answer
  // cannot answer the next question.
  const GUARD_MS = 250;
  // So many mistakes of the server in a row are shown instead of sent again.
  const FAILURES = 4;
  const OUTBOX = "equipoise.outbox";
  const SHORTCUTS = "equipoise.shortcuts";
  const policy = window.trustedTypes?.createPolicy("equipoise", { createHTML: (html) => html });

  let paintedAt = null; // when both panels were first on the screen, by the monotonic clock
  let hiddenSince = null;
  let hiddenFor = 0;
  let sending = false;

  const byId = (id) => document.getElementById(id);
  const say = (what) => {
    const status = byId("status");
    if (!status) return;
    status.textContent = what ? status.dataset[what] : "";
    status.classList.toggle("waiting", what === "waiting");
  };

  // Storage may be switched off; then an answer lives only as long as the page does.
  const stored = {
    get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
    set: (name, value) => { try { localStorage.setItem(name, value); } catch { /* see above */ } },
    remove: (name) => { try { localStorage.removeItem(name); } catch { /* see above */ } },
  };

  // ---- response time: from the first paint of both panels, without the time the page was hidden ----
  const startClock = () => {
    paintedAt = null;
    hiddenFor = 0;
    hiddenSince = document.hidden ? performance.now() : null;
    // The callback after the next frame runs when that frame has been painted.
    requestAnimationFrame(() => requestAnimationFrame(() => { paintedAt = performance.now(); }));
  };
  document.addEventListener("visibilitychange", () => {
    const now = performance.now();
    if (document.hidden) {
      hiddenSince = now;
    } else if (hiddenSince !== null) {
      hiddenFor += now - Math.max(hiddenSince, paintedAt ?? now);
      hiddenSince = null;
    }
  });
  const timing = () => {
    if (paintedAt === null) return { response: "", hidden: "" };
    const hidden = Math.max(0, hiddenFor);
    return { response: Math.max(0, Math.round(performance.now() - paintedAt - hidden)), hidden: Math.round(hidden) };
  };
  const awake = () => paintedAt !== null && performance.now() - paintedAt >= GUARD_MS;

  // ---- sending, with an outbox ----
  const wait = (ms) => new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() { clearTimeout(timer); removeEventListener("online", done); resolve(); }
    addEventListener("online", done);
  });

  // The answer that is on its way is marked; nothing moves.
  const mark = (parcel) => {
    const choice = new URLSearchParams(parcel.body).get("choice");
    const button = choice && document.querySelector(`#answer button[value="${CSS.escape(choice)}"]`);
    if (button) button.classList.add("chosen");
  };

  const deliver = async (parcel) => {
    sending = true;
    say("saving");
    mark(parcel);
    for (let [pause, failures] = [1000, 0]; ; pause = Math.min(2 * pause, 30000)) {
      try {
        const reply = await fetch(parcel.to, {
          method: "POST",
          credentials: "same-origin",
          headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "application/json" },
          body: parcel.body,
        });
        if (reply.status < 500 && reply.status !== 429) {
          stored.remove(OUTBOX);
          sending = false;
          if (!reply.headers.get("content-type")?.startsWith("application/json")) return location.assign("/");
          return show(await reply.json(), reply.ok);
        }
        // Busy, full and away pass; a mistake of the server's own does not, and what was sent would meet it for ever.
        if (reply.status === 500 && ++failures === FAILURES) {
          stored.remove(OUTBOX);
          sending = false;
          return show({ page: await reply.text() }, false);
        }
      } catch { /* no connection: try again below */ }
      say("waiting");
      await wait(pause);
    }
  };

  const post = (form, extra) => {
    if (sending) return;
    const body = new URLSearchParams(new FormData(form));
    for (const [name, value] of Object.entries(extra)) body.set(name, value);
    const parcel = { to: form.getAttribute("action"), body: body.toString() };
    stored.set(OUTBOX, JSON.stringify(parcel));
    deliver(parcel);
  };

  // ---- showing the next page in place of this one ----
  const show = (reply, accepted) => {
    const html = policy ? policy.createHTML(reply.page) : reply.page;
    const next = new DOMParser().parseFromString(html, "text/html");
    const main = next.querySelector("main");
    // Another kind of step has a page of its own; a refusal is shown here, where it happened.
    if (!main || (accepted && !main.querySelector("#answer"))) return location.assign("/");
    const [rates, only] = ["view-rates", "mistakes-only"].map((id) => byId(id)?.checked);
    byId("main").replaceWith(document.adoptNode(main));
    document.title = next.title;
    for (const [id, on] of [["view-rates", rates], ["mistakes-only", only]]) if (on && byId(id)) byId(id).checked = true;
    scrollTo(0, 0);
    byId("main").focus({ preventScroll: true });
    ready();
    say(reply.receipt ? "saved" : "");
  };

  const choose = (choice) => {
    const form = byId("answer");
    if (!form || !awake()) return;
    const { response, hidden } = timing();
    const button = form.querySelector(`button[value="${choice}"]`);
    const middle = button.getBoundingClientRect();
    const left = choice === "cannot_tell" ? "" : middle.left + middle.width / 2 < innerWidth / 2 ? "yes" : "no";
    post(form, { choice, response_ms: response, hidden_ms: hidden, left });
  };

  const undo = () => {
    const button = document.querySelector('button[form="undo"]');
    if (button && !button.disabled && awake()) post(byId("undo"), {});
  };

  const note = (what, value) => {
    const form = byId("answer");
    if (!form) return;
    const body = new URLSearchParams({ csrf: form.elements.csrf.value, what, value });
    // A lost note about how the page was used is no loss of an answer: it is sent once.
    fetch("/note", { method: "POST", credentials: "same-origin", body, keepalive: true }).catch(() => {});
  };

  const openHelp = (event) => {
    const help = byId("help");
    if (!help) return;
    event?.preventDefault();
    help.open = true;
    help.scrollIntoView({ block: "start" });
    help.querySelector("summary").focus({ preventScroll: true });
  };

  // ---- events; the page's own are on the document, which stays when the question changes ----
  document.addEventListener("submit", (event) => {
    if (event.target.id === "answer") {
      event.preventDefault();
      if (event.submitter) choose(event.submitter.value);
    } else if (event.target.id === "undo") {
      event.preventDefault();
      undo();
    } else if (event.target.dataset.sent) {
      event.preventDefault(); // Enter held down, or a double click
    } else {
      event.target.dataset.sent = "yes";
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-help]")) openHelp(event);
    if (event.target.closest("[data-print]")) print();
  });
  document.addEventListener("change", (event) => {
    const { id, name, checked } = event.target;
    if (name === "view") note("rates", byId("view-rates").checked);
    if (id === "shortcuts") stored.set(SHORTCUTS, checked ? "on" : "off");
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.id === "help" && event.target.open) note("card", "");
  }, true);
  document.addEventListener("keydown", (event) => {
    const form = byId("answer");
    if (!form || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (stored.get(SHORTCUTS) === "off") return;
    // Space and arrows belong to whatever has the focus, if it uses them.
    const used = event.target.closest("input, textarea, select, button, summary, a");
    const rightToLeft = document.documentElement.dir === "rtl";
    const key = event.key.toLowerCase();
    const plain = { a: "a", b: "b" }[key];
    const moving = { arrowleft: rightToLeft ? "b" : "a", arrowright: rightToLeft ? "a" : "b", " ": "cannot_tell" }[key];
    if (plain || (moving && !used)) {
      event.preventDefault();
      choose(plain ?? moving);
    } else if (key === "u") {
      undo();
    } else if (key === "r" && byId("view-rates")) {
      const other = byId(byId("view-rates").checked ? "view-counts" : "view-rates");
      other.checked = true;
      other.dispatchEvent(new Event("change", { bubbles: true }));
    } else if (key === "m" && byId("all-numbers")) {
      byId("all-numbers").open = !byId("all-numbers").open;
    } else if (key === "?") {
      openHelp(event);
    }
  });

  const ready = () => {
    const shortcuts = byId("shortcuts");
    if (shortcuts) shortcuts.checked = stored.get(SHORTCUTS) !== "off";
    if (byId("answer")) startClock();
  };

  // A page that comes back from the browser's memory may be long out of date.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  ready();
  // An answer from before a reload, or before the battery ran out.
  const kept = stored.get(OUTBOX);
  if (kept && byId("answer")) deliver(JSON.parse(kept));
})();
