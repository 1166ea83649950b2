"""Rules of OCRBench v2 (Fu et al. 2024), one module for each idea; AISBench's edition of them."""
