"""Write comparisons as Markdown, for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from collector.comparing.blocks import MEASURES, amount
from collector.comparing.gate import GateReport
from collector.comparing.gate_blocks import SENTENCES, judgement_text, waiver_text
from collector.comparing.leaderboard import leaderboards
from collector.comparing.request import ComparisonResult
from collector.comparing.results import FALLS, RISES, Comparison
from collector.comparing.trajectories import KINDS, MEANINGS
from collector.comparing.wording import (
    SCORE_NAMES,
    explanations,
    figure,
    interval_of,
    interval_text,
    p_text,
    p_value_of,
    percent,
    verdict_sentence,
)
from collector.terminal import label, printable

SHOWN_TASKS = 20
SHOWN_SLICES = 50
ICONS = {
    "better": "✅",
    "worse": "❌",
    "equivalent": "🟰",
    "inconclusive": "❔",
    "not comparable": "⛔",
    "pass": "✅",
    "fail": "❌",
}
SPECIAL = re.compile(r"([\\`*_\[\]|~$#]|^[-+=])")
# GitHub looks for mentions, issues and addresses in the text that it shows: a space without width
# in them is all that helps
LINKS = re.compile(r"(@|#|\bwww|:(?=//))")


def escape(text: str) -> str:
    """Return a text that Markdown shows as it is: no markup, links, mentions or HTML."""
    plain = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return LINKS.sub(r"\1&#8203;", SPECIAL.sub(r"\\\1", plain))


def as_markdown(result: ComparisonResult, gate: GateReport | None, order_label: str | None) -> str:
    """Return the verdicts, the tables and the gate as Markdown."""
    lines: list[str] = []
    if gate:
        lines += _gate_lines(gate)
    if len(result.run_ids) > 2:
        lines += _board_lines(result)
    else:
        for comparison in result.comparisons:
            lines += _comparison_lines(comparison)
    if order_label:
        counts = result.trajectories.counts
        lines += [f"#### Over {escape(label(order_label))}", ""]
        rows = [
            [kind.replace("_", " "), f"{counts.get(kind, 0):,}", MEANINGS[kind]] for kind in KINDS
        ]
        lines += _table(("", "tasks", ""), rows)
    return "\n".join(lines).rstrip()


def _comparison_lines(comparison: Comparison) -> Iterator[str]:
    verdict = comparison.primary["verdict"]
    yield f"### {ICONS[verdict]} {verdict.capitalize()}"
    yield ""
    yield escape(verdict_sentence(comparison))
    for text in explanations(comparison):
        yield ""
        yield escape(text)
    yield ""
    yield from _second_verdict_lines(comparison)
    yield from _setting_lines(comparison)
    yield from _score_lines(comparison)
    yield from _task_lines(comparison)
    yield from _slice_lines(comparison)
    if not comparison.second_verdicts:
        yield from _effort_lines(comparison)


def _second_verdict_lines(comparison: Comparison) -> Iterator[str]:
    second = comparison.second_verdicts
    rows = [
        [
            f"{row['task_index']}:{row['rollout_index']}",
            row["change"],
            figure(row["baseline_reward"]),
            figure(row["reward"]),
        ]
        for row in (second.changes[:SHOWN_TASKS] if second else [])
    ]
    if rows:
        yield from _table(("rollout to look at", "change", "before", "now"), rows)


def _setting_lines(comparison: Comparison) -> Iterator[str]:
    rows = [
        [escape(label(text, 80)) for text in (one.name, one.baseline, one.candidate)]
        for one in comparison.setting_differences
    ]
    if rows:
        yield from _table(("setting that differs", *_names(comparison)), rows)


def _score_lines(comparison: Comparison) -> Iterator[str]:
    rows = [
        [
            SCORE_NAMES[row["score"]],
            figure(row["baseline_value"]),
            figure(row["value"]),
            f"**{figure(row['difference'], is_signed=True)}**",
            interval_text(row["low"], row["high"]),
            escape(p_text(row["p_value"])),
            interval_text(row["fixed_low"], row["fixed_high"]),
            row["verdict"],
        ]
        for row in comparison.overall()
    ]
    if rows:
        heads = ("", *_names(comparison), "difference", "tasks like these", "p")
        yield from _table((*heads, "these tasks again", "verdict"), rows)


def _task_lines(comparison: Comparison) -> Iterator[str]:
    for title, kinds in (("pass less often", FALLS), ("pass more often", RISES)):
        count = sum(comparison.changes.get(kind, 0) for kind in kinds)
        rows = [
            [
                f"{row['task_index']}",
                row["change"],
                percent(row["baseline_pass_ratio"]),
                percent(row["pass_ratio"]),
                percent(row["moved_chance"]),
            ]
            for row in comparison.tasks_with(kinds)[:SHOWN_TASKS]
        ]
        if rows and not comparison.is_same_run:
            yield f"<details><summary>{count:,} tasks {title}</summary>"
            yield ""
            heads = ("task", "change", "passes before", "passes now", "chance that it moved")
            yield from _table(heads, rows)
            yield "</details>"
            yield ""


def _slice_lines(comparison: Comparison) -> Iterator[str]:
    rows = [
        [
            escape(f"{label(row['slice_by'], 40)} = {label(row['slice_value'], 60)}"),
            figure(row["baseline_value"]),
            figure(row["value"]),
            f"**{figure(row['difference'], is_signed=True)}**",
            interval_text(*interval_of(row)),
            escape(p_text(p_value_of(row))),
            escape(p_text(row["p_value_holm"])),
            row["verdict"],
        ]
        for row in comparison.slices()[:SHOWN_SLICES]
    ]
    if rows:
        heads = ("slice", *_names(comparison), "difference", "interval", "p", "p by Holm")
        yield from _table((*heads, "verdict"), rows)


def _effort_lines(comparison: Comparison) -> Iterator[str]:
    rows = [
        [
            f"{MEASURES[row['measure']]} per {row['unit']}",
            amount(row["baseline_value"], row["measure"]),
            amount(row["value"], row["measure"]),
            f"× {figure(row['ratio'])}",
            interval_text(row["ratio_low"], row["ratio_high"]),
        ]
        for row in comparison.efforts
    ]
    if rows:
        yield from _table(("effort", *_names(comparison), "ratio", "interval"), rows)


def _board_lines(result: ComparisonResult) -> Iterator[str]:
    score = SCORE_NAMES[result.comparisons[0].score]
    for standings in leaderboards(result.comparisons):
        rows = [
            [
                f"{place}",
                escape(label(one.name)),
                figure(one.value),
                interval_text(one.score["low"], one.score["high"]) if one.score else "–",
                one.letters,
            ]
            for place, one in enumerate(standings, start=1)
        ]
        yield from _table(("", "run", score, "95 % interval", "letters"), rows)
    yield "Runs that share a letter cannot be told apart by these tasks."
    yield ""
    for comparison in result.comparisons:
        icon = ICONS[comparison.primary["verdict"]]
        yield f"- {icon} {escape(verdict_sentence(comparison))}"
    yield ""


def _gate_lines(gate: GateReport) -> Iterator[str]:
    yield f"### {ICONS[gate.judgement]} {SENTENCES[gate.judgement]}"
    yield ""
    rows = [
        [
            f"{ICONS[check.judgement]} {judgement_text(check)}",
            check.tier,
            escape(label(check.rule)),
            escape(f"{check.reason}{waiver_text(check)}"),
        ]
        for check in gate.checks
    ]
    yield from _table(("judgement", "tier", "rule", "why"), rows)


def _names(comparison: Comparison) -> tuple[str, str]:
    return escape(label(comparison.baseline.name, 40)), escape(label(comparison.candidate.name, 40))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(cells)} |"
    yield ""
