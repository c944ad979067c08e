// What the pages do with a script: the viewer's time zone, keys, dark and light, live numbers. They work without it.
"use strict";

(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const store = {
    get(name) { try { return localStorage.getItem(`feedback-${name}`); } catch { return null; } },
    set(name, value) { try { localStorage.setItem(`feedback-${name}`, value); } catch { /* no storage: not remembered */ } },
  };

  // Before the page is drawn, so that it does not flash.
  const wanted = store.get("theme");
  if (wanted === "dark" || wanted === "light") root.dataset.theme = wanted;
  root.dataset.scripted = "";

  function toggleTheme() {
    const dark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.dataset.theme = dark ? "light" : "dark";
    store.set("theme", root.dataset.theme);
  }

  // -- times in the viewer's zone, UTC on hover

  const two = (number) => String(number).padStart(2, "0");
  const clock = (at) => `${two(at.getHours())}:${two(at.getMinutes())}`;
  const day = (at) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;

  function showTimes(within) {
    for (const node of all("time[datetime]", within)) {
      const at = new Date(node.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      if (node.dataset.short === "hour") node.textContent = clock(at);
      else if (node.dataset.short === "day") node.textContent = at.toLocaleDateString("en-GB", { day: "2-digit", month: "short" });
      else if ("time" in node.dataset) node.textContent = `${day(at)} ${clock(at)}:${two(at.getSeconds())}`;
    }
  }

  // -- rows

  const rows = () => all("main [data-row]").filter((row) => row.offsetParent !== null);

  function go(href) {
    const target = new URL(href, location.href);
    if (target.origin === location.origin) location.assign(target);
  }

  function step(by) {
    const list = rows();
    if (!list.length) return;
    const now = list.findIndex((row) => row.classList.contains("here"));
    const next = list[now < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, now + by))];
    if (now >= 0) list[now].classList.remove("here");
    next.classList.add("here");
    next.scrollIntoView({ block: "nearest" });
    next.querySelector("a")?.focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    const row = event.target.closest?.("[data-row][data-href]");
    if (!row || event.target.closest("a, button, summary, input, select, textarea, label") || String(getSelection())) return;
    if (event.ctrlKey || event.metaKey) window.open(new URL(row.dataset.href, location.href), "_blank", "noopener");
    else go(row.dataset.href);
  });

  // -- the filter, folded on a phone

  function fold(form, open) {
    form.classList.toggle("unfolded", open);
    form.querySelector(".fold").setAttribute("aria-expanded", String(open));
  }

  document.addEventListener("click", (event) => {
    const form = event.target.closest?.(".fold")?.form;
    if (form) fold(form, !form.classList.contains("unfolded"));
  });

  function search() {
    const field = document.querySelector("main [data-search]");
    if (!field) return;
    fold(field.form, true);
    field.focus();
  }

  // -- the page's numbers, again every few seconds

  const EVERY_MS = 5000;
  let timer = 0;
  let asking = false;

  function busy() {
    const field = document.activeElement?.closest("main input, main select, main textarea");
    return document.hidden || asking || field || document.querySelector("dialog[open]") || String(getSelection());
  }

  async function refresh() {
    if (busy()) return;
    asking = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store", credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
      const old = document.querySelector("main");
      asking = false;
      if (!fresh || !timer || busy()) return;
      keepPlace(old, fresh);
      showTimes(fresh);
      old.replaceWith(document.adoptNode(fresh));
      addCopyButtons();
      said("Live", "");
    } catch (error) {
      said("Waiting", `The server does not answer (${error.message})`);
    } finally {
      asking = false;
    }
  }

  function keepPlace(old, fresh) {
    const folded = all("details", fresh);
    all("details", old).forEach((node, place) => { if (folded[place]) folded[place].open = node.open; });
    const form = fresh.querySelector(".filter");
    if (form && old.querySelector(".filter.unfolded")) fold(form, true);
    const here = old.querySelector("[data-row].here");
    const again = here?.dataset.href && all("[data-row]", fresh).find((row) => row.dataset.href === here.dataset.href);
    if (again) again.classList.add("here");
  }

  function said(text, title) {
    const button = document.getElementById("live");
    button.lastChild.textContent = text;
    if (title) button.title = title;
  }

  function setLive(on) {
    clearInterval(timer);
    timer = on ? setInterval(refresh, EVERY_MS) : 0;
    document.getElementById("live").setAttribute("aria-pressed", String(on));
    said("Live", "Load the page's numbers again every few seconds");
    store.set("live", on ? "on" : "off");
    if (on) refresh();
  }

  // -- keys

  let goingSince = 0;

  const keys = {
    "/": search,
    "?": () => document.getElementById("help").showModal(),
    j: () => step(1),
    k: () => step(-1),
    r: () => setLive(!timer),
    d: toggleTheme,
    g: () => { goingSince = Date.now(); },
    Enter: () => { const row = document.querySelector("[data-row].here"); if (row?.dataset.href) go(row.dataset.href); },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const inField = event.target.closest?.("input, select, textarea, [contenteditable]");
    if (event.key === "Escape" && inField) inField.blur();
    if (inField || document.querySelector("dialog[open]")) return;
    if (Date.now() - goingSince < 1500) {
      goingSince = 0;
      const link = document.querySelector(`.top nav [data-key="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); return; }
    }
    if (event.key === "Enter" && event.target.closest?.("a, button, summary")) return;
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (act) { event.preventDefault(); act(); }
  });

  // -- small help

  function addCopyButtons() {
    for (const block of all("main .json[data-text]")) {
      if (!navigator.clipboard || !block.dataset.text || block.querySelector(".copy")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(block.dataset.text);
        button.textContent = "Copied";
      });
      block.prepend(button);
    }
  }

  document.addEventListener("submit", (event) => {
    // Addresses hold only what was chosen, so that they can be read and shared.
    if (event.target.method !== "get") return;
    for (const field of all("input[name], select[name]", event.target)) if (field.value === "") field.disabled = true;
  });
  addEventListener("pageshow", () => all("form input:disabled, form select:disabled").forEach((field) => { field.disabled = false; }));

  document.addEventListener("DOMContentLoaded", () => {
    all("[data-script]").forEach((node) => { node.hidden = false; });
    all("[data-zone]").forEach((node) => { node.textContent = `your zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}; point at one for UTC`; });
    showTimes(document);
    addCopyButtons();
    document.getElementById("theme").addEventListener("click", toggleTheme);
    document.getElementById("live").addEventListener("click", () => setLive(!timer));
    document.getElementById("keys").addEventListener("click", keys["?"]);
    if (store.get("live") === "on") setLive(true);
  });
})();
