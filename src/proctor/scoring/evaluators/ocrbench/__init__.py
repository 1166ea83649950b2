"""Rules of OCRBench v2 (Fu et al. 2024), one module for each idea; AISBench's edition of them.

No dataset uses them yet: tables, charts, pages, fields and long texts are missing, so its evaluator stays refused.
"""
