// Moving the unit of a page to another node, which the kernel does.
#pragma once

#include <cstdint>

#include "hierarchy.hpp"
#include "sim/types.hpp"
#include "translation.hpp"
#include "under_way.hpp"

namespace autofinity::sim {

class PageMigration {
  public:
    PageMigration(Hierarchy& hierarchy, Translation& translation)
        : hierarchy_(hierarchy), translation_(translation) {}

    // Caches and TLBs forget the unit; its lines are read and written.
    Moved move(std::uint32_t page, std::uint32_t node, UnderWay& w);

  private:
    void take_from_all(Line line, UnderWay& w);

    Hierarchy& hierarchy_;
    Translation& translation_;
};

}  // namespace autofinity::sim
