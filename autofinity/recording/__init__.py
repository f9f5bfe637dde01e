"""`record-machine`: a machine file of the present machine.

hwloc, sysfs, CPUID ──► its parts ────┐ _core.measure ─────────► speeds ───────┴──► Rows, each with
its origin ──► TOML
"""
