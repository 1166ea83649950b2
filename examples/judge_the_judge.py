"""Is a judge worth anything? Its verdicts beside those of people: agreement, and its interval."""

from __future__ import annotations

from proctor.scoring.judges import agreement

people = [1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0] * 5
judge = [1 if number % 7 == 0 else verdict for number, verdict in enumerate(people)]
judge[3] = None  # a verdict that could not be read

found = agreement(judge, people)
low, high = found.share_interval
print(f"{found.count} cases, {found.left_out} without a verdict")
print(f"equal verdicts {found.share:.2f} [{low:.2f}, {high:.2f}]")
print(f"beyond chance (kappa) {found.kappa:.2f} [{found.kappa_interval[0]:.2f}, {found.kappa_interval[1]:.2f}]")
