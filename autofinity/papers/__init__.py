"""The figures and tables of the five papers, a file each, in a folder a paper."""
