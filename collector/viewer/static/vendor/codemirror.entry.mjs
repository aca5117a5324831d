// The parts of CodeMirror that sql-editor.js uses. README.md says how to build codemirror.min.js from this file.
export { acceptCompletion, autocompletion, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { sql, SQLDialect } from "@codemirror/lang-sql";
export { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
export { drawSelection, EditorView, keymap } from "@codemirror/view";
export { tags } from "@lezer/highlight";
