#include "program.hpp"

namespace autofinity::sim {

std::uint32_t Program::page_of(std::uint32_t process, std::uint64_t number) const {
    const auto at = group_of_.find(group_key(process, number));
    return at == group_of_.end() ? 0 : at->second << 3 | static_cast<std::uint32_t>(number & 7);
}

}  // namespace autofinity::sim
