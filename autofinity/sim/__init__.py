"""The simulated machine: presets, the Machine port over the native core, and its PMU's events.

data/machines/NAME.toml ──────preset──► MachineSpec ──native──► _core.sim.Machine
Topology + latency file ──machine_on──►      ┘                       │
trace directory ─────────────program──► Program ────┐                │
                                                    └──► simulate / SimMachine
"""
