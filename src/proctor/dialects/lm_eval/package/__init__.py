"""What code of tasks imports from the package ``lm_eval``, where that is not installed: the same names, written here.

Only code that the user trusts sees them, and only that code: :mod:`~proctor.dialects.lm_eval.package.imports` answers
the import statements of a task's module, and nobody else's.
"""
