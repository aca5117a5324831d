"""`spotter curate`: each rule, the order of the output, the manifest, and what is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.curated_runs import (
    Outcomes,
    annotated_rows,
    curate,
    curated,
    prompts,
    rows_of,
    write_pool,
)
from tests.support import Profiled, Row, read_json, run_profile, write_lines

HALF = [1.0, 0.0] * 8
POOL: dict[str, Outcomes] = {
    "mail one": HALF,
    "mail two": HALF,
    "mail three": [1.0] * 4 + [0.0] * 12,
    "plan one": [1.0] * 12 + [0.0] * 4,
    "plan two": HALF,
    "solved one": [1.0] * 60,
    "hopeless one": [0.0] * 60,
    "flat one": [1.0] * 16,
    "shaped one": [0.25, 0.5] * 8,
    "few one": [1.0, 0.0],
    "masked one": [None, 1.0, None, 0.0],
    "empty one": HALF,
    "cut one": HALF,
}
BOUNDS = "keep: {pass_rate: [0.1, 0.9]}\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """A profiled run with a task for every rule; its warehouse is only read."""
    folder = tmp_path_factory.mktemp("pool")
    run = write_pool(folder, POOL, empty="empty", cut="truncated")
    result = run_profile(run.rollouts, "--slice-by", "category", "--run-id", "pool", cwd=folder)
    assert result.returncode == 0, result.stderr
    return run


@pytest.fixture
def folder(pool: Profiled) -> Path:
    return pool.rollouts.parent


@pytest.mark.parametrize(
    ("recipe", "reason", "dropped"),
    [
        ("drop: [masked]", "masked", ["masked one"]),
        ("drop: [unhealthy]", "unhealthy", ["empty one"]),
        ("drop: [truncated]", "truncated", ["cut one"]),
        (
            "drop: [zero_variance]\noutcome: reward",
            "zero_variance",
            ["solved one", "hopeless one", "flat one"],
        ),
        (
            "drop: [zero_variance]",
            "zero_variance",
            ["solved one", "hopeless one", "flat one", "shaped one"],
        ),
        (BOUNDS + "undecided: keep", "too_easy", ["solved one"]),
        (BOUNDS + "undecided: keep", "too_hard", ["hopeless one"]),
        (
            BOUNDS + "undecided: drop",
            "undecided",
            ["flat one", "shaped one", "few one", "masked one"],
        ),
        (
            "keep: {pass_rate: [0.1, 0.9], decided_on: point}",
            "too_hard",
            ["hopeless one", "shaped one"],
        ),
        (
            "keep: {pass_rate: [0.1, 0.9], decided_on: point}",
            "too_easy",
            ["solved one", "flat one"],
        ),
        ("per_slice: {by: category, at_most: 2}", "slice_limit", None),
        ("at_most: 10", "limit", None),
    ],
)
def test_a_rule_drops_its_tasks(
    folder: Path, recipe: str, reason: str, dropped: list[str] | None
) -> None:
    manifest = curated("pool", recipe, cwd=folder)
    left = set(POOL) - set(prompts(folder / "train.jsonl"))
    expected = 1 if dropped is None else len(dropped)
    if reason == "limit":
        expected = 3
    assert manifest["counts"]["drop"][reason] == expected
    assert sum(manifest["counts"]["drop"].values()) == len(left)
    assert left >= set(dropped or ())
    assert manifest["counts"]["chosen"] == len(POOL) - len(left)


def test_tasks_that_are_chosen_only_because_undecided_are_counted(folder: Path) -> None:
    open_tasks = {"flat one", "shaped one", "few one", "masked one"}
    manifest = curated("pool", BOUNDS, cwd=folder)
    assert open_tasks < set(prompts(folder / "train.jsonl"))
    assert manifest["counts"]["chosen_undecided"] == len(open_tasks)
    assert (
        curated("pool", BOUNDS + "undecided: drop", cwd=folder)["counts"]["chosen_undecided"] == 0
    )
    (folder / "recipe.yml").write_text(BOUNDS, encoding="utf-8")
    words = ("pool", "--recipe", "recipe.yml", "-o", "train.jsonl", "--overwrite")
    done = curate(*words, cwd=folder)
    assert "of 11 chosen tasks, 4 are in only because undecided" in done.stderr


def test_the_rows_are_the_inputs_byte_for_byte_without_the_keys(pool: Profiled) -> None:
    folder = pool.rollouts.parent
    text = b'{"agent_ref": {"name": "agent_a"},  "note":"caf\\u00e9 \xc3\xa9", "n": 1.50e3%s}'
    keys = b', "_ng_task_index": %d, "_ng_rollout_index": %d'
    odd = folder / "odd"
    odd.mkdir(exist_ok=True)
    first = b'{"_ng_task_index": 0, "x": {"_ng_task_index": 7} , "_ng_rollout_index":%d, "y" : 2}'
    write_lines(
        odd / "run_materialized_inputs.jsonl",
        [
            *(first % index for index in range(2)),
            *(text % (keys % (1, index)) for index in range(2)),
        ],
    )
    write_lines(
        odd / "run.jsonl",
        [
            {
                "reward": 1.0,
                "_ng_task_index": task,
                "_ng_rollout_index": index,
                "agent_ref": {"name": "agent_a"},
            }
            for task in range(2)
            for index in range(2)
        ],
    )
    curated("run.jsonl", "", cwd=odd)
    assert (odd / "train.jsonl").read_bytes() == (
        b'{"x": {"_ng_task_index": 7} , "y" : 2}\n' + text % b"" + b"\n"
    )


def test_the_same_recipe_gives_the_same_bytes_and_another_seed_others(folder: Path) -> None:
    recipe = "order: random\nat_most: 8\nseed: {}"
    first = curated("pool", recipe.format(1), cwd=folder)
    text = (folder / "train.jsonl").read_bytes()
    assert first["output"]["sha256"] == hashlib.sha256(text).hexdigest()
    assert curated("pool", recipe.format(1), cwd=folder) == first
    assert (folder / "train.jsonl").read_bytes() == text
    curated("pool", recipe.format(2), cwd=folder)
    assert (folder / "train.jsonl").read_bytes() != text


def test_tasks_are_ordered_by_their_pass_rate(folder: Path) -> None:
    curated("pool", "order: easy_to_hard", cwd=folder)
    easy_first = prompts(folder / "train.jsonl")
    assert set(easy_first[:2]) == {"solved one", "flat one"}
    assert set(easy_first[-2:]) == {"hopeless one", "shaped one"}
    curated("pool", "order: hard_to_easy", cwd=folder)
    assert set(prompts(folder / "train.jsonl")[:2]) == {"hopeless one", "shaped one"}
    curated("pool", "order: as_input", cwd=folder)
    assert prompts(folder / "train.jsonl") == list(POOL)


def test_a_curriculum_moves_from_easy_to_hard_in_full_steps(tmp_path: Path) -> None:
    tasks = {f"task {n}": [1.0] * (n % 9) + [0.0] * (8 - n % 9) for n in range(180)}
    write_pool(tmp_path, tasks)
    recipe = "curriculum: {steps: 6, prompts_per_step: 20, std: 0.1}"
    manifest = curated("pool.jsonl", recipe, "--annotate", cwd=tmp_path)
    rows = annotated_rows(tmp_path / "train.jsonl")
    assert manifest["counts"]["chosen"] == len(rows) == 120
    means = [sum(row["pass_rate"] for row in rows if row["step"] == step) / 20 for step in range(6)]
    assert means == sorted(means, reverse=True)
    assert means[0] == pytest.approx(0.75, abs=0.08)
    assert means[-1] == pytest.approx(0.25, abs=0.08)


def test_a_curriculum_has_no_more_steps_than_tasks(tmp_path: Path) -> None:
    write_pool(tmp_path, {f"task {n}": [1.0] * n + [0.0] * (8 - n) for n in range(9)})
    recipe = "curriculum: {steps: 1000000, prompts_per_step: 1000000}"
    curated("pool.jsonl", recipe, "--annotate", "--memory-limit", "200MB", cwd=tmp_path)
    assert [row["step"] for row in annotated_rows(tmp_path / "train.jsonl")] == list(range(9))


def test_a_target_gives_the_distribution_that_it_names(tmp_path: Path) -> None:
    tasks = {f"task {n}": [1.0] * (n % 9) + [0.0] * (8 - n % 9) for n in range(900)}
    write_pool(tmp_path, tasks)
    recipe = "target: {distribution: gaussian, mean: 0.5, std: 0.2}\nat_most: 300"
    after = curated("pool.jsonl", recipe, cwd=tmp_path)["histograms"]["after"]
    # eight rollouts have pass rates of 0, 1/8 … 1; their weights are exp(-((p - 0.5) / 0.2)² / 2)
    weights = [0.0439, 0.1724, 0.4578, 0.8226, 0, 1, 0.8226, 0.4578, 0.1724, 0.0439]
    assert after == pytest.approx([300 * weight / sum(weights) for weight in weights], abs=1)
    assert sum(after) == 300
    without_limit = curated("pool.jsonl", recipe.split("\n", maxsplit=1)[0], cwd=tmp_path)
    assert without_limit["histograms"]["after"][5] == 100
    assert without_limit["counts"]["chosen"] > 400
    recipe = "target: {weights: {learnable: 3, unsolved: 1}}\nat_most: 80"
    manifest = curated("pool.jsonl", recipe, "--annotate", cwd=tmp_path)
    bands = [row["band"] for row in annotated_rows(tmp_path / "train.jsonl")]
    assert manifest["counts"]["chosen"] == len(bands)
    assert set(bands) == {"learnable"}  # eight failures are not enough to call a task unsolved


def test_slices_get_their_shares(folder: Path) -> None:
    recipe = "per_slice: {by: category, shares: {mail: 0.3, plan: 0.2}}"
    manifest = curated("pool", recipe, cwd=folder)
    chosen = [prompt.split()[0] for prompt in prompts(folder / "train.jsonl")]
    assert (chosen.count("mail"), chosen.count("plan"), len(chosen)) == (3, 2, 10)
    figures = {
        (row["slice_value"], row["stage"]): row["task_count"]
        for row in manifest["figures"]
        if row["slice_by"] == "category"
    }
    assert figures["mail", "before"] == 3
    assert figures["plan", "after"] == 2


def test_the_manifest_agrees_with_a_profile_of_the_rows_kept(folder: Path) -> None:
    recipe = BOUNDS + "drop: [unhealthy, truncated, masked]\nundecided: drop"
    manifest = curated("pool", recipe, "--annotate", cwd=folder)
    rows = annotated_rows(folder / "train.jsonl")
    kept = {prompt: POOL[prompt] for prompt in prompts(folder / "train.jsonl")}
    again = write_pool(folder / "kept", kept)
    result = run_profile(again.rollouts, cwd=folder / "kept")
    assert result.returncode == 0, result.stderr
    ((tasks, mean, groups),) = again.query(
        "select count(*), avg(pass_ratio), sum(informative_ratio_8) from curation_candidates"
    )
    after = next(
        row for row in manifest["figures"] if row["slice_by"] == "all" and row["stage"] == "after"
    )
    assert after["task_count"] == tasks == len(rows)
    assert after["pass_ratio_mean"] == pytest.approx(mean)
    assert after["informative_groups_8"] == pytest.approx(groups)
    assert rows[0] == {
        "task_id": rows[0]["task_id"],
        "pass_rate": 0.5,
        "pass_low": rows[0]["pass_low"],
        "pass_high": rows[0]["pass_high"],
        "rollouts": 16,
        "band": "learnable",
        "run_id": "pool",
    }


def test_excluded_tasks_are_known_by_content_and_by_prompt(folder: Path) -> None:
    same = {
        "responses_create_params": {"input": [{"role": "user", "content": "mail one"}]},
        "category": "mail",
    }
    alike = {"responses_create_params": {"input": "  PLAN\n one "}, "other": 1}
    write_lines(folder / "eval.jsonl", [same, alike])
    manifest = curated("pool", "exclude: [eval.jsonl]", cwd=folder)
    assert manifest["counts"]["drop"] == {"excluded": 2}
    assert {"mail one", "plan one"}.isdisjoint(prompts(folder / "train.jsonl"))
    (folder / "eval.jsonl").write_text("{}\nno json\n", encoding="utf-8")
    (folder / "recipe.yml").write_text("exclude: [eval.jsonl]", encoding="utf-8")
    result = curate("pool", "--recipe", "recipe.yml", "-o", "new.jsonl", cwd=folder)
    assert result.returncode == 1
    assert "eval.jsonl: 1 line is not a JSON object" in result.stderr
    assert not (folder / "new.jsonl").exists()


def test_since_tells_what_was_learned_and_forgotten(tmp_path: Path) -> None:
    before = {"a": [0.0] * 20, "b": [1.0] * 20, "c": HALF, "d": HALF}
    after = {"a": HALF, "b": HALF, "c": [1.0] * 20, "d": HALF, "e": HALF}
    write_pool(tmp_path, before, name="before")
    write_pool(tmp_path, after, name="after")
    manifest = curated("after.jsonl", "", "--since", "before.jsonl", "--annotate", cwd=tmp_path)
    assert manifest["changes"] == {
        "forgotten": 1,
        "new": 1,
        "newly_learnable": 1,
        "newly_solved": 1,
        "same": 1,
    }
    rows = annotated_rows(tmp_path / "train.jsonl")
    assert [row["since"] for row in rows] == [
        "newly_learnable",
        "forgotten",
        "newly_solved",
        "same",
        "new",
    ]


def test_shaped_rewards_of_equal_outcomes_are_pointed_out(folder: Path) -> None:
    (folder / "recipe.yml").write_text("drop: [zero_variance]", encoding="utf-8")
    words = ("pool", "--recipe", "recipe.yml", "-o", "train.jsonl", "--overwrite")
    result = curate(*words, cwd=folder)
    assert "the rewards of 1 task differ although all rollouts pass or all fail" in result.stderr


def test_nothing_is_replaced_without_leave(folder: Path) -> None:
    (folder / "mine.jsonl").write_text("mine", encoding="utf-8")
    (folder / "kept.manifest.json").write_text("mine", encoding="utf-8")
    for name in ("mine.jsonl", "kept.jsonl"):
        result = curate("pool", "-o", name, cwd=folder)
        assert result.returncode == 2
        assert "exists already" in result.stderr
    assert not (folder / "kept.jsonl").exists()
    result = curate("pool", "-o", "pool_materialized_inputs.jsonl", "--overwrite", cwd=folder)
    assert result.returncode == 2
    assert "it is read" in result.stderr
    assert (folder / "mine.jsonl").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("seed: 1\nkeep: {pass_rat: [0, 1]}", "recipe.yml:2: keep.pass_rat: unknown; did you mean"),
        ("kep: 1", "recipe.yml:1: kep: unknown; did you mean keep?"),
        (
            "drop:\n  - masked\n  - trunkated",
            "recipe.yml:3: drop.1: unknown; did you mean truncated",
        ),
        ("keep:\n  pass_rate: [0.9, 0.1]", "the lower bound is above the upper one"),
        ("per_slice: {by: category, shares: {mail: 0.8, plan: 0.3}}", "they add up to 1.1"),
        (
            "per_slice: {by: categry, at_most: 2}",
            "is not sliced by categry; did you mean category?",
        ),
        ("per_slice: {by: category, shares: {male: 0.8}}", "male: unknown; did you mean mail?"),
        ("order: curriculum\ntarget: {distribution: uniform}", "a curriculum has its own"),
        ("exclude: [nowhere.jsonl]", "no file at"),
        ("at_most: 2.5", "recipe.yml:1: at_most:"),
        (f"at_most: {1 << 63}", "recipe.yml:1: at_most: the value must be less than"),
        (
            "seed: 2\ncurriculum: {steps: 1000000000, prompts_per_step: 1000000000}",
            "recipe.yml:2: curriculum.steps: the value must be less than or equal to 1000000",
        ),
        ("- a", "it must be a map"),
        ("keep: [", "not valid YAML (line"),
        ("keep: {pass_rate: [0.4, 0.4]}\nundecided: drop", "no task is left"),
    ],
)
def test_a_bad_recipe_is_refused_with_its_line(folder: Path, recipe: str, message: str) -> None:
    (folder / "recipe.yml").write_text(recipe, encoding="utf-8")
    result = curate("pool", "--recipe", "recipe.yml", "-o", "bad.jsonl", cwd=folder)
    assert result.returncode in (1, 2, 4)
    assert message in result.stderr
    assert not (folder / "bad.jsonl").exists()
    assert not (folder / "bad.manifest.json").exists()


def test_a_run_that_changed_since_its_profile_is_refused(tmp_path: Path) -> None:
    run = write_pool(tmp_path, {"a": HALF, "b": HALF})
    assert run_profile(run.rollouts, "--run-id", "r", cwd=tmp_path).returncode == 0
    write_pool(tmp_path, {"b": HALF, "a": HALF})
    result = curate("r", "-o", "train.jsonl", cwd=tmp_path)
    assert result.returncode == 1
    assert "have changed since it was profiled" in result.stderr
    assert curate("pool.jsonl", "-o", "train.jsonl", cwd=tmp_path).returncode == 0
    assert prompts(tmp_path / "train.jsonl") == ["b", "a"]


def test_tasks_of_several_agents_need_one(tmp_path: Path) -> None:
    rows: list[Row] = []
    for index in range(4):
        agent = {"name": "left" if index < 2 else "right"}
        rows.append({"agent_ref": agent, "x": 1, "_ng_task_index": 0, "_ng_rollout_index": index})
    write_lines(tmp_path / "run_materialized_inputs.jsonl", rows)
    write_lines(tmp_path / "run.jsonl", [{**row, "reward": 1.0} for row in rows])
    result = curate("run.jsonl", "-o", "train.jsonl", cwd=tmp_path)
    assert result.returncode == 2
    assert "choose one with --agent" in result.stderr
    curated("run.jsonl", "", "--agent", "right", cwd=tmp_path)
    row = read_json((tmp_path / "train.jsonl").read_text(encoding="utf-8"))
    assert row == {"agent_ref": {"name": "right"}, "x": 1}


def test_the_terminal_shows_why_and_how_the_pass_rates_moved(folder: Path) -> None:
    (folder / "recipe.yml").write_text(BOUNDS + "undecided: drop", encoding="utf-8")
    words = ("pool", "--recipe", "recipe.yml", "-o", "train.jsonl", "--overwrite")
    result = curate(*words, cwd=folder)
    assert "Curated      train.jsonl  (7 tasks of 13 in pool)" in result.stdout
    assert "dropped      4  the interval of the pass rate crosses a bound" in result.stdout
    assert "0.5 … 0.6" in result.stdout


def test_a_format_and_a_picture_are_written_with_the_manifest(folder: Path) -> None:
    options = ("--for", "slime", "--answer-field", "category", "--plot", "rates.svg")
    manifest = curated("pool", "order: as_input", *options, cwd=folder, output="slime.jsonl")
    rows = rows_of(folder / "slime.jsonl")
    assert [row["label"] for row in rows[:4]] == ["mail", "mail", "mail", "plan"]
    assert manifest["output"]["format"] == "slime"
    assert (manifest["output"]["rows"], manifest["output"]["answer_field"]) == (13, "category")
    assert (folder / "rates.svg").read_text(encoding="utf-8").startswith("<svg")
    result = curate("pool", "-o", "p.parquet", "--for", "verl", "--answer-field", "x", cwd=folder)
    assert result.returncode == 2
    assert "has no x, which --answer-field names" in result.stderr
    assert not list(folder.glob("p.*"))


def test_transcripts_leave_out_tasks_without_a_pair_and_say_so(folder: Path) -> None:
    words = ("pool", "-o", "dpo.jsonl", "--for", "dpo", "--overwrite")
    result = curate(*words, cwd=folder)
    assert result.returncode == 0, result.stderr
    chosen = rows_of(folder / "dpo.jsonl")
    assert {row["prompt"][0]["content"] for row in chosen} >= {"mail one", "few one"}
    assert "solved one" not in {row["prompt"][0]["content"] for row in chosen}
    assert "left out of the output" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--for", "verI"), "verI: unknown; did you mean verl?"),
        (("--least-reward", "0.5"), "--least-reward needs --for sft"),
        (("--least-difference", "0.5", "--for", "sft"), "--least-difference needs --for dpo"),
        (("--env-class", "x"), "need --for with one of verl, skyrl, slime"),
        (("--plot", "rates.jpg"), "must end in .svg or .png"),
    ],
)
def test_options_of_another_format_are_refused(
    folder: Path, options: tuple[str, ...], message: str
) -> None:
    result = curate("pool", "-o", "never.jsonl", *options, cwd=folder)
    assert result.returncode == 2
    assert message in result.stderr
    assert not (folder / "never.jsonl").exists()
