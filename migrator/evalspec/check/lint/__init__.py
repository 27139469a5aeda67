"""Lint: what is wrong, or easily goes wrong, in task files that every loader reads without a word.

Each module holds the rules of one kind beside the functions that look for them; `evalspec.check.rules` has them all.
"""
