/* Keeps the heads of tables in view while the page scrolls. */
"use strict";

(() => {
  const boxes = [...document.querySelectorAll(".scroll:has(> .listing)")];

  // CSS alone keeps the head of a table that fits the page, but not of one that scrolls sideways
  function placeHead(box) {
    const head = box.querySelector("thead");
    const isWide = box.scrollWidth > box.clientWidth;
    box.classList.toggle("fits", !isWide);
    const lastRow = box.querySelector("tbody tr:last-child");
    const room = box.clientHeight - head.offsetHeight - (lastRow?.offsetHeight ?? 0);
    const shift = isWide ? Math.max(0, Math.min(room, -box.getBoundingClientRect().top)) : 0;
    head.style.transform = shift ? `translateY(${shift}px)` : "";
  }

  const place = () => boxes.forEach(placeHead);
  place();
  window.addEventListener("scroll", place, { passive: true });
  window.addEventListener("resize", place);
})();
