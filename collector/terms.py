"""What the words of reports and pages mean, in a sentence each."""

TERMS = {
    "rerun noise": (
        "How far the score moves if the same tasks run again: the standard error that more"
        " repeats reduce."
    ),
    "clean": (
        "Rollouts that are measured after a single attempt, as a share of all expected rollouts."
    ),
    "learnable": (
        "The whole 95 % interval of the pass rate is between 0.1 and 0.9: the task is neither"
        " always nor never solved."
    ),
    "solved": "The whole 95 % interval of the pass rate is above 0.8.",
    "unsolved": "The whole 95 % interval of the pass rate is below 0.2.",
    "undecided": (
        "The 95 % interval of the pass rate is too wide for a band: run the task more often."
    ),
    "undecided tasks": (
        "Tasks whose interval crosses a bound of the rules: more rollouts would decide."
    ),
    "learnability": (
        "p (1 - p), where p is the pass rate: highest for tasks that pass half of the time."
    ),
}
