// A sampled trace on disk: the capture runtime (C) writes it and the reader (C++) reads it.
//
//   index.aft         as of a whole trace; totals are of the whole run, though little is recorded
//   stream-0000.aft   header | chunks of window 0 | chunks of window 1 | …        only windows
//   warm-0000.afw     header | snapshot of window 0 | snapshot of window 1 | …    of each stream
//   pages.afp         header | first touches of pages, in order | crc
//   windows.afs       header | windows | meetings | intervals | crc      written last but the index
//   skeleton/         a whole trace of all events but accesses, where threads do not wait for each
//                     other at every turn. compute: its value is 0, or the region's work so far
//   meta.json         as of a whole trace, and how it was sampled
//
// A window is a cut through all threads at one moment of the capture and another cut some work
// later; each thread begins and ends it at its own instruction. Work is the number of accesses of
// all threads in the region of interest. Nothing here depends on a machine. Numbers without a size
// of their own are varints (LEB128); "zigzag" means a signed difference. Little endian.
#pragma once

#include <stdint.h>

#define AF_WINDOWS_MAGIC 0x3157534449464101ull
#define AF_WARM_MAGIC 0x314d575449464101ull
#define AF_PAGES_MAGIC 0x3147504449464101ull
#define AF_SAMPLED_VERSION 2u
#define AF_MAX_WINDOWS (1u << 12)
#define AF_MAX_MEETINGS (1u << 11)
#define AF_MAX_INTERVALS (1u << 11)
#define AF_TOUCHES 16
#define AF_SKELETON_FOLDER "/skeleton"
// There is a skeleton.
#define AF_WINDOWS_SKELETON 1u

typedef struct af_windows_header {
    uint64_t magic;
    uint32_t version;
    uint32_t streams;
    uint32_t windows;
    uint32_t meetings;
    uint64_t work;    // of the whole region
    uint64_t stamps;  // the clock of snapshots at the end of the run
    uint64_t met;     // meetings in the region, those that are not kept included
    uint64_t interval_work;
    uint32_t intervals;
    uint32_t flags;  // AF_WINDOWS_*
} af_windows_header;

// Activity of all threads in an interval of the region's work: touches of lines by the time since
// the thread had touched the line before (0: at the same stamp; i: 2^(i-1) to 2^i - 1 stamps; the
// last one: longer ago, or never), the number of writes among them, instructions, and the active
// threads.
typedef struct af_interval {
    uint64_t touches[AF_TOUCHES];
    uint64_t writes;
    uint64_t instructions;
    uint64_t who;  // bit i: a stream whose number modulo 64 is i did something
} af_interval;

// Followed by `streams` af_window_stream.
typedef struct af_window {
    uint64_t work_begin, work_end;  // when it was opened and closed
    uint64_t met_begin, met_end;    // meetings of the region until then
    uint64_t stamp;                 // of the clock of snapshots when it was opened
    uint64_t pages;                 // runs in pages.afp that were touched until then
} af_window;

// The thread exists (its snapshot is there), has events, or waits at the end of the window: its
// next action waits for another thread.
#define AF_WINDOW_EXISTS 1u
#define AF_WINDOW_WAITS 2u

typedef struct af_window_stream {
    uint64_t chunks_at;     // offset of the first chunk in the stream's file
    uint64_t chunks_bytes;  // 0: nothing was done
    uint64_t events;
    uint64_t instructions_begin, instructions_end;  // of the thread, since its beginning
    uint64_t accesses_begin, accesses_end;
    uint64_t warm_at, warm_bytes;  // of the snapshot in the stream's warm file
    uint32_t warm_crc;             // CRC-32C of the snapshot
    uint32_t flags;                // AF_WINDOW_*
} af_window_stream;

// A moment when all threads of the largest team had come to one point. `streams` uint64_t follow:
// the instructions of each thread at that moment. The first record is the begin of the region, the
// last one its end. If there are many records, evenly spread ones are kept.
typedef struct af_meeting_record {
    uint64_t work;
    uint64_t met;  // meetings up to this one
} af_meeting_record;

// Header of warm-*.afw and pages.afp.
typedef struct af_sampled_file {
    uint64_t magic;
    uint32_t version;
    uint32_t stream;  // of pages: 0
} af_sampled_file;

// A snapshot: groups of lines that the thread touched last at one stamp of the run's coarse clock,
// newest first; at most so many lines. Varints:
//     groups
//     each: stamp (others than the first: that of the group before - it), runs
//           each run: zigzag(first line - line after the run before it), lines << 1 | written
// Lines of a group ascend.
//
// Pages: runs of neighbouring pages that one stream touched first, in the order of first touches of
// the run. Varints: runs, each: zigzag(first page - page after the run before it), pages, stream.
// A CRC-32C of all before it ends the file.
