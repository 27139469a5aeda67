"""Bytes to records, and edits back to bytes. What does not change keeps its bytes (design.md, "Bytes").

edits         what a migration asks for, as values
lines         files as chunks of whole lines, gzip, standard input
jsonl         one line: read with places, edited byte for byte
line_editor   the same edits on many lines
yaml          YAML files: read with places, edited in place, written new
"""
