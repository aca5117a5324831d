/* The behaviour of the pages: keys, forms, updates of a running run, texts on demand, copy buttons. */
"use strict";

(() => {
  const LIVE_MS = 3000;
  const SLOWEST_MS = 30000;
  const SHOWN_BYTES = 1_000_000;
  const POSITION_KEY = "spotter.kept";
  const FOLDED = "details.fold, details.reasoning";
  // as in text.py: control characters, halves of surrogate pairs, characters that change the direction of text
  const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu;

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);

  function element(tag, properties, ...children) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  }

  // --- keys --------------------------------------------------------------------------------------

  function isTyping(target) {
    const isButton = target.matches?.("input[type=checkbox], input[type=submit], input[type=button]");
    return !isButton && Boolean(target.closest?.("input, textarea, select, [contenteditable], [data-typing]"));
  }

  function click(selector) {
    const target = one(selector);
    target?.click();
    return Boolean(target);
  }

  function focusSearch() {
    const field = one('[data-key="/"]');
    field?.focus();
    field?.select?.();
    return Boolean(field);
  }

  function toggleFolds() {
    const folds = all(FOLDED);
    const isOpening = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = isOpening;
    return folds.length > 0;
  }

  function goUp() {
    const links = all('.crumbs a[href^="/"]');
    return click('[data-key="u"]') || (links.at(-1)?.click(), links.length > 0);
  }

  function showKeys() {
    const dialog = one("#keys");
    dialog?.showModal();
    return Boolean(dialog);
  }

  const KEYS = {
    n: () => click("a[rel=next]"),
    p: () => click("a[rel=prev]"),
    "]": () => click('[data-key="]"]'),
    "[": () => click('[data-key="["]'),
    t: () => click('[data-key="t"]'),
    c: () => click('[data-key="c"]'),
    u: goUp,
    "/": focusSearch,
    e: toggleFolds,
    "?": showKeys,
  };
  const ARROWS = { ArrowRight: KEYS.n, ArrowLeft: KEYS.p };

  // arrow keys scroll an element that scrolls sideways, if it has the focus
  function action(event) {
    if (Object.hasOwn(KEYS, event.key)) return KEYS[event.key];
    return event.shiftKey || event.target.closest?.(".scroll, pre, canvas") ? undefined : ARROWS[event.key];
  }

  function handleKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || one("dialog[open]")) return;
    if (action(event)?.()) event.preventDefault();
  }

  function submitOnCtrlEnter(event) {
    const isCtrlEnter = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    const form = isCtrlEnter && event.target.closest?.("textarea")?.form;
    if (!form) return;
    event.preventDefault();
    form.requestSubmit();
  }

  // --- forms -------------------------------------------------------------------------------------

  // empty fields are left out of the address, so that links stay short
  function disableEmptyFields(form) {
    for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
  }

  function enableFields(form) {
    for (const field of form.elements) field.disabled = false;
  }

  function wireForms() {
    for (const field of all("[data-submit]")) field.addEventListener("change", () => field.form.requestSubmit());
    for (const form of all("form#filters")) {
      form.addEventListener("submit", () => disableEmptyFields(form));
      window.addEventListener("pageshow", () => enableFields(form));
    }
  }

  function wireCompare() {
    const button = one("[data-compare]");
    const boxes = button ? all("input[type=checkbox]").filter((box) => box.form === button.form) : [];
    let chosen = [];
    const update = () => {
      button.disabled = chosen.length !== 2;
      button.title = button.disabled ? "Select two runs first" : "";
    };
    const choose = (box) => {
      chosen = chosen.filter((other) => other !== box);
      if (box.checked) chosen.push(box);
      if (chosen.length > 2) chosen.shift().checked = false;
      update();
    };
    if (!button) return;
    for (const box of boxes) box.addEventListener("change", () => choose(box));
    window.addEventListener("pageshow", () => {
      chosen = boxes.filter((box) => box.checked);
      update();
    });
  }

  // --- a run that is still being collected -------------------------------------------------------

  function savePosition(value) {
    try {
      sessionStorage.setItem(POSITION_KEY, JSON.stringify(value));
    } catch {
      /* without storage, the page starts at the top */
    }
  }

  function takePosition() {
    try {
      const value = JSON.parse(sessionStorage.getItem(POSITION_KEY));
      sessionStorage.removeItem(POSITION_KEY);
      return value?.address === location.href ? value : null;
    } catch {
      return null;
    }
  }

  function reload(isLast) {
    const open = all("details").flatMap((details, index) => (details.open ? [index] : []));
    savePosition({ address: location.href, top: scrollY, open, isLast });
    location.reload();
  }

  function restorePosition(value) {
    const details = all("details");
    for (const index of value?.open ?? []) if (details[index]) details[index].open = true;
    if (value) scrollTo(0, value.top);
  }

  // do not reload the page while the user types, selects text or has a dialog open
  function isBusy() {
    const isSelected = String(getSelection() ?? "") !== "";
    return isSelected || isTyping(document.activeElement ?? document.body) || Boolean(one("dialog[open]"));
  }

  async function fetchJson(address) {
    const response = await fetch(address, { headers: { accept: "application/json" }, cache: "no-store" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  }

  function follow(section, wasLast) {
    const status = element("span", { className: "live-status", role: "status" });
    (one(".banner.provisional", section) ?? section).append(" ", status);
    let pause = LIVE_MS;
    const look = async () => {
      try {
        const now = document.hidden ? null : await fetchJson(section.dataset.live);
        const isOver = now && !now.is_running;
        if (isOver && wasLast) return;
        const isNew = now && (isOver || now.profiled_at !== section.dataset.version);
        if (isNew && !isBusy()) return reload(isOver);
        status.textContent = isNew ? "Newer figures are available." : "";
        pause = LIVE_MS;
      } catch {
        status.textContent = "The viewer is not reachable. Trying again.";
        pause = Math.min(SLOWEST_MS, pause * 2);
      }
      setTimeout(look, pause);
    };
    setTimeout(look, pause);
  }

  // --- texts on demand ---------------------------------------------------------------------------

  const showHidden = (text) => text.replace(HIDDEN, (char) => `<U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);

  async function readStart(response, limit) {
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (let size = 0; size < limit; ) {
      const { done, value } = await reader.read();
      if (done) return { text: text + decoder.decode(), isCut: false };
      size += value.length;
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
    return { text: text.slice(0, limit), isCut: true };
  }

  async function load(details) {
    const address = details.dataset.src;
    const status = element("p", { className: "note", role: "status", textContent: "Loading …" });
    details.append(status);
    try {
      const response = await fetch(address);
      if (!response.ok) throw new Error(`status ${response.status}`);
      const { text, isCut } = await readStart(response, SHOWN_BYTES);
      details.append(element("pre", { tabIndex: 0, className: "raw" }, showHidden(text)));
      if (!isCut) return status.remove();
      status.replaceChildren("This is the beginning: ", element("a", { href: address, textContent: "open all of it" }), ".");
    } catch (error) {
      status.textContent = `Loading failed (${error.message}). Close this and open it again to retry.`;
      details.addEventListener("toggle", () => details.open && (status.remove(), load(details)), { once: true });
    }
  }

  function wireTexts() {
    for (const details of all("details[data-src]")) {
      const isFirst = () => details.open && !details.dataset.loaded && (details.dataset.loaded = "yes");
      const look = () => isFirst() && load(details);
      details.addEventListener("toggle", look);
      look();
    }
  }

  // --- copy buttons ------------------------------------------------------------------------------

  function copyButton(label, text) {
    const button = element("button", { type: "button", className: "copy", textContent: label });
    wireCopy(button, text);
    return button;
  }

  function wireCopy(button, text) {
    const label = button.textContent;
    button.addEventListener("click", async () => {
      button.textContent = await navigator.clipboard.writeText(text()).then(() => "Copied", () => "Not allowed");
      setTimeout(() => (button.textContent = label), 1500);
    });
  }

  function wireCopies() {
    if (!navigator.clipboard) return;
    for (const pre of all("details.query > pre")) {
      const row = pre.nextElementSibling ?? pre.parentElement;
      row.append(copyButton("Copy", () => pre.textContent));
    }
    for (const button of all("[data-copy-link]")) {
      button.hidden = false;
      wireCopy(button, () => location.href);
    }
  }

  // --- start -------------------------------------------------------------------------------------

  // a link to a folded part or to something inside it opens the part
  function openTarget() {
    const target = one(":target");
    const within = target ? one(":scope > details.whole", target) : null;
    for (let fold = within ?? target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target?.closest("details")) target.scrollIntoView();
  }

  function wireDialogs() {
    for (const button of all("[data-open]")) {
      button.hidden = false;
      button.addEventListener("click", () => document.getElementById(button.dataset.open).showModal());
    }
  }

  const before = takePosition();
  restorePosition(before);
  document.addEventListener("keydown", submitOnCtrlEnter);
  document.addEventListener("keydown", handleKey);
  for (const wire of [wireDialogs, wireForms, wireCompare, wireTexts, wireCopies, openTarget]) wire();
  for (const section of all("[data-live]")) follow(section, Boolean(before?.isLast));
  window.addEventListener("hashchange", openTarget);
})();
