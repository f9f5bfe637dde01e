"""Accesses of libraries and the kernel for the program are seen, and so are chases of pointers."""

from workshop import Workshop

CHASE = r"""
#include <stdio.h>
#include <stdlib.h>
struct node { struct node* next; long pad[15]; };
int main(void) {
    struct node* n = aligned_alloc(128, 1000 * sizeof *n);
    for (int i = 0; i < 1000; i++) n[i].next = &n[(i * 7 + 1) % 1000];
    long hops = 0, sum = 0;
    for (struct node* p = n; hops < 900; p = p->next) hops++, sum += p - n;
    printf("list %p %ld\n", n, sum);
}
"""


def test_loads_whose_value_is_the_next_address_are_marked(shop: Workshop) -> None:
    run = shop.run(CHASE, flags="-O2 -pthread")
    events = run.raw(0)
    low = run.address("list") >> 6
    in_list = (events["value"] >= low) & (events["value"] < low + 2000)
    chased = events[in_list & (events["kind"] == 0) & (events["reads"] > 0)]
    assert (chased["flags"] & 4 != 0).mean() > 0.95


STRINGS = r"""
#include <stdio.h>
#include <string.h>
static _Alignas(64) char a[1024], b[1024];
int main(void) {
    memset(a, 'x', 1000);
    strcpy(b, a);
    size_t n = strlen(b);
    int same = strcmp(a, b) == 0 && memcmp(a, b, n) == 0 && memchr(a, 0, 1024) == a + 1000;
    memmove(a, a + 1, 500);
    printf("a %p b %p %zu %d %p\n", a, b, n, same, (void*)strchr(b, 'y'));
}
"""


def test_memory_and_string_functions_are_seen(shop: Workshop) -> None:
    run = shop.run(STRINGS, flags="-O0 -fno-builtin -pthread")
    assert run.stdout.split()[4:] == ["1000", "1", "(nil)"]
    reads, writes = run.counts(0, run.address("b"), 1024)
    assert writes == 32  # 1001 bytes, 32 at a time
    assert reads == 3 * 32 + 32  # strlen, strcmp and strchr with the zero; memcmp without
    _, writes = run.counts(0, run.address("a"), 1024)
    # The copy goes by the lines of its source, which are one byte off those of its target.
    assert 32 + 16 <= writes <= 32 + 24


TRANSFERS = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
static _Alignas(64) char sent[4096], got[4096], parts[2][1024], file[1024];
int main(void) {
    int ends[2];
    pipe(ends);
    write(ends[1], sent, 3200);
    read(ends[0], got, 4096);  // less than was asked for: 3200 bytes come
    if (read(-1, got, 4096) != -1) return 1;
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    send(ends[1], sent, 1600, 0);
    struct iovec v[2] = {{parts[0], 1024}, {parts[1], 1024}};
    readv(ends[0], v, 2);
    FILE* f = tmpfile();
    fwrite(sent, 8, 80, f);
    rewind(f);
    fread(file, 1, 1024, f);
    printf("sent %p got %p parts %p file %p\n", sent, got, parts, file);
}
"""


def test_what_the_kernel_and_streams_transfer_is_seen(shop: Workshop) -> None:
    run = shop.run(TRANSFERS)
    assert run.code == 0
    width = 32
    assert run.counts(0, run.address("sent"), 4096) == ((3200 + 1600 + 640) // width, 0)
    assert run.counts(0, run.address("got"), 4096) == (0, 3200 // width)
    assert run.counts(0, run.address("parts"), 2048) == (0, 1600 // width)
    assert run.counts(0, run.address("file"), 1024) == (0, 640 // width)
