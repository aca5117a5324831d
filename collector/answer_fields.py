"""The names of the fields that hold the right answer, in the environments we know."""

NAMES = (
    "ground_truth", "expected_answer", "answer", "label", "expected_output", "expected_action",
    "expected", "correct_answer", "reference_answer", "reference_solution", "reference", "target",
    "solution", "gold_answer", "gold", "gt",
)  # fmt: skip
PARENTS = ("verifier_metadata", "metadata")
"""The fields of a row whose own fields may hold the answer too."""
