"""autofinity: learns where threads and memory should sit on a NUMA machine, and puts them there."""

__version__ = "0.1.0"
