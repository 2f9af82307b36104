// Keeps the live page up to date and copies links. Without this script there is a link for the one, and the other is text.
(() => {
  "use strict";
  document.documentElement.classList.add("script");

  document.addEventListener("click", async ({ target }) => {
    const button = target.closest?.("[data-copy]");
    if (!button) return;
    const text = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      // Not allowed to: it is marked, and one key away.
      getSelection().selectAllChildren(text);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });

  // The slider says where it is, and shows what follows when it is let go.
  const slider = document.querySelector("[data-ratio]");
  if (slider) {
    const told = document.getElementById(slider.dataset.ratio);
    const tell = () => { told.textContent = String(Number((10 ** (slider.value / 100)).toPrecision(2))); };
    slider.addEventListener("input", tell);
    slider.addEventListener("change", () => slider.form.requestSubmit());
    tell();
  }

  const policy = window.trustedTypes?.createPolicy("equipoise", { createHTML: (html) => html });
  const parsed = (html) => new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");

  // What was typed and is not saved is not closed without a question.
  const editing = document.querySelector("form.editing");
  if (editing) {
    let sending = false;
    const typed = () => [...editing.querySelectorAll("textarea, input[type='text']")].some((field) => field.value !== field.defaultValue);
    editing.addEventListener("submit", () => { sending = true; });
    addEventListener("pageshow", () => { sending = false; });
    addEventListener("beforeunload", (event) => {
      if (!sending && (editing.dataset.unsaved !== undefined || typed())) event.preventDefault();
    });
  }

  // What the check says follows what is typed: a moment after the last key, one request at a time, the last text wins.
  const form = document.querySelector("form[data-check]");
  if (form) {
    const PAUSE_MS = 600;
    const told = () => document.querySelector("#findings [aria-live]");
    let timer, busy = false, again = false;
    const asked = () => {
      const sent = new FormData();
      for (const field of form.elements) if (/^(csrf|text|field:.*)$/.test(field.name)) sent.append(field.name, field.value);
      return fetch(form.dataset.check, { method: "POST", body: sent, credentials: "same-origin" });
    };
    // Whoever signed in again in another tab goes on here: the page of now has what forms carry.
    const renewed = async () => {
      const page = await fetch(form.action, { credentials: "same-origin" });
      const csrf = page.ok && !page.redirected && parsed(await page.text()).querySelector("form[data-check] [name='csrf']");
      if (csrf) form.elements.csrf.value = csrf.value;
      return Boolean(csrf);
    };
    const check = async () => {
      if (busy) { again = true; return; }
      busy = true;
      try {
        let reply = await asked();
        if (reply.status === 403 && await renewed()) reply = await asked();
        const next = reply.ok && !reply.redirected && parsed(await reply.text()).querySelector("#findings [aria-live]");
        if (next) told().replaceChildren(...next.childNodes);
        else if (reply.status === 401 || reply.redirected) told().textContent = "You are signed out; sign in in another tab, then go on here. What is typed is still here.";
        else told().textContent = "The check cannot be asked now; the button does it.";
      } catch {
        told().textContent = "The server does not answer. What is typed is still here.";
      }
      busy = false;
      if (again) { again = false; check(); }
    };
    form.addEventListener("input", ({ target }) => {
      if (!target.matches("textarea, input[type='text']")) return;
      clearTimeout(timer);
      timer = setTimeout(check, PAUSE_MS);
    });
  }

  if (!document.getElementById("live")) return;

  const EVERY_MS = 1000;
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  let pause = EVERY_MS;

  /** Puts the new part in the place of the old one; what was open stays open, and the focus where it was. */
  const replace = (next) => {
    const old = document.getElementById("live");
    for (const { id } of old.querySelectorAll("details[open][id]")) next.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
    const focus = document.activeElement;
    const place = old.contains(focus) ? [...old.querySelectorAll("a, summary, [tabindex]")].indexOf(focus) : -1;
    old.replaceWith(next);
    if (place >= 0) next.querySelectorAll("a, summary, [tabindex]")[place]?.focus();
  };

  const look = async () => {
    const live = document.getElementById("live");
    const reply = await fetch(`${live.dataset.again}seen=${live.dataset.seen}`, { credentials: "same-origin" });
    // Signed out meanwhile: the sign-in page says so.
    if (reply.redirected) return location.reload();
    if (reply.status === 200) {
      const next = parsed(await reply.text()).getElementById("live");
      if (next) replace(document.adoptNode(next));
    }
    // What fails is asked for less often.
    pause = reply.ok ? EVERY_MS : Math.min(pause * 2, 30000);
  };

  (async () => {
    for (;;) {
      await wait(pause);
      if (document.hidden || !document.getElementById("refreshing")?.checked) continue;
      try { await look(); } catch { pause = Math.min(pause * 2, 30000); }
    }
  })();
})();
