// The launcher: `autofinity run` becomes the application, every other command becomes Python.
//
//   main ─► options ─► aside: a child that may die of system calls that are forbidden here
//            │           └─► prepare, which fills the plan of a run (plan.h)
//            │                 ├─► program (which file, its key)
//            │                 ├─► state (the database; is the answer known?)   all of this is
//            │                 ├─► python (who runs the monitor?)               optional: where it
//            │                 ├─► policy_file (digest, version)                fails, the
//            │                 ├─► monitor (detached; attach opens its          application runs
//            │                 │            counters; creation; short_run)
//            │                 └─► report (lines on stderr, by say)
//            └─► execvp
//
// Rules of the room: no allocation that is not checked, every descriptor close-on-exec, nothing on
// stdout, no signal disposition, environment variable or working directory of the application-to-be
// is ever changed, and no system call made in its process that a child has not lived through.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { DIGEST_CHARS = 64, MACHINE_CHARS = 16, REASON_CHARS = 400, CPU_LIMIT = 65536 };

// ---- options ------------------------------------------------------------------------------------
typedef struct {
    const char* policy;     // as given, or NULL
    const char* db;         // as given, or NULL for the state folder
    const char* site;       // URL of the site's database, as given; or NULL
    const char* sample_s;   // seconds, checked to be a positive number; NULL for the default
    char period_s[32];      // what sample_s points to if --period gave it
    const char* every_s;    // as --sample-s; NULL: no continuous mode
    const char* bind;       // "llc" or "core"
    const char* mechanism;  // the mechanism that decides, one of mechanism_lists.h
    const char* hint;       // asked for by the user, instead of any decision; or NULL
    const char* near;       // device whose nodes a hint prefers; or NULL
    const char* fallback;   // hint used where nothing can be measured, or without a policy; or NULL
    int threads;            // 0: not given
    bool use_db, bind_threads, migrate_pages, keep_pages, arm, explain, quiet, auto_rebuild;
    bool dry_run, json;
    char** app;  // argv of the application, NULL-terminated
} Options;

// ---- hints --------------------------------------------------------------------------------------
// Letters and name of each hint, in the documented order. Spread over sockets, spread over
// last-level caches, sockets first: capitals are true.
#define EACH_HINT(ROW)                     \
    ROW(SLP, "spread")                     \
    ROW(SLp, "own-caches-many-sockets")    \
    ROW(SlP, "many-sockets-shared-caches") \
    ROW(Slp, "shared-caches-many-sockets") \
    ROW(sLP, "few-sockets-own-caches")     \
    ROW(sLp, "own-caches-few-sockets")     \
    ROW(slP, "few-sockets-shared-caches")  \
    ROW(slp, "packed")
#define HINT_IN_LIST(letters, name) name " (" #letters "), "
#define HINTS "a name or its letters: " EACH_HINT(HINT_IN_LIST) "as `autofinity hints` has them"
bool is_hint(const char* letters);
// The letters of a hint that a user wrote: as letters, or as a name in any case. NULL: no hint.
const char* hint_letters(const char* text);
// Name and letters of a hint, as shown to people; valid until the next call.
const char* hint_shown(const char* letters);

// Whether the policy alone decides, without sharing between threads.
bool policy_decides(const Options* options);

// Prints the help of `run`, or of all its options; the exit code: 1 where it cannot be written.
int run_help(bool all);

// Parses what follows `run`. Returns -1 to go on, else the exit code (help: 0, usage error: 2).
int parse_options(int argc, char** argv, Options* out);

// ---- site address -------------------------------------------------------------------------------
#define SITE_VARIABLE "AUTOFINITY_SITE_DB"
// Whether a text is meant as the URL of a site's database, and not as a file; NULL is not.
bool is_site(const char* text);
// Whether a text looks like a URL, but not like that of a site's database: no file is meant, and
// the text may hold a password, so that nobody shows it.
bool is_other_url(const char* text);
// A copy of the URL of a site, which may hold a password; the argument itself, which everybody can
// read as long as this process or a child of it runs, is overwritten. NULL: it is too long.
const char* taken_from_sight(char* argument);
// URL of the site's database that the finished run is sent to: of the options, else of the
// environment where no file is named; "": none.
const char* site_url(const Options* options);

// ---- aside --------------------------------------------------------------------------------------
typedef enum { ASIDE_DONE, ASIDE_DIED, ASIDE_NONE } AsideEnd;  // NONE: no child could be made
// Runs `work` in a child and sleeps until the child has ended. `signal_number`: the signal that
// killed the child; 0: none, or unknown.
AsideEnd run_aside(void (*work)(void*), void* with, int* signal_number);
// In a child: names the step that it tries now, for the message about its death; NULL: no step
// worth a message.
void trying(const char* step);
// Whether orphans of our children become our children (PID 1, a subreaper). The kernel is asked
// only where asking is not forbidden.
AsideEnd find_orphans_home(bool* here, int* signal_number);
// The reason why there is no monitor, after an end other than ASIDE_DONE.
void explain_aside(AsideEnd end, int signal_number, char out[REASON_CHARS]);

// ---- say ----------------------------------------------------------------------------------------
// Writes one line to stderr, prefixed "autofinity: ". Never blocks, never raises a signal, never
// uses stderr when it is closed or when something else may have taken its number.
void say_init(bool quiet);
// Removes everything from `text` that a terminal would obey: names of programs and arguments may
// hold such characters.
void make_plain(char* text, size_t bytes);
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Prints from a child after another child has died of a system call that `say` makes: this child
// may die, too, when it writes, or of an alarm when that takes a second.
void say_bluntly(const char* format, ...) __attribute__((format(printf, 1, 2)));

// ---- sha256 -------------------------------------------------------------------------------------
typedef struct {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
    size_t used;
} Sha256;
void sha256_init(Sha256* hash);
void sha256_add(Sha256* hash, const void* data, size_t bytes);
void sha256_hex(Sha256* hash, char out[DIGEST_CHARS + 1]);

// ---- program ------------------------------------------------------------------------------------
typedef struct {
    char path[PATH_MAX];         // real path of the file that exec will run
    char key[DIGEST_CHARS + 1];  // names this version of the program in the behaviour database
    bool privileged;             // setuid, setgid, file capabilities or unreadable: leave alone
} Program;
// Finds the file as execvp does and makes its key. False: there is no such file (exec will print so
// itself), or there is no key, which has been printed.
bool find_program(char* const* argv, Program* out);
// Whether execvp would find a file of that name, executable or not.
bool program_exists(const char* name);
// Whether it may be executed, too.
bool program_runs(const char* name);

// Thread count that the environment sets (OMP_NUM_THREADS and the like); 0: none.
int threads_from_environment(void);

// ---- ranks --------------------------------------------------------------------------------------
typedef struct {
    const char* launcher;  // NULL: this is no rank of an MPI program
    int ranks, rank;       // on this node; ranks count from 0
} LocalRank;
// Reads the variables of MPI launchers; values that make no sense are ignored.
void find_local_rank(LocalRank* out);

// ---- policy file --------------------------------------------------------------------------------
// The counters that a policy's conditions use.
enum Asks { ASKS_NOTHING, ASKS_SOFTWARE, ASKS_HARDWARE };
// (policy_whole) The line at which a text, list or object of a policy does not end, or ends
// wrongly; 0: it is whole.
int broken_line(const char* content, size_t bytes);
// Digest of the file's bytes, and the counters that it asks for, after a check that the file can be
// read, has a known version and is whole. False: `reason` names the fault.
bool check_policy_file(const char* path, char digest[DIGEST_CHARS + 1], enum Asks* asks,
                       char reason[REASON_CHARS]);

// ---- CPU sets -----------------------------------------------------------------------------------
typedef struct {
    unsigned long words[CPU_LIMIT / (8 * sizeof(unsigned long))];
} CpuSet;
bool cpuset_has(const CpuSet* set, int cpu);
bool cpuset_get(CpuSet* out);                   // CPUs that this process may use now
bool cpuset_of_thread(pid_t tid, CpuSet* out);  // the same of a thread
bool cpuset_set(pid_t pid, const CpuSet* set);  // bind a process
bool cpuset_parse(const char* list, CpuSet* out);
int cpuset_count(const CpuSet* set);
bool cpuset_equal(const CpuSet* a, const CpuSet* b);
bool cpuset_within(const CpuSet* inner, const CpuSet* outer);
bool cpuset_overlap(const CpuSet* a, const CpuSet* b);
// Kernel list format ("0-5,12"); false when it does not fit.
bool cpuset_format(const CpuSet* set, char* out, size_t size);

// ---- this machine -------------------------------------------------------------------------------
enum { SYSFS_CHARS = 16384, MODEL_CHARS = 256 };
// The tree of the machine: AUTOFINITY_SYSFS, else /sys.
const char* sysfs_root(void);
// First line of a file of the tree; empty when it cannot be read.
void sysfs_line(const char* name, char out[SYSFS_CHARS]);
// The first CPU's name in /proc/cpuinfo (AUTOFINITY_CPUINFO), single-spaced, or Arm's "IMPLEMENTER
// PART" in its place; empty where the file has neither.
void cpu_model(char out[MODEL_CHARS]);
typedef struct {
    int sockets, nodes, llcs_per_socket, cores_per_llc;
} Shape;
// Shape of the whole machine; false: its parts are not alike.
bool machine_shape(Shape* out);
// The CPUs without those between which the kernel balances no threads (isolcpus=); all of them
// where they are all such (`Topology.balanced` in model/topology.py).
void balanced_cpus(const CpuSet* allowed, CpuSet* out);
// Why every hint gives threads on these CPUs the same affinity (runtime/evidence.py); NULL: hints
// differ.
const char* nothing_to_choose(const CpuSet* allowed);
// Whether the kernel unmaps pages now and then, so that they fault again (NUMA hinting).
bool hinting_is_on(void);
// Key of this kind of machine: hexadecimal digits, the same on all nodes that are built alike.
void machine_key(char out[MACHINE_CHARS + 1]);

// ---- devices ------------------------------------------------------------------------------------
enum { NODE_UNKNOWN = -1, NO_DEVICE = -2 };
// The kernel's number of the NUMA node that a device hangs on (`eth0`, `gpu0`, a PCI address).
int device_node(const char* name);
// Names of the devices here, as many as fit; empty where there is none.
void device_names(char* out, size_t size);

// ---- private files ------------------------------------------------------------------------------
// Whether nobody else can have written a file, or put one into a folder; else the reason, after the
// words `before`. A missing file counts as written by nobody.
bool file_is_ours(const char* path, const char* before, char reason[REASON_CHARS]);
bool folder_is_ours(const char* path, char reason[REASON_CHARS]);
// Reads a file of ours beside the database as text, to be freed. NULL when the file is missing,
// does not begin with `head`, or other users could have chosen masks by it.
char* read_private(const char* path, const char* head);

// ---- state folder, decision cache ---------------------------------------------------------------
typedef struct {
    char db[PATH_MAX];         // behaviour database, absolute; empty: no state folder can be named
    char decisions[PATH_MAX];  // decision cache, beside it
    char claims[PATH_MAX];     // cores of other runs, beside it
    char short_run[PATH_MAX];  // the latest run that was too short for a row, beside it
} State;
void find_state(const Options* options, State* out);
// Returns false and the reason for a database that others can write, that is damaged in its header,
// from a newer version or not writable.
bool check_database(const State* state, char reason[REASON_CHARS]);

typedef struct {
    char hint[4];
    char list[4096];
    CpuSet set;
    char seats[16384];  // of threads as they are created (creation); empty: none
    int seated;         // number of threads that have one
} Known;
// Looks up the program's decision. Only a decision of this very policy on this kind of machine for
// the CPUs allowed now counts.
bool find_decision(const State* state, const char* key, int threads, const char* policy_digest,
                   const char* bind, const CpuSet* allowed, Known* out);

// Looks up the seats on which an unknown program with so many threads is sampled first.
bool find_starting_seats(const State* state, int threads, const char* bind, const CpuSet* allowed,
                         Known* out);

// ---- creation -----------------------------------------------------------------------------------
// Number of threads that a text of seats is for; 0: it is none, or uses CPUs outside `within`.
int count_seats(const char* seats, const CpuSet* within);
// Mask of the thread of this number; false: it has none.
bool seat_of(const char* seats, int number, CpuSet* out);
// Whether the environment asks an OpenMP runtime to pin threads itself.
bool runtime_pins(void);
// Gives the threads of the program their masks as they are created, until there are more threads
// than masks, or nobody reads `out` any more; takes them back where threads have masks from others.
// `own`: the program's mask from its start.
void seat_threads(pid_t application, int pidfd, const Known* seats, const CpuSet* own, int out);
// Whether the program has ended by then; negative: waits for its end.
bool ended_within(int pidfd, int milliseconds);

// Whether a live run holds one of these CPUs.
bool claimed_by_others(const State* state, const CpuSet* set);

// Names a run that ended before anything could be recorded of it. Where that fails, nothing is lost
// but the name.
void keep_short_run(const State* state, const Program* program, pid_t pid);

// ---- Python -------------------------------------------------------------------------------------
typedef struct {
    char interpreter[PATH_MAX];  // empty: none found
    char script[PATH_MAX];       // `autofinity-cli` in our own folder; empty: not installed
    char package[PATH_MAX];      // folder of the package; empty: not found, Python may know it
} Python;
void find_python(Python* out);
enum { PYTHON_WORDS = 6 };
// The words of the command that runs `module` of the package in our Python, NULL-terminated:
// isolated from the variables and folders of the application, found by our own path.
void python_command(const Python* python, const char* module, bool compile,
                    const char* words[PYTHON_WORDS]);
// Environment of Python: the application's, without the variables that would steer the interpreter,
// its libraries or its allocator. `autofinity/own_python.py` restores them. `site`: value of
// SITE_VARIABLE ("": none); NULL leaves the application's.
char** python_environment(const Python* python, bool small, const char* site);

enum { FLAW_CHARS = 800 };
// (policy_flaw) Why Python does not take the file, in one line that names the file. False: Python
// does not run, or says nothing.
bool policy_flaw(const Python* python, const char* path, char out[FLAW_CHARS]);

// ---- which policy -------------------------------------------------------------------------------
typedef struct {
    char path[PATH_MAX];  // empty: there is none
    const char* origin;   // source of the choice, for people
} PolicyChoice;
// The policy of a run whose user asks for `wish` (a file or the name of a shipped policy; NULL:
// nothing). False: there is no such policy; the reason names it.
bool choose_policy(const char* wish, const Python* python, PolicyChoice* out,
                   char reason[REASON_CHARS]);

// ---- attach -------------------------------------------------------------------------------------
// Steps of the capability ladder, best first; the order is part of the monitor's arguments.
enum Tier { TIER_MEMORY, TIER_HARDWARE, TIER_SOFTWARE, TIER_FAULTS, TIER_TOPOLOGY };
const char* tier_name(int tier);

enum { MAX_EVENTS = 8 };
typedef struct {
    int32_t tier;
    int32_t hardware_errno, software_errno;  // 0: works
    int32_t memory_pmu;                      // a PMU that samples memory exists
} Attached;
typedef struct {
    int fds[MAX_EVENTS];
    const char* names[MAX_EVENTS];
    int count;
} Counters;
// errno with which the kernel refuses hardware counting to everybody here; 0: an attempt is worth
// while. Costs microseconds and sets nothing up.
int hardware_refusal(void);
// Whether this folder of PMUs has one that samples memory.
bool has_memory_pmu(const char* devices);
// Opens counters on `pid` (inherited by its threads and children, enabled by its exec), unless
// `refusal` says that this is impossible.
void attach(pid_t pid, int refusal, Attached* out, Counters* counters);
void detach(Counters* counters);
// One clause for each step down the ladder, for the line on stderr.
void explain_ladder(const Attached* attached, char* out, size_t size);

// ---- monitor ------------------------------------------------------------------------------------
typedef struct {
    const Options* options;
    const Program* program;
    const Python* python;
    const State* state;   // NULL: without a database
    const char* policy;   // absolute path; NULL: nothing is decided
    const char* origin;   // source of the choice
    const char* bound;    // CPU list bound before exec, or NULL
    const Known* seats;   // seats of threads as they are created, or NULL
    const CpuSet* own;    // mask of the program from its start
    const char* allowed;  // CPU list allowed before anything was bound
    int near_node;        // node that hints prefer; negative: none
    int threads;          // 0: unknown; the monitor watches
    LocalRank local;
    pid_t application;        // the process that becomes it
    bool adopts;              // orphans of its children become its children
    struct timespec started;  // on the clock of the day
} MonitorRequest;
// Starts the monitor, from a child of the application's process. True: the monitor runs, and
// `attached` says what it can see (tier -1: no answer within its time). False: `reason` says why
// there is no monitor.
bool start_monitor(const MonitorRequest* request, Attached* attached, char reason[REASON_CHARS]);
// Becomes Python, which prints what the run would do. Returns only when that is impossible.
void become_dry_run(const MonitorRequest* request);
