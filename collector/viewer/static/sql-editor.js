/* Turns the field of the SQL page into an editor with colours and completion. */
"use strict";

(() => {
  const field = document.getElementById("query");
  const cm = window.codeMirror;
  if (!field || !cm) return;

  // --- what can be completed -----------------------------------------------------------------------

  const KEYWORDS = "all and anti any as asc asof between by case cast columns cross current describe desc distinct else end escape except " +
    "exclude exists false filter first following from full group having ilike in inner intersect interval is join last lateral left like " +
    "limit natural not null nulls offset on or order outer over partition pivot positional preceding qualify range recursive replace right " +
    "rows sample select semi show similar summarize table then to true unbounded union unpivot using values when where window with within";
  const TYPES = "bigint blob boolean date decimal double float hugeint integer interval json smallint text time timestamp tinyint uuid varchar";
  const FUNCTIONS = [
    "abs", "any_value", "approx_quantile", "arg_max", "arg_min", "avg", "bool_and", "bool_or", "ceil", "coalesce", "concat",
    "contains", "corr", "count", "date_diff", "date_trunc", "floor", "greatest", "histogram", "ilike", "json_extract",
    "json_extract_string", "least", "left", "len", "length", "list", "list_contains", "ln", "lower", "mad", "max", "median", "min",
    "mode", "nullif", "quantile_cont", "rank", "regexp_extract", "regexp_matches", "replace", "right", "round", "row_number",
    "starts_with", "stddev_samp", "string_agg", "string_split", "substring", "sum", "trim", "try_cast", "unnest", "upper", "var_samp",
  ];
  const functions = FUNCTIONS.map((name) => ({ label: name, type: "function", apply: name + "(", boost: -1 }));

  // the page lists the tables with their columns anyway
  function readSchema() {
    const text = (cell) => cell.textContent.trim();
    const columnOf = (row) => {
      const [name, type, meaning] = [...row.children].map(text);
      return { label: name, type: "property", detail: type, info: meaning };
    };
    const marts = [...document.querySelectorAll("details.mart")].map((mart) => {
      const name = text(mart.querySelector("summary code"));
      const info = text(mart.querySelector("summary")).slice(name.length).trim();
      return [name, { self: { label: name, type: "class", info }, children: [...mart.querySelectorAll("tbody tr")].map(columnOf) }];
    });
    return Object.fromEntries(marts);
  }

  const schema = readSchema();

  // columns of the tables that the query names; those after "table." come from CodeMirror
  function completeColumns(context) {
    const word = context.matchBefore(/\w+/);
    const from = word ? word.from : context.pos;
    const isQualified = context.state.sliceDoc(Math.max(0, from - 1), from) === ".";
    if (isQualified || (!word && !context.explicit)) return null;
    const words = new Set(context.state.doc.toString().match(/\w+/g));
    const named = Object.entries(schema).filter(([name]) => words.has(name));
    const columns = new Map(named.flatMap(([, mart]) => mart.children.map((one) => [one.label, { ...one, boost: 1 }])));
    return { from, options: [...columns.values(), ...functions], validFor: /^\w*$/ };
  }

  // --- looks: the variables of the page, so that the editor follows the theme ------------------------

  const theme = cm.EditorView.theme({
    "&": { border: "1px solid var(--border-strong)", borderRadius: "6px", backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "12.5px" },
    "&.cm-focused": { outline: "2px solid var(--accent)" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", maxHeight: "60vh" },
    ".cm-content": { minHeight: "8rem", padding: "6px 0", caretColor: "var(--text)" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--accent-soft)" },
    "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--mark)" },
    ".cm-tooltip": { border: "1px solid var(--border-strong)", borderRadius: "6px", backgroundColor: "var(--surface)", color: "var(--text)" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "min(36rem, 90vw)" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
    ".cm-tooltip.cm-completionInfo": { maxWidth: "22rem", padding: "6px 10px", fontFamily: "var(--sans)" },
    ".cm-completionDetail": { marginLeft: "1em", fontStyle: "normal", opacity: "0.75" },
    ".cm-completionMatchedText": { fontWeight: "700", textDecoration: "none" },
  });

  const { tags } = cm;
  const colours = cm.HighlightStyle.define([
    { tag: tags.keyword, color: "var(--series-4)", fontWeight: "600" },
    { tag: [tags.string, tags.special(tags.string)], color: "var(--pass)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--series-2)" },
    { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--series-1)" },
    { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  ]);

  // --- the editor ------------------------------------------------------------------------------------

  function run() {
    field.form.requestSubmit();
    return true;
  }

  // the selection of the browser, if it has one here: the editor may not know of it yet
  function selectedRange(view) {
    const { anchorNode, anchorOffset, focusNode, focusOffset } = view.root.getSelection?.() ?? {};
    const { from, to } = view.state.selection.main;
    if (!view.contentDOM.contains(anchorNode ?? null) || !view.contentDOM.contains(focusNode ?? null)) return { from, to };
    const ends = [view.posAtDOM(anchorNode, anchorOffset), view.posAtDOM(focusNode, focusOffset)];
    return { from: Math.min(...ends), to: Math.max(...ends) };
  }

  // a browser that types over coloured text keeps the colour in a style attribute, which the policy forbids
  function replaceSelection(event, view) {
    if (event.inputType !== "insertText" || !event.data) return false;
    const { from, to } = selectedRange(view);
    if (from === to) return false;
    const change = { changes: { from, to, insert: event.data }, selection: { anchor: from + event.data.length } };
    view.dispatch({ ...change, userEvent: "input.type", scrollIntoView: true });
    return true;
  }

  function selectionOf({ selectionStart, selectionEnd, selectionDirection }) {
    const isBackward = selectionDirection === "backward";
    return isBackward ? { anchor: selectionEnd, head: selectionStart } : { anchor: selectionStart, head: selectionEnd };
  }

  function makeEditor(host) {
    const duckdb = cm.SQLDialect.define({ keywords: KEYWORDS, types: TYPES, doubleDollarQuotedStrings: true, slashComments: false });
    // in a shadow root, CodeMirror makes its styles without a style element, which the policy forbids
    const root = host.attachShadow({ mode: "open" });
    return new cm.EditorView({
      doc: field.value,
      selection: selectionOf(field),
      parent: root,
      root,
      extensions: [
        cm.keymap.of([
          { key: "Mod-Enter", run },
          { key: "Tab", run: cm.acceptCompletion },
          ...cm.completionKeymap,
          ...cm.historyKeymap,
          ...cm.defaultKeymap,
        ]),
        cm.history(),
        cm.drawSelection(),
        cm.bracketMatching(),
        cm.EditorView.lineWrapping,
        cm.sql({ dialect: duckdb, schema }),
        duckdb.language.data.of({ autocomplete: completeColumns }),
        cm.autocompletion({ icons: false }),
        cm.syntaxHighlighting(colours),
        theme,
        cm.EditorView.domEventHandlers({ beforeinput: replaceSelection }),
        cm.EditorView.contentAttributes.of({ "aria-label": "Query", autocapitalize: "off" }),
        cm.EditorView.updateListener.of((update) => {
          if (update.docChanged) field.value = update.state.doc.toString();
        }),
      ],
    });
  }

  // somebody may be typing already: the next letter belongs where the last one is, and outside of a field it is a key of the page
  const focused = document.activeElement;
  const isFocusOurs = focused === field || (field.autofocus && (!focused || focused === document.body));
  const host = document.createElement("div");
  host.dataset.typing = "yes"; // keys are letters here
  field.before(host);
  const editor = makeEditor(host);
  const label = field.labels[0];
  label.removeAttribute("for");
  label.addEventListener("click", () => editor.focus());
  field.setAttribute("aria-label", "SQL");
  field.hidden = true;
  if (isFocusOurs) editor.focus();
})();
