"""Names of all figures, in the order of the registry, without what figures import.

The command line refuses a wrong name, and completes a right one, before anything is loaded.
"""

_OF_PAPERS = {
    "": "1 2a 9a 9b 10 11 12",
    "kmaf14-": "1 2 3 4 7 8 9 10 11 12",
    "kmaf16-": "1 4 5 6 7 8 9a 9a-matrices 9b 10 11 11-boxes t5 t5-events",
    "sammu-": "2 3 4a 4b",
    "tlb-": "3 9 10 11 12a 12b 12c 12d 13a 13b 13c 14a 14b 15 16 t2",
}
NAMES = tuple(
    prefix + number for prefix, numbers in _OF_PAPERS.items() for number in numbers.split()
)
