#include "program.hpp"

namespace autofinity::sim {

Program::Group Program::group_at(std::uint32_t process, std::uint64_t page) const {
    for (const SharedRange& range : shared_)
        if (range.process == process && page >= range.first_page &&
            page - range.first_page < range.pages)
            return {processes_limit + range.object,
                    (page - range.first_page + (range.first_page & 7)) >> 3};
    return {process, page >> 3};
}

std::uint32_t Program::page_of(std::uint32_t process, std::uint64_t number) const {
    const auto at = group_of_.find(group_at(process, number).key());
    return at == group_of_.end() ? 0 : at->second << 3 | static_cast<std::uint32_t>(number & 7);
}

}  // namespace autofinity::sim
