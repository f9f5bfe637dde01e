"""kMAF, first version: Diener, Cruz, Navaux, Busse & Heiss, kMAF: Automatic Kernel-Level Management
of Thread and Data Affinity, PACT 2014.

- Detection (3.1.2): present bits are cleared periodically.
- Sharing (3.2, table 2): sub-blocks of 1 KiB with an MRU and an LRU thread; all pairs count.
- Pages (3.2, table 2): a counter of 1 byte a node.
- Threads (3.4.1): SCOTCH's dual recursive bipartitioning every 100 ms (3.4).
- Ageing (3.4.2): M - (M >> 2), on whole numbers, after each mapping.
- Page to node (3.3, eq. 6): max > 2·max₂ + 1; counters are halved on a move; no move before threads
  have been mapped once.

Deviations: those of `sharing_aware`. Section 3.4.1 migrates the threads "to their assigned PUs"; we
leave them where the mapper's seats cost no less by the matrix (`only_if_cheaper`), for the mapping
is to say "if threads need to be migrated" (3, part D), and halves of a machine, which are alike,
would change places every time. Without the SCOTCH library our own bipartitioning maps
(`mapping.bisection`); no rate of faults is given, so that of kMAF'16 is taken. Where the paper
finds memory that processes share by its physical address (3.1.1), here it goes by inode and offset,
of running programs only (`linux.shared_memory`); counters of its pages are each process's own.
"""

from __future__ import annotations

from dataclasses import replace

from autofinity.mapping.bipartition import bipartition
from autofinity.mapping.pages import locality
from autofinity.mechanisms.kmaf16 import faults
from autofinity.mechanisms.recipe import Setting
from autofinity.mechanisms.sharing_aware import SharingAware, by
from autofinity.model.sharing import SharingMatrix


def kmaf14(setting: Setting, *, threads: bool = True, pages: bool = True) -> SharingAware:
    """Both mappings, or one of them alone (figure 11)."""
    part = "" if threads and pages else "-threads" if threads else "-pages"
    detector = replace(faults(setting), table="sub-blocks", block_bytes=1024, halve_on_move=True)
    return SharingAware(
        name=f"kmaf14{part}",
        setting=setting,
        detectors=(detector,),
        mapper=bipartition if threads else None,
        page_mapper=by(locality) if pages else None,
        age=aged,
        only_if_cheaper=True,
        threads_first=threads,
    )


def aged(matrix: SharingMatrix) -> SharingMatrix:
    """M - (M >> 2), cell by cell (3.4.2): cells below 4 do not fade. `matrix` itself where none
    does.
    """
    cells = tuple(
        tuple(cell - (int(cell) >> 2) if cell >= 4 else cell for cell in row)
        for row in matrix.cells
    )
    return matrix if cells == matrix.cells else SharingMatrix(cells)
