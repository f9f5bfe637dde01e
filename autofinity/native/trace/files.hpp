// Names and layout checks that the reader and the writer share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "trace/codec.h"
#include "trace/event.hpp"

namespace autofinity::trace {

static_assert(sizeof(af_event) == sizeof(Event));
static_assert(offsetof(af_event, gap) == offsetof(Event, gap));
static_assert(offsetof(af_event, writes) == offsetof(Event, writes));
static_assert(offsetof(af_event, flags) == offsetof(Event, flags));
static_assert(static_cast<int>(Kind::heartbeat) + 1 == AF_KINDS);

inline std::string index_path(const std::string& directory) { return directory + "/index.aft"; }

inline std::string stream_path(const std::string& directory, std::uint32_t stream) {
    char name[32];
    std::snprintf(name, sizeof name, "/stream-%04u.aft", stream);
    return directory + name;
}

inline std::string snapshots_path(const std::string& directory, std::uint32_t stream) {
    char name[32];
    std::snprintf(name, sizeof name, "/warm-%04u.afw", stream);
    return directory + name;
}

inline std::string windows_path(const std::string& directory) { return directory + "/windows.afs"; }

inline std::string pages_path(const std::string& directory) { return directory + "/pages.afp"; }

inline const af_crc_table& crc_table() {
    static const af_crc_table table = [] {
        af_crc_table made;
        af_crc_init(&made);
        return made;
    }();
    return table;
}

}  // namespace autofinity::trace
