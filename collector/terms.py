"""What the words of reports and pages mean, in a sentence each."""

TERMS = {
    "rerun noise": (
        "How far the score moves if the same tasks run again: the standard error that more"
        " repeats reduce."
    ),
    "95% interval": (
        "Where the score of all tasks of this kind probably lies: such an interval contains it in"
        " 95 of 100 evaluations."
    ),
    "std error": (
        "The standard error: how far the score is typically off. The interval reaches about two of"
        " them to each side."
    ),
    "pass@1": "The share of rollouts that pass, averaged over tasks.",
    "pass@": "The chance that at least one of k rollouts of a task passes.",
    "pass^": "The chance that all of k rollouts of a task pass.",
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
