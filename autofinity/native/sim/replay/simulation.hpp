// Replays a program on a machine: cores in simulated-time order, synchronisation, run queues,
// samples. A program may be several processes, which begin at times of their own.
//
// Order. Every PU that has something to run is due at some time. The earliest one runs until it
// comes to what is due after the second, or touches what others wait for: all that happens, happens
// in the order of time. With a `skew`, for experiments, cores may run ahead of the second by as
// much.
//
// Bursts. A step stands for several accesses to one line over a span of instructions. All are
// carried out at once; when another core takes the line before the span is over, what was not due
// yet is taken back and replayed later (`Deferred`), so false sharing shows every transfer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "due_pus.hpp"
#include "options.hpp"
#include "pu.hpp"
#include "sim/detectors/detection.hpp"
#include "sim/memory/memory.hpp"
#include "sim/threads/os_scheduler.hpp"
#include "sim/threads/waiting.hpp"
#include "stream.hpp"

namespace autofinity::sim {

struct Sample {
    Ticks start = 0, end = 0;    // since the region began
    double progress = 0;         // share of its instructions that are done at `end`
    std::vector<Counts> counts;  // of each stream, since the previous sample
};

class Simulation {
  public:
    // `machine` and `program` are shared by any number of simulations and never changed.
    Simulation(std::shared_ptr<const MachineModel> machine, ProgramPtr program, Options options);

    // Runs `duration` further into the region of interest; the first call replays what comes before
    // it first. Returns whether the region has ended. Throws SimulationError on a deadlock or a
    // trace that cannot be replayed.
    bool advance(Ticks duration);
    bool run() { return advance(forever); }

    bool ended() const { return ended_; }
    Ticks elapsed() const { return in_region_ ? now_ - region_start_ : 0; }
    double progress() const;
    const std::vector<Sample>& samples() const { return samples_; }
    // Counts of each stream in the region of its process.
    std::vector<Counts> totals() const;
    // Of a process: when its region began and ended (or now), since the first region began.
    struct ProcessTimes {
        Ticks begin, end;
        bool ended;
    };
    ProcessTimes times_of(std::uint32_t process) const;
    const Program& program() const { return *program_; }
    const MachineModel& machine() const { return *machine_; }

    // Between two calls of advance. Unless it is to `stay`, an operating system may take the stream
    // from there again.
    void bind(std::uint32_t stream, std::uint32_t pu, bool stay);
    std::uint32_t pu_of(std::uint32_t stream) const { return streams_[stream].pu; }
    // Returns what it costs who moves it, in ticks: 0 when the page is there already or not yet
    // touched. Threads on cores that had its translation pay for the interrupt themselves.
    Ticks move_page(std::uint32_t process, std::uint64_t virtual_page, std::uint32_t node);
    // Node of a page, or -1 while it is untouched.
    std::int64_t node_of_page(std::uint32_t process, std::uint64_t virtual_page) const;
    // Throws where caches and directory do not agree, or an access was issued after a later one.
    void check() const;

    // Detectors, and what was seen since the last call. None: nothing.
    Detection* detection() { return detection_.get(); }
    std::uint64_t virtual_page(std::uint32_t page) const { return program_->virtual_page[page]; }
    std::uint32_t node_of(std::uint32_t page) const { return memory_.node_of_page(page); }
    // What detectors, moved pages and bound threads have taken from the cores since the last call.
    OverheadTicks take_overhead() { return std::exchange(overhead_, {}); }
    // Somebody else works on the core of a stream for so long.
    void spend(std::uint32_t stream, Ticks duration);

    static constexpr Ticks forever = std::numeric_limits<Ticks>::max() / 4;

  private:
    struct ProcessRun {
        Start start;
        bool started = false, in_region = false, ended = false;
        std::uint32_t live = 0;  // streams that have not come to their end
        Ticks region_start = 0, region_end = 0;
        std::uint64_t done_before = 0;  // instructions before the region
    };
    // Where everything stood when the region began (repeats.cpp).
    struct RegionStart {
        std::vector<Stream> streams;  // of which only the position counts
        std::vector<Lock> locks;
        std::vector<Barrier> barriers;
        std::vector<Token> tokens;
        TokenWaiters token_waiters;
        std::vector<std::size_t> next_of_instance;
        std::vector<TaskQueue> tasks;
        std::vector<std::uint32_t> instances_with_tasks, idle_streams;
        std::uint32_t live;
    };

    // Scheduling. `watched`: there are detectors to be told.
    template <bool watched>
    bool run_to_target();
    template <bool watched>
    void run_pu(std::uint32_t index, Ticks horizon);
    // Takes the stream's steps until it has to wait or give way.
    template <bool watched>
    void run_steps(std::uint32_t index, Pu& p, Stream& s, Ticks horizon);
    bool attend(std::uint32_t pu, Pu& p, Stream& s, Ticks horizon);
    bool finish_gap(std::uint32_t pu, Pu& p, Stream& s, Ticks horizon);
    // False when the PU must give way; all for access steps, before they are carried out.
    template <bool watched>
    bool take_step(std::uint32_t pu, Pu& p, Stream& s, const Step& step, std::uint64_t issue,
                   Ticks at, Ticks horizon);
    // An access that may leave the fast path; false when its turn has not come.
    template <bool watched>
    bool access_slowly(Pu& p, Stream& s, const Step& step, std::uint64_t issue, Ticks at,
                       Ticks horizon, std::uint32_t next_gap);
    // The same, where it happens seldom.
    bool slow_access(Pu& p, Stream& s, const Step& step, std::uint64_t issue, Ticks at,
                     Ticks horizon, std::uint32_t next_gap);
    Ticks buffer_free(Pu& p, const Step& step, Ticks at);
    static Ticks all_done(const Pu& p, Ticks at);
    static Ticks carried_out(const Pu& p, const Step& step, Ticks at);
    static bool must_wait(const Pu& p, Ticks at, Ticks free, Ticks horizon);
    bool put_off(Pu& p, Ticks at, Ticks free);
    static void forget_oldest_miss(Pu& p);
    Ticks wait_for_oldest_miss(Pu& p, Stream& s, Ticks at);
    void overlap(Pu& p, Stream& s, Ticks ready);
    // Carries a synchronisation step out; false when the PU must give way.
    bool synchronise(std::uint32_t pu, Stream& s, const Step& step);
    // Processes.
    void start_process(std::uint32_t process, Ticks at);
    void start_due_processes(Ticks at);
    void start_stream(std::uint32_t stream, Ticks at);
    void retire(std::uint32_t process, Ticks at);
    void forget(std::uint32_t process);
    void take_off(std::uint32_t process, Ticks at);
    void remember_start();
    void begin_again(Ticks at);
    bool stuck() const;
    void order_anew();

    // Operating system.
    OsScheduler::Loads loads() const;
    void place(Stream& s, bool slept);
    bool pull_to(std::uint32_t pu);
    void take_over(Stream& s, std::uint32_t pu, Ticks at);
    void os_events(Ticks at);
    void carry_out(const OsScheduler::Move& wanted, Ticks at);
    std::uint32_t slot_for(std::uint32_t core);

    bool take_lock(std::uint32_t pu, Stream& s, const Step& step);
    void hold(Lock& lock, const Stream& s);
    void pass_on(Lock& lock, Ticks at);
    // The lock step that the stream has just taken, or waits in.
    static bool reads_lock(const Stream& s) { return s.at[-1].with_readers(); }
    void release_lock(Pu& p, Stream& s, const Step& step);
    bool arrive(std::uint32_t pu, Stream& s, const Step& step);
    void post(const Pu& p, std::uint32_t token);
    bool await(std::uint32_t pu, Stream& s, std::uint32_t token);
    void drain(Pu& p, Stream& s);
    void compute_until(Pu& p, Stream& s, Ticks until);
    void set_watch(Pu& p, const Stream& s);
    void split_lost_bursts(Ticks now);
    void take_back_from(std::uint32_t pu, const Lost& lost, Ticks now);
    static bool bursts_over(const Stream& v) { return v.bursts_end <= v.instructions; }
    static std::uint64_t position(const Pu& p, const Stream& v, Ticks now);
    std::uint64_t take_back(Stream& v, const Lost& lost, std::uint64_t here);
    void remember_burst(Stream& s, const Step& step, std::uint64_t at) {
        any_bursts_ = true;
        const std::uint32_t place = s.next_open;
        s.next_open = (place + 1) % open_bursts;
        s.open[place] = {at, step};
        s.bursts_end = std::max(s.bursts_end, at + step.span());
    }
    void touch_sync_line(Pu& p, Stream& s, Line line, bool write);

    void block(std::uint32_t pu, Stream& s);
    void see_token(Pu& p, Stream& s, const Token& token);
    void wake(std::uint32_t stream, Ticks at);
    void give_pu(std::uint32_t pu);
    void queue_on(std::uint32_t pu, std::uint32_t number, Ticks now);
    void enqueue(std::uint32_t stream, Ticks at);
    void assign(Stream& s, std::uint32_t pu);
    void move(std::uint32_t stream, std::uint32_t pu, Ticks at);
    void start_on(std::uint32_t pu, std::uint32_t stream);
    void finish(std::uint32_t pu, Stream& s);
    // Work units (tasks, loop chunks). A unit that waits is put aside and the stream goes on with
    // another one, or with one put aside earlier.
    bool reach_units(std::uint32_t pu, Stream& s, const Unit& own);
    bool choose(std::uint32_t pu, Stream& s);
    bool may_resume(const Frame& frame) const;
    void resume_frame(std::uint32_t pu, Stream& s, std::size_t index);
    void suspend(Stream& s, Until until, std::uint32_t object, std::uint32_t generation = 0);
    bool unit_left(std::uint32_t instance) const;
    void begin_chunk(Stream& s);
    void begin_unit(Stream& s, const Unit& unit);
    MovedSteps moved_steps(const Stream& s, const Unit& unit) const;
    // Place of a position among the steps of its source, which is the number of its event.
    template <typename At>
    static std::ptrdiff_t place_of(const At& position) {
        return position.at - position.begin + position.begin_at;
    }
    // Tasks: created by a post, taken by whoever of the team waits, oldest first.
    void offer_task(std::uint32_t unit, Ticks at);
    bool take_task(Stream& s);
    void end_task(const Unit& unit, Ticks at);
    void release_if_complete(std::uint32_t barrier, Ticks at);
    // Hardware threads of one core (siblings.cpp).
    struct Turn {
        Ticks until;   // when a sibling's turn comes, or one begins to issue again
        Ticks change;  // when the speed may change
    };
    Turn share_core(Pu& p, Stream& s, Ticks horizon);
    void tell_siblings(const Pu& p, Ticks at);
    void leave_issue(Pu& p, Ticks from, Ticks until);
    void stall(Pu& p, Stream& s, Ticks from, Ticks until) {
        s.stall_ticks += until - from;
        if (p.shares && from != until) leave_issue(p, from, until);
    }
    void interrupt(const CachedCores& slots);
    void delay(std::uint32_t pu, Ticks duration);
    // Detectors (watching.cpp).
    Actor actor(const Pu& p, const Stream& s) const {
        return detection_->actor(static_cast<std::uint32_t>(&s - streams_.data()), p.slot);
    }
    // Accesses in a row to one page that detectors have not been told of, and what the core owes.
    struct Untold {
        std::uint32_t page = 0;
        std::uint64_t accesses = 0;
        Ticks cost = 0;
    };
    void tell_accesses(const Pu& p, const Stream& s, Untold& untold);
    Ticks watch_access(const Pu& p, const Stream& s, const Step& step, const Served& served,
                       Ticks latency);
    void let_detectors_act(Ticks at);
    void charge_cores();

    // Accounting.
    void account(Stream& s, Ticks until);
    void account_all(Ticks until);
    Counts counts_of_clocks(const Stream& s, std::uint64_t done) const;
    std::uint64_t instructions_at(const Stream& s, Ticks at) const;
    Counts counts_at(const Stream& s, Ticks at) const;
    void settle_any_core(Stream& s);
    void settle_clocks(Stream& s);
    const CoreClass& kind_of(const Stream& s) const { return *pus_[s.pu].kind; }
    void take_sample(Ticks at);
    void take_last_sample(Ticks at);
    Counts since_sample(Stream& s, Ticks at);
    Counts counts_of_region(const Stream& s) const;
    void begin_region(std::uint32_t process, Ticks at);
    void end_region(std::uint32_t process, Ticks at);
    const Process& streams_of(std::uint32_t process) const { return program_->processes[process]; }
    void set_stop();
    std::string where(const Stream& s) const { return where(s, s.source, place_of(s) - 1); }
    std::string where(const Stream& s, std::uint32_t source, std::ptrdiff_t step) const;
    std::string what_blocks(const Stream& s) const;
    std::string poster_of(std::uint32_t token) const;
    [[noreturn]] void deadlock() const;
    std::uint32_t number_of(const Stream& s) const {
        return static_cast<std::uint32_t>(&s - streams_.data());
    }

    std::shared_ptr<const MachineModel> machine_;
    ProgramPtr program_;
    Options options_;
    Memory memory_;
    OverheadTicks overhead_;
    std::unique_ptr<Detection> detection_;  // while anybody watches
    std::vector<Stream> streams_;
    std::vector<Pu> pus_;
    std::vector<std::vector<std::uint32_t>> pus_of_slot_;
    DuePus due_;
    std::vector<Lock> locks_;
    std::vector<Barrier> barriers_;
    std::vector<Token> tokens_;
    TokenWaiters token_waiters_;
    std::vector<std::size_t> next_of_instance_;
    std::vector<TaskQueue> tasks_;                     // by instance
    std::vector<std::uint32_t> instances_with_tasks_;  // that somebody could take
    std::vector<std::uint32_t> idle_streams_;          // that wait and could take a task
    std::vector<ProcessRun> runs_;
    std::vector<std::uint32_t> retiring_;  // processes whose region has ended
    std::uint32_t not_ended_ = 0;
    std::uint32_t repeats_left_ = 0;
    std::unique_ptr<RegionStart> region_began_;  // none: the region runs once
    std::unique_ptr<OsScheduler> os_;            // none: streams are bound
    std::uint32_t waker_ = nobody;               // PU whose turn it is
    std::uint64_t balance_tick_ = 0;
    Ticks next_balance_ = forever, next_daemon_ = forever;
    // When a page was last moved, and how long the first line of the first one then took.
    Ticks moved_at_ = forever, first_line_ = 0;

    bool in_region_ = false, ended_ = false;
    Ticks latest_issue_ = 0;
    std::uint64_t out_of_order_ = 0;  // accesses
    std::uint32_t idle_slices_ = 0;   // slices in a row in which nothing was done
    bool any_bursts_ = false;         // so far
    bool yield_ = false;              // the running PU must let the others have a turn
    Ticks region_start_ = 0, now_ = 0;
    Ticks wanted_ = 0;  // end of the current advance, before the region is known
    Ticks target_ = forever, next_sample_ = forever, next_start_ = forever, stop_ = forever;
    Ticks next_detection_ = forever;
    std::uint32_t last_charged_ = 0;  // PU that last paid for what any could do
    Ticks last_sample_ = 0;
    std::vector<Sample> samples_;
};

}  // namespace autofinity::sim
