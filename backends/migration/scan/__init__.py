"""Scan a project for its GPU stack.

Scanners (`scan_…`) find `Occurrence`s in the text of a file; parsers (`parse_…`) turn a text into a tree, values or
words for them; advisers (`advise_…`) find what is slow or risky. Judges (`judge_…`) turn an occurrence into a
`ScanFinding` with the facts about NPUs. `project_scan` goes over the files, in worker processes and with a cache.
"""
