#include "mapping/mappers.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "mapping/bisection.hpp"
#include "mapping/eager.hpp"
#include "mapping/grouping.hpp"
#include "mapping/refinement.hpp"

namespace autofinity::mapping {

namespace {

using topology::Machine;

constexpr std::pair<std::string_view, Mapper> mappers[] = {
    {"bisection", [](const Machine&, const Matrix& sharing,
                     const SeatTree& tree) { return map_by_bisection(sharing, tree); }},
    {"eagermap",
     [](const Machine&, const Matrix& sharing, const SeatTree& tree) {
         Eager grouper;
         return map_by_groups(sharing, tree, grouper);
     }},
    {"refined", refined},
};

}  // namespace

Mapper mapper_of(std::string_view name) {
    for (const auto& [known, mapper] : mappers) {
        if (known == name) {
            return mapper;
        }
    }
    throw std::invalid_argument("no native mapper is called " + std::string(name));
}

}  // namespace autofinity::mapping
