// The launcher: `autofinity run` becomes the application, every other command becomes Python.
//
//   main ─► options ─► aside: a child that may die of what is forbidden here
//            │           ├─► program (which file, its key)
//            │           ├─► policy_file (digest, version)            all of it optional: whatever
//            │           ├─► decisions (is the answer known already?)  fails here, the application
//            runs │           ├─► python (who runs the monitor?) │           ├─► monitor (detached;
//            attach opens its counters) │           └─► say (one line on stderr) └─► execvp
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

enum { DIGEST_CHARS = 64, MACHINE_CHARS = 16, REASON_CHARS = 400, CPU_LIMIT = 65536 };

// ---- options ------------------------------------------------------------------------------------
typedef struct {
    const char* policy;     // as given, or NULL
    const char* db;         // as given, or NULL for the state folder
    const char* sample_s;   // as given, checked to be a positive number; NULL for the default
    const char* every_s;    // as --sample-s; NULL: not in continuous mode
    const char* bind;       // "llc" or "core"
    const char* mechanism;  // who decides, one of mechanism_lists.h
    const char* hint;       // that the user asks for, instead of any decision; or NULL
    const char* fallback;   // hint where nothing can be measured, or there is no policy; or NULL
    int threads;            // 0: not given
    bool use_db, bind_threads, migrate_pages, arm, explain, quiet, auto_rebuild, dry_run;
    char** app;  // argv of the application, NULL-terminated
} Options;

// Spread over sockets, spread over last-level caches, sockets first: capitals are true.
// ---- hints --------------------------------------------------------------------------------------
// Letters and name of each, in the documented order.
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
// The letters of what a user wrote: these, or the name in any case. NULL: no hint.
const char* hint_letters(const char* text);
// Name and letters, as people are shown a hint; valid until the next call.
const char* hint_shown(const char* letters);

// Whether the policy alone decides, not who shares with whom.
bool policy_decides(const Options* options);

// Parses what follows `run`. Returns -1 to go on, else the exit code (help: 0, usage error: 2).
int parse_options(int argc, char** argv, Options* out);

// ---- aside --------------------------------------------------------------------------------------
typedef enum { ASIDE_DONE, ASIDE_DIED, ASIDE_NONE } AsideEnd;  // NONE: no child could be made
// Runs `work` in a child and sleeps until it has ended. The number of the signal it died of; 0: it
// did not, or nobody could tell.
AsideEnd run_aside(void (*work)(void*), void* with, int* signal_number);
// In a child: what it tries now, for the line that tells of its death; NULL: nothing remarkable.
void trying(const char* step);
// Whether orphans of our children come to us (PID 1, a subreaper), which is asked where asking is
// not forbidden.
AsideEnd find_orphans_home(bool* here, int* signal_number);
// Why there is no monitor, after an end other than ASIDE_DONE.
void explain_aside(AsideEnd end, int signal_number, char out[REASON_CHARS]);

// ---- say ----------------------------------------------------------------------------------------
// Writes one line to stderr, prefixed "autofinity: ". Never blocks, never raises a signal, never
// uses stderr when it is closed or when something else may have taken its number.
void say_init(bool quiet);
// Names of programs and arguments may hold what a terminal obeys; nothing of it is left.
void make_plain(char* text, size_t bytes);
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
// For a child whose like has died of what `say` takes: it may die, too, of what it writes to, or of
// an alarm when that takes a second.
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
// Finds the file like execvp and makes its key. False: not found (exec will say so itself), or
// there is no key, which has been said.
bool find_program(char* const* argv, Program* out);
// Whether execvp would find a file of that name, whether or not it may run.
bool program_exists(const char* name);

// Thread count that the environment promises (OMP_NUM_THREADS and its kin); 0: no promise.
int threads_from_environment(void);

// ---- policy file --------------------------------------------------------------------------------
// What the conditions of a policy's rules look at, as far as its counters tell.
enum Asks { ASKS_NOTHING, ASKS_SOFTWARE, ASKS_HARDWARE };
// Digest of the file's bytes, and what it asks for, after a check that it can be read and names a
// version that we know. False: `reason` says what was got.
bool check_policy_file(const char* path, char digest[DIGEST_CHARS + 1], enum Asks* asks,
                       char reason[REASON_CHARS]);

// ---- CPU sets -----------------------------------------------------------------------------------
typedef struct {
    unsigned long words[CPU_LIMIT / (8 * sizeof(unsigned long))];
} CpuSet;
bool cpuset_has(const CpuSet* set, int cpu);
bool cpuset_get(CpuSet* out);                   // what this process may use now
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
// The first CPU's name in /proc/cpuinfo (AUTOFINITY_CPUINFO), single-spaced, or what Arm has in its
// place, "IMPLEMENTER PART"; empty where it says neither.
void cpu_model(char out[MODEL_CHARS]);
typedef struct {
    int sockets, nodes, llcs_per_socket, cores_per_llc;
} Shape;
// Of the whole machine; false: one part of it is not like another.
bool machine_shape(Shape* out);
// Whether the CPUs of this set that run are of one last-level cache and one kind.
bool nothing_to_choose(const CpuSet* allowed);
// Whether the kernel takes pages away now and then, so that they fault again.
bool hinting_is_on(void);
// Names this kind of machine: hexadecimal digits, the same on all nodes that are built alike.
void machine_key(char out[MACHINE_CHARS + 1]);

// ---- private files ------------------------------------------------------------------------------
// Whether nobody else can have written a file, or put one into a folder; else the reason, after
// the words `before`. What is not there, nobody has written.
bool file_is_ours(const char* path, const char* before, char reason[REASON_CHARS]);
bool folder_is_ours(const char* path, char reason[REASON_CHARS]);
// A file of ours beside the database as text, to be freed; NULL when it is missing, does not begin
// with `head`, or others could have chosen masks by it.
char* read_private(const char* path, const char* head);

// ---- state folder, decision cache ---------------------------------------------------------------
typedef struct {
    char db[PATH_MAX];         // behaviour database, absolute; empty: no state folder can be named
    char decisions[PATH_MAX];  // decision cache, beside it
    char claims[PATH_MAX];     // cores of other runs, beside it
} State;
void find_state(const Options* options, State* out);
// A database that others can write, whose header is damaged, from a newer version or not writable:
// false and the reason.
bool check_database(const State* state, char reason[REASON_CHARS]);

typedef struct {
    char hint[4];
    char list[4096];
    CpuSet set;
} Known;
// Looks the program up. Only a decision of this very policy on this kind of machine for the CPUs
// allowed now counts.
bool find_decision(const State* state, const char* key, int threads, const char* policy_digest,
                   const char* bind, const CpuSet* allowed, Known* out);

// Whether a live run holds one of these CPUs.
bool claimed_by_others(const State* state, const CpuSet* set);

// ---- Python -------------------------------------------------------------------------------------
typedef struct {
    char interpreter[PATH_MAX];  // empty: none found
    char script[PATH_MAX];       // `autofinity-cli` beside us; empty: not installed
    char package[PATH_MAX];      // folder of the package; empty: not found, Python may know it
} Python;
void find_python(Python* out);
enum { PYTHON_WORDS = 6 };
// The words that make `module` of the package the program of our Python, NULL-terminated: isolated
// from the variables and folders of the application, found by our own path.
void python_command(const Python* python, const char* module, bool compile,
                    const char* words[PYTHON_WORDS]);
// Environment of Python: the application's, with what would steer the interpreter, its libraries or
// its allocator set aside. `autofinity/own_python.py` gives it back.
char** python_environment(const Python* python, bool small);

// ---- which policy -------------------------------------------------------------------------------
typedef struct {
    char path[PATH_MAX];  // empty: there is none
    const char* origin;   // who chose it, for people
} PolicyChoice;
// The policy of a run whose user says `wish` (a file or the name of a shipped one; NULL: nothing).
// False: what is named is nowhere, for the reason.
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
// errno with which hardware counting is refused to everybody here; 0: it is worth trying. Costs
// microseconds and sets nothing up.
int hardware_refusal(void);
// Whether a PMU that samples memory is in this folder of PMUs.
bool has_memory_pmu(const char* devices);
// Opens counters on `pid` (inherited by its threads and children, enabled by its exec), unless
// `refusal` says that this cannot be.
void attach(pid_t pid, int refusal, Attached* out, Counters* counters);
void detach(Counters* counters);
// One clause for each step down, for the line on stderr.
void explain_ladder(const Attached* attached, char* out, size_t size);

// ---- monitor ------------------------------------------------------------------------------------
typedef struct {
    const Options* options;
    const Program* program;
    const Python* python;
    const State* state;   // NULL: without a database
    const char* policy;   // absolute path; NULL: nothing is decided
    const char* origin;   // who chose it
    const char* bound;    // CPU list bound before exec, or NULL
    const char* allowed;  // CPU list allowed before anything was bound
    int threads;          // 0: watch
    pid_t application;    // the process that becomes it
    bool adopts;          // it gets the orphans of its children
} MonitorRequest;
// Starts the monitor, from a child of the application's process. True: it runs, and `attached` says
// what it can see (tier -1: it did not answer within its time). False: `reason` says why there is
// none.
bool start_monitor(const MonitorRequest* request, Attached* attached, char reason[REASON_CHARS]);
// Becomes Python, which prints what the run would do. Returns only when that is impossible.
void become_dry_run(const MonitorRequest* request);
