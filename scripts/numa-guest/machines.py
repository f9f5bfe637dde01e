"""The machines that a guest can be, as options of QEMU."""

from __future__ import annotations

from dataclasses import dataclass

LOCAL, SAME_SOCKET, OTHER_SOCKET = 10, 16, 22
_NODE_MIB = 384


@dataclass(frozen=True)
class Machine:
    """Sockets × dies × cores, a node for each die. Distances as the firmware would report them
    (SLIT).
    """

    sockets: int
    dies: int
    cores: int

    @property
    def nodes(self) -> int:
        return self.sockets * self.dies

    @property
    def cpus(self) -> int:
        return self.nodes * self.cores

    def distance(self, a: int, b: int) -> int:
        """The distance between two nodes."""
        if a == b:
            return LOCAL
        return SAME_SOCKET if a // self.dies == b // self.dies else OTHER_SOCKET

    def options(self) -> list[str]:
        """QEMU's options for CPUs, nodes and memory."""
        shape = f"{self.cpus},sockets={self.sockets},dies={self.dies},cores={self.cores},threads=1"
        words = ["-smp", shape, "-m", str(self.nodes * _NODE_MIB)]
        for node in range(self.nodes):
            first = node * self.cores
            words += ["-object", f"memory-backend-ram,id=memory{node},size={_NODE_MIB}M"]
            cpus = f"{first}-{first + self.cores - 1}"
            words += ["-numa", f"node,nodeid={node},cpus={cpus},memdev=memory{node}"]
        for a in range(self.nodes):
            for b in range(self.nodes):
                words += ["-numa", f"dist,src={a},dst={b},val={self.distance(a, b)}"]
        return words


MACHINES = {"4x4": Machine(4, 1, 4), "4x2x6": Machine(4, 2, 6)}
