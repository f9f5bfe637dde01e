"""Machine × program × affinity → observations."""
