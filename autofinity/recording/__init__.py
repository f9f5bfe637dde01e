"""`record-machine`: a machine file of the machine this runs on.

hwloc, sysfs, CPUID ──► what it has ──┐
_core.measure ─────────► how fast ────┴──► Rows, each with where it comes from ──► TOML
"""
