// `autofinity`: `run` is handled here and becomes the application; all else is Python's.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan.h"

// Python turns Ctrl-C into an exception, and a traceback, from its first step on. So the signal
// waits until the command line can take it (`autofinity/__main__.py`), unless our caller holds it
// anyway.
static void hold_interrupt(void) {
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    if (sigprocmask(SIG_BLOCK, &interrupt, &before) == 0 && !sigismember(&before, SIGINT)) {
        setenv("AUTOFINITY_SIGINT", "held", 1);
    }
}

static int become_python(char** argv) {
    static Python python;
    find_python(&python);
    int argc = 0, used = 0;
    while (argv[argc]) argc++;
    const char** command = calloc((size_t)argc + PYTHON_WORDS, sizeof *command);
    if (!command) return 1;
    if (python.interpreter[0]) {
        python_command(&python, "autofinity", true, command);
        while (command[used]) used++;
        memcpy(command + used, argv + 1, (size_t)argc * sizeof *argv);
        hold_interrupt();
        execve(command[0], (char* const*)command, python_environment(&python, false, NULL));
    }
    if (python.script[0]) execv(python.script, argv);  // it may know the command
    say_init(false);
    say("no Python to run this command: expected autofinity-cli or python3 beside this executable, "
        "or AUTOFINITY_PYTHON to name an interpreter; reinstall autofinity");
    return 1;
}

static void tell_why_alone(void* what) {
    const Plan* plan = what;
    say_init(plan->options->quiet);
    say("no monitor: %s", plan->reason);
}

static void tell_bluntly(void* what) {
    const Plan* plan = what;
    if (!plan->options->quiet) say_bluntly("no monitor: %s", plan->reason);
}

// Sets everything up; where that is impossible, the application runs alone.
static void set_up(Plan* plan) {
    int killed_by;
    AsideEnd end = find_orphans_home(&plan->adopts, &killed_by);
    if (end == ASIDE_DONE) end = run_aside(prepare, plan, &killed_by);
    if (end == ASIDE_DONE) return;
    explain_aside(end, killed_by, plan->reason);
    end = run_aside(tell_why_alone, plan, &killed_by);
    if (end == ASIDE_DIED) run_aside(tell_bluntly, plan, &killed_by);
    if (end == ASIDE_NONE) tell_why_alone(plan);  // no child could do this
}

static int run(int argc, char** argv) {
    static Options options;
    static Plan plan;
    int code = parse_options(argc, argv, &options);
    if (code >= 0) return code;
    plan.options = &options;
    const char* quiet = getenv("AUTOFINITY_QUIET");
    if (quiet && *quiet && strcmp(quiet, "0") != 0) options.quiet = true;
    const char* fallback = getenv("AUTOFINITY_FALLBACK");
    if (!options.fallback && !options.hint && policy_decides(&options) && fallback && *fallback) {
        options.fallback = hint_letters(fallback);
        if (!options.fallback) plan.wrong_fallback = fallback;
    }
    plan.application = getpid();
    if (options.dry_run) {
        prepare(&plan);
        // else it would have become Python
        const char* why = !program_exists(options.app[0]) ? ": it is not found"
                          : !program_runs(options.app[0]) ? ": it cannot be executed"
                                                          : ", for the reason above";
        say("dry run: nothing is known of %s%s", options.app[0], why);
        return 1;
    }
    set_up(&plan);
    execvp(options.app[0], options.app);
    int error = errno;
    // A folder of PATH without read permission makes exec report "not permitted" for a program that
    // exists nowhere.
    if (error == EACCES && !strchr(options.app[0], '/') && !program_exists(options.app[0])) {
        error = ENOENT;
    }
    say_init(false);
    say("cannot run %s: %s", options.app[0], strerror(error));
    return error == ENOENT ? 127 : 126;
}

int main(int argc, char** argv) {
    if (argc >= 2 && strcmp(argv[1], "run") == 0) return run(argc - 2, argv + 2);
    return become_python(argv);
}
