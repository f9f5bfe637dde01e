#include "tasks.hpp"

namespace autofinity::sim {

void Tasks::add(std::uint32_t unit) {
    const std::uint32_t instance = program_.units[unit].instance;
    Queue& queue = now_.queues[instance];
    if (queue.first == queue.created.size()) now_.instances.push_back(instance);
    queue.created.push_back(unit);
    ++queue.unfinished;
}

std::uint32_t Tasks::take(std::uint32_t stream) {
    for (const std::uint32_t instance : now_.instances) {
        if (!program_.instances[instance].takers[stream]) continue;
        Queue& queue = now_.queues[instance];
        const std::uint32_t unit = queue.created[queue.first++];
        if (queue.first == queue.created.size()) {
            queue.created.clear();
            queue.first = 0;
            std::erase(now_.instances, instance);
        }
        return unit;
    }
    return no_token;
}

void Tasks::forget(const Process& process) {
    for (std::uint32_t i = process.first_instance; i < process.first_instance + process.instances;
         ++i) {
        now_.queues[i] = {};
        std::erase(now_.instances, i);
    }
}

}  // namespace autofinity::sim
