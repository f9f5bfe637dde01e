"""The names of `import autofinity as af`: a thin interface to `workflow`, for scripts and
notebooks.

Each file has one subject. The names are stable; results are types of this package, of numpy and of
pandas. No function prints; progress goes to a `Reporter`; errors are `AutofinityError`.
"""
