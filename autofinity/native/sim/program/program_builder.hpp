// Makes a Program from traces, one process after the other. Used by Program's constructor only.
#pragma once

#include <limits>
#include <string>
#include <unordered_set>

#include "program.hpp"

namespace autofinity::sim {

class ProgramBuilder {
  public:
    explicit ProgramBuilder(Program& program);

    void add(const trace::Trace& trace);
    void add(trace::Trace&& trace);  // the trace is empty afterwards
    // The added process is a window with this beginning (window_program.cpp).
    void begin_with(const WindowStart& start);
    // Orders the units, numbers the lines of locks and barriers, marks accesses that need no order.
    void finish();

  private:
    static constexpr unsigned process_shift = 36;  // of a page number, which has 36 bits at most
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    // First roi_begin and last roi_end of a trace; the region lies between them.
    struct Region {
        std::size_t begin_stream = none, begin = none, end_stream = none, end = none;
    };
    // A lock that is held while the stream is read: tokens awaited inside, before anything is
    // posted.
    struct OpenLock {
        std::uint32_t object, step;
        bool posted;
        std::vector<std::uint32_t> awaits;
    };
    // Dense numbers for the sparse names of a process, in order of appearance.
    class Numbering {
      public:
        explicit Numbering(std::vector<std::uint64_t>& names) : names_(names) {}
        void begin_process() { number_.clear(); }
        std::uint32_t operator()(std::uint64_t name) {
            const auto [at, added] =
                number_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
            if (added) names_.push_back(name);
            return at->second;
        }

      private:
        std::vector<std::uint64_t>& names_;
        std::unordered_map<std::uint64_t, std::uint32_t> number_;
    };
    // Position of the reader in a stream.
    struct Reader {
        std::uint32_t stream = 0;               // in the program
        std::size_t local = 0;                  // in the trace
        std::size_t event = 0;                  // under way
        std::vector<std::uint32_t> open_units;  // a task that waits may run others inside it
        std::vector<OpenLock> open_locks;
        std::unordered_map<std::uint32_t, std::uint32_t> latest;  // unit of each instance
        std::uint32_t just_posted = no_token;                     // with nothing but accesses since
        std::vector<std::uint32_t> team_tasks;  // instances whose barrier comes next
    };

    // Calls `after(stream)` when all events of a stream are known.
    template <typename After>
    void add_process(const trace::Trace& trace, After&& after);
    static Region find_region(const trace::Trace& trace);
    [[noreturn]] void fail(const Reader& r, const std::string& what) const;
    void read_stream(const trace::Trace& trace, std::size_t local);
    Step step_of(Reader& r, const trace::Event& event);
    bool marks_region(const Reader& r) const;
    Step access(const Reader& r, const trace::Event& event);
    std::uint32_t group_of_line(const Reader& r, std::uint64_t line);
    void add_warm_lines(const WindowStart& start, Beginning& beginning);
    void add_first_touches(const WindowStart& start, Beginning& beginning);
    // Functions with the dense numbers of the objects that events name.
    void open_lock(Reader& r, std::uint32_t number);
    void close_lock(Reader& r, std::uint32_t number);
    std::uint32_t token(const trace::Event& event);
    std::uint32_t post(Reader& r, const trace::Event& event);
    // `just_posted`: the token whose post came directly before.
    std::uint32_t await(Reader& r, const trace::Event& event, std::uint32_t just_posted);
    std::uint32_t begin_unit(Reader& r, const trace::Event& event);
    std::uint32_t end_unit(Reader& r);
    std::uint32_t barrier(Reader& r, const trace::Event& event);
    void run_in_place(std::uint32_t unit);
    void check_awaited() const;

    void order_units();
    void find_takers();
    void find_own_memory();
    std::vector<std::uint32_t> units_beyond_chance() const;
    void make_room_for_own_memory(std::uint32_t process, std::uint32_t lines);
    void number_objects();
    template <typename Visit>
    void each_ordered_access(Visit&& visit);

    Program& program_;
    std::vector<Region> regions_;  // of the processes
    Region region_;                // of the process under way
    std::uint32_t process_ = 0;
    Numbering lock_, barrier_, token_;
    std::unordered_map<std::uint64_t, std::uint32_t> instance_of_;
    std::vector<std::uint8_t> posted_, awaited_;      // by token
    std::unordered_set<std::uint64_t> posted_later_;  // after the region under way
    std::uint32_t groups_ = 1;               // group 0 stays unused: line 0 means an empty way
    std::vector<std::uint64_t> first_page_;  // of each group, process << 36 | page number
    std::uint64_t last_name_ = ~std::uint64_t{0};  // number of the group in the process
    std::uint32_t last_group_ = 0;
};

}  // namespace autofinity::sim
