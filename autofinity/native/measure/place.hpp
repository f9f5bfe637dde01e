// CPU and memory of a measurement.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>

namespace autofinity::measure {

// A CPU or a node that may not be used, or memory that is not available. The message names it and
// the reason.
struct PlaceError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class Pages { small, large };

inline constexpr int any_node = -1;
inline constexpr std::size_t line_bytes = 64;

// Memory of one node (`any_node`: the node that touches it first), all pages touched. Large pages
// are requested, not guaranteed.
class Buffer {
  public:
    Buffer(std::size_t bytes, int node, Pages pages);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer();
    std::byte* data() const { return data_; }
    std::size_t size() const { return bytes_; }

  private:
    std::byte* data_;
    std::size_t bytes_;
};

// Binds the calling thread to one CPU.
void pin(int cpu);

// Runs `work` in a thread of its own on `cpu`; its exception, if any, is thrown here.
void on_cpu(int cpu, const std::function<void()>& work);

inline double now_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(since).count();
}

}  // namespace autofinity::measure
