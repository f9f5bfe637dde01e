"""What `import autofinity as af` gives: a thin face of `workflow`, for scripts and notebooks.

One idea a file. Its names are stable; what they return are types of this package, of numpy and of
pandas. Nothing prints; progress goes to a `Reporter`; errors are `AutofinityError`.
"""
