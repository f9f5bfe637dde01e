// The decoder that the reader trusts a chunk's payload to, without the frame around it: what
// decodes must, encoded and decoded again, be the same events.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "trace/codec.h"

namespace {

constexpr std::uint32_t most_events = 4096;

std::vector<af_event> decoded(const std::uint8_t* from, const std::uint8_t* to,
                              std::uint32_t events, bool& sound) {
    auto decoder = std::make_unique_for_overwrite<af_decoder>();
    std::vector<af_event> result(events);
    sound = af_decode(decoder.get(), from, to, result.data(), events) == nullptr;
    return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::uint16_t events;
    if (size < sizeof events) return 0;
    std::memcpy(&events, data, sizeof events);
    events %= most_events;
    bool sound;
    const auto first = decoded(data + sizeof events, data + size, events, sound);
    if (!sound) return 0;

    auto encoder = std::make_unique_for_overwrite<af_encoder>();
    af_encoder_reset(encoder.get());
    for (const af_event& event : first) {
        if (af_encoder_full(encoder.get())) return 0;  // more than a chunk can be made to hold
        af_encode(encoder.get(), &event);
    }
    std::vector<std::uint8_t> coded(AF_PAYLOAD_BYTES);
    const std::uint8_t* const end = af_pack(encoder.get(), coded.data());
    const auto second = decoded(coded.data(), end, events, sound);
    if (!sound ||
        (events != 0 && std::memcmp(first.data(), second.data(), events * sizeof(af_event)) != 0))
        std::abort();
    return 0;
}
