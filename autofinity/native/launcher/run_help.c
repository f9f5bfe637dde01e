// The help of `autofinity run`.
#include <stdio.h>

#include "launcher.h"
#include "mechanism_lists.h"

static const char HELP[] =
    "Usage: autofinity run [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
    "\n"
    "Run PROGRAM under a policy. PROGRAM replaces this command (same process, exit\n"
    "code, signals and streams); a monitor beside it samples the threads, asks the\n"
    "policy and binds them.\n"
    "\n"
    "Options:\n"
    "  --policy POLICY   policy to use: a file, or the name of a shipped one\n"
    "                    (default: AUTOFINITY_POLICY, else the user's own,\n"
    "                    autofinity/policy.json in the configuration folder, else\n"
    "                    the shipped one of this machine or for any machine)\n"
    "  --hint HINT       place by this hint as soon as the threads compute, without\n"
    "                    a sample or a policy: spread, packed and so on, or letters\n"
    "                    such as sLP (see `autofinity hints`)\n"
    "  -t, --threads N   computing threads of PROGRAM (default: OMP_NUM_THREADS or a\n"
    "                    variable like it, else the threads observed to compute)\n"
    "  --bind HOW        llc: bind each thread to the CPUs of a last-level cache\n"
    "                    (default); core: to one CPU; none: measure and decide only\n"
    "  --near DEVICE     place threads near a device that they drive: gpu0, eth0,\n"
    "                    nvme0, a PCI address (see `autofinity topology`); every\n"
    "                    hint keeps its meaning\n"
    "  --every S         check PROGRAM every S seconds; sample and decide again when\n"
    "                    it has changed\n"
    "  --dry-run         start nothing; print what would be done, and the CPUs of\n"
    "                    each thread for each hint\n"
    "  --json            with --dry-run: print one JSON document\n"
    "  --explain         print more before PROGRAM starts (also --verbose)\n"
    "  --quiet           print nothing\n"
    "  --help            print this text\n"
    "  --help-all        print all options\n";
static const char MORE_HELP[] =
    "\n"
    "More options:\n"
    "  --fallback HINT   place by this hint where no counter of the policy can be\n"
    "                    measured, or there is no policy (default:\n"
    "                    AUTOFINITY_FALLBACK, else threads stay where the system\n"
    "                    puts them)\n"
    "  --period LENGTH   usual length of a sample, such as 300ms (default 1s)\n"
    "  --mechanism NAME  place by the policy, by sharing between threads, or by "
    "both\n" MECHANISM_HELP
    "  --migrate-pages   migrate pages to the threads that use them (with a\n"
    "                    --mechanism)\n"
    "  --keep-pages      place threads only: no page moves, not even for a look\n"
    "  --arm             switch on kernel.numa_balancing while PROGRAM runs, so that\n"
    "                    pages fault again; needs root; system-wide, and restored in\n"
    "                    any case\n"
    "  --db FILE         behaviour database (default: autofinity/behaviour.db in the\n"
    "                    state folder)\n"
    "  --db URL          site's database, postgresql://USER@HOST:PORT/DATABASE: gets\n"
    "                    the run from the behaviour database when PROGRAM has ended\n"
    "                    (default: AUTOFINITY_SITE_DB, unless --db FILE is given)\n"
    "  --no-db           neither read nor write the behaviour database\n"
    "  --auto-rebuild    when PROGRAM has ended and enough new samples are recorded,\n"
    "                    retrain the user's policy in the background (as `autofinity\n"
    "                    rebuild --if-due`)\n";
static const char AROUND_HELP[] =
    "\n"
    "Environment: AUTOFINITY_POLICY, a policy; AUTOFINITY_FALLBACK, a hint;\n"
    "AUTOFINITY_QUIET=1, as --quiet; AUTOFINITY_SITE_DB, URL of a site's database;\n"
    "AUTOFINITY_PYTHON, the monitor's interpreter; AUTOFINITY_SYSFS and\n"
    "AUTOFINITY_CPUINFO, the sysfs tree and /proc/cpuinfo of another machine, for\n"
    "tests.\n";
static const char END_OF_HELP[] =
    "\n"
    "`autofinity status` shows decisions, `autofinity explain last` shows their\n"
    "reasons and, while PROGRAM runs, the place of each thread, `autofinity doctor`\n"
    "shows what this machine can measure. Exit codes of `run` itself: 2 wrong use,\n"
    "126 PROGRAM may not run, 127 PROGRAM not found.\n";

int run_help(bool all) {
    bool lost = fputs(HELP, stdout) == EOF;
    if (all) lost = fputs(MORE_HELP, stdout) == EOF || fputs(AROUND_HELP, stdout) == EOF || lost;
    return fputs(END_OF_HELP, stdout) == EOF || lost || fflush(stdout) == EOF ? 1 : 0;
}
