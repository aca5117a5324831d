/* The Curate page: when a rule changes, asks for the page again and takes over what the rules choose. */
"use strict";

(() => {
  const PAUSE_MS = 250; // a slider that moves sends many changes
  const WAIT_MS = 1000;
  const form = document.querySelector("form[data-follow]");
  let timer = 0;
  let asking = null;

  // fields with their defaults are left out of the address, so that links stay short
  function address() {
    const values = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      const field = form.elements[name];
      if (value !== "" && value !== field.dataset?.default) values.append(name, value);
    }
    return `${form.getAttribute("action")}?${values}`;
  }

  const selection = () => document.getElementById(form.dataset.follow);

  function say(text) {
    const note = document.createElement("p");
    Object.assign(note, { className: "problem", textContent: text });
    note.setAttribute("role", "alert");
    selection().querySelector(":scope > .problem")?.remove();
    selection().prepend(note);
  }

  async function fetchSelection(target, signal) {
    const response = await fetch(target, { signal });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById(form.dataset.follow);
    if (!fresh) throw new Error(page.querySelector("main .message")?.textContent ?? `status ${response.status}`);
    return fresh;
  }

  async function ask() {
    asking?.abort();
    const mine = (asking = new AbortController());
    const target = address();
    selection().setAttribute("aria-busy", "true");
    try {
      const fresh = await fetchSelection(target, mine.signal);
      if (mine !== asking) return;
      selection().replaceWith(document.adoptNode(fresh));
      history.replaceState(null, "", target);
      show();
    } catch (error) {
      if (mine !== asking) return;
      selection().removeAttribute("aria-busy");
      say(`The counts could not be updated: ${error.message}`);
    }
  }

  function later(pause) {
    clearTimeout(timer);
    timer = setTimeout(ask, pause);
  }

  function show() {
    for (const button of navigator.clipboard ? selection().querySelectorAll("[data-copy]") : []) button.hidden = false;
    if ("waiting" in selection().dataset) later(WAIT_MS);
  }

  async function copy(button) {
    const label = button.textContent;
    button.textContent = await navigator.clipboard.writeText(button.dataset.copy).then(() => "Copied", () => "Not allowed");
    setTimeout(() => (button.textContent = label), 1500);
  }

  function wireSliders() {
    for (const slider of form.querySelectorAll("[data-slider]")) {
      const field = form.elements[slider.dataset.slider];
      slider.hidden = false;
      slider.addEventListener("input", () => (field.value = slider.value));
      field.addEventListener("input", () => (slider.value = field.value));
      window.addEventListener("pageshow", () => (slider.value = field.value));
    }
  }

  // whether a rule differs from what the server sent
  function isChanged() {
    const sent = form.cloneNode(true);
    sent.reset();
    const text = (one) => String(new URLSearchParams(new FormData(one)));
    return text(form) !== text(sent);
  }

  if (!form) return;
  wireSliders();
  form.querySelector("[data-apply]").hidden = true;
  form.addEventListener("input", () => later(PAUSE_MS));
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (button) copy(button);
  });
  show();
  if (isChanged()) later(0); // before anything listened
})();
