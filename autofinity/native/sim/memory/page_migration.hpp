// Moving the unit of a page to another node, which the kernel does.
#pragma once

#include <cstdint>

#include "core_caches.hpp"
#include "directory.hpp"
#include "fills.hpp"
#include "interconnect.hpp"
#include "pages.hpp"
#include "probe_filters.hpp"
#include "sim/machine.hpp"
#include "sim/types.hpp"
#include "translation.hpp"
#include "under_way.hpp"

namespace autofinity::sim {

class PageMigration {
  public:
    PageMigration(const MachineModel& machine, Pages& pages, CoreCaches& cores,
                  Directory& directory, ProbeFilters& filters, Interconnect& interconnect,
                  Fills& fills, Translation& translation)
        : machine_(machine),
          pages_(pages),
          cores_(cores),
          directory_(directory),
          filters_(filters),
          interconnect_(interconnect),
          fills_(fills),
          translation_(translation) {}

    // Caches and TLBs forget the unit; its lines are read and written.
    Moved move(std::uint32_t page, std::uint32_t node, UnderWay& w);

  private:
    void take_from_all(Line line, UnderWay& w);

    const MachineModel& machine_;
    Pages& pages_;
    CoreCaches& cores_;
    Directory& directory_;
    ProbeFilters& filters_;
    Interconnect& interconnect_;
    Fills& fills_;
    Translation& translation_;
};

}  // namespace autofinity::sim
