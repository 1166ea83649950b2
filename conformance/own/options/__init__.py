"""Options together: the same rows and answers, in every dialect, held against counting by hand."""
