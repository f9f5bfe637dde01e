"""Runs in an environment that has pycachesim: prints the time of replaying a stream.

usage: pycachesim_worker.py STREAM    (uint64 words, line << 1 | store)

The caches are those of the simulated Opteron 6164 HE. Prints accesses and CPU seconds of one batch
(`loadstore`, its fastest interface), then those of one call an access.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from cachesim import Cache, CacheSimulator, MainMemory

SINGLE_CALLS = 100_000


def simulator() -> CacheSimulator:
    memory = MainMemory()
    l3 = Cache("L3", 2048, 48, 64, "LRU")
    memory.load_to(l3)
    memory.store_from(l3)
    l2 = Cache("L2", 512, 16, 64, "LRU", store_to=l3, load_from=l3)
    return CacheSimulator(Cache("L1", 512, 2, 64, "LRU", store_to=l2, load_from=l2), memory)


def main() -> None:
    words = np.fromfile(sys.argv[1], np.uint64)
    addresses = ((words >> np.uint64(1)) << np.uint64(6)).tolist()
    stores = (words & np.uint64(1)).astype(bool).tolist()
    batch = [
        ((), (address,)) if store else ((address,), ())
        for address, store in zip(addresses, stores, strict=True)
    ]
    fresh = simulator()
    started = time.process_time()
    fresh.loadstore(batch, length=8)
    print(len(batch), time.process_time() - started)

    calls = list(zip(addresses, stores, strict=True))[:SINGLE_CALLS]
    fresh = simulator()
    load, store = fresh.load, fresh.store
    started = time.process_time()
    for address, is_store in calls:
        (store if is_store else load)(address, length=8)
    print(len(calls), time.process_time() - started)


if __name__ == "__main__":
    main()
