"""Nodes, controllers and links. A line keeps a controller busy for 10 clocks, a link for 20."""

from __future__ import annotations

from counter_case import Turns, case
from hand_machine import CHAINED, ONE_HOP, SAME_PACKAGE, TWO_HOPS, VICTIM


# First touch: the page is on core 0's node. One after the other, nothing queues.
@case(
    VICTIM,
    0,
    dram_reads_local=3,
    dram_reads_remote=0,
    link_bytes=0,
    memory_queue_clocks=0,
    link_queue_clocks=0,
)
def a_page_is_read_from_the_node_that_touched_it(t: Turns) -> None:
    t.load(0, 0)
    t.begin()
    t.load(0, 1, 2, 3, gap=200)
    t.end()


# The same page from another node: a line and its header, 72 bytes, for each.
@case(
    VICTIM,
    0,
    SAME_PACKAGE,
    dram_reads_local=0,
    dram_reads_remote=(0, 3),
    link_bytes=(0, 3 * 72),
    memory_queue_clocks=0,
    link_queue_clocks=0,
)
def a_page_of_another_node_is_read_over_a_link(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 8)  # another line: translated, page touched
    t.begin(1)
    t.load(1, 1, 2, 3, gap=500)
    t.end(1)


# Requests at clocks 1, 2 and 3. The controller serves them from 1, 11 and 21 on.
@case(VICTIM, 0, memory_queue_clocks=9 + 18, dram_reads_local=3)
def requests_that_come_together_wait_for_the_controller(t: Turns) -> None:
    t.load(0, 0)
    t.begin()
    t.load(0, 1, 2, 3)
    t.end()


# Node 1's controller serves them at 1, 11, 21, waits 0, 9 and 18; its link to node 0 takes the
# first at 1, the second (there at 11) at 21, the third (there at 21) at 41: waits 10 and 20.
@case(VICTIM, 0, home=1, memory_queue_clocks=9 + 18, link_queue_clocks=10 + 20)
def requests_that_come_together_wait_for_the_link(t: Turns) -> None:
    t.load(0, 0)
    t.begin()
    t.load(0, 1, 2, 3)
    t.end()


# Seven modified lines for the six places that set 0 of the three levels has (see `caches`); the
# page lives on node 2, so the one that falls out of the LLC crosses a link too: 7 reads, 1 write.
@case(VICTIM, 0, home=2, dram_writes=1, dram_reads_remote=7, link_bytes=8 * 72)
def a_written_back_line_crosses_the_link_to_its_node(t: Turns) -> None:
    t.store(0, 0, 8, 16, 24, 32, 40, 48)


# Core 6 is on node 2: two nodes read their own pages, each from its own memory.
@case(VICTIM, 0, ONE_HOP, dram_reads_local=(2, 2), dram_reads_remote=0, link_bytes=0)
def every_thread_that_touches_its_own_page_reads_its_own_node(t: Turns) -> None:
    t.load(0, 0, 1)
    t.load(1, 64, 65)


# From node 0 to node 3 a line passes three links. The controller has the lines ready at 1 and 11;
# the second finds the first link busy to 21 and the others free by then.
@case(
    CHAINED,
    0,
    TWO_HOPS,
    link_bytes=(0, 2 * 3 * 72),
    memory_queue_clocks=(0, 9),
    link_queue_clocks=(0, 10),
)
def a_line_crosses_every_link_of_its_route(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 8)  # translated
    t.begin(1)
    t.load(1, 1, 2)
    t.end(1)


# Three requests of 8 bytes to the node of the page, over one link each.
@case(VICTIM, 0, SAME_PACKAGE, link_request_bytes=(0, 3 * 8))
def a_request_to_another_node_crosses_a_link(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 8)
    t.begin(1)
    t.load(1, 1, 2, 3, gap=500)
    t.end(1)


# Core 3's store of a line that core 0 has: request to node 0, where the probe stays, and the
# answer of core 0 back.
@case(VICTIM, 0, SAME_PACKAGE, link_request_bytes=(0, 2 * 8), invalidations_sent=(0, 1))
def a_probe_and_its_answer_cross_links(t: Turns) -> None:
    t.load(0, 0)
    t.load(1, 8)
    t.begin(1)
    t.store(1, 0)
    t.end(1)
