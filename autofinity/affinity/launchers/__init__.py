"""Core sets and places of ranks in the syntax of the tools that people start programs with.

One module for each tool or family of tools, `form.py` for what they have in common, `table.py`
for all of them by name.
"""
