// Pages of the program, by their numbers (addresses as they are written, over 4096), in two levels:
// tables of neighbouring pages, and a table of these tables.
#pragma once

enum {
    AF_PAGE_LINES = 64,
    AF_PAGE_BITS = 35,        // 47 bits of address
    AF_PAGE_TABLE_BITS = 14,  // 64 MiB a table
    AF_PAGES_OF_TABLE = 1 << AF_PAGE_TABLE_BITS,
    AF_PAGE_TABLES = 1 << (AF_PAGE_BITS - AF_PAGE_TABLE_BITS),
};
