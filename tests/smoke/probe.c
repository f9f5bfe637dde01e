// Says what a program can find out about how it was started. Arguments after the first are printed
// as bytes; the first is how many milliseconds to live before asking for children.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_file(const char* path, const char* const* prefixes) {
    FILE* file = fopen(path, "r");
    char line[512];
    while (file && fgets(line, sizeof line, file)) {
        for (const char* const* prefix = prefixes; *prefix; prefix++) {
            if (strncmp(line, *prefix, strlen(*prefix)) == 0) fputs(line, stdout);
        }
    }
    if (file) fclose(file);
}

int main(int argc, char** argv) {
    for (int i = 2; i < argc; i++) {
        printf("argument ");
        for (const unsigned char* p = (unsigned char*)argv[i]; *p; p++) printf("%02x", *p);
        printf("\n");
    }
    char path[4096];
    DIR* folder = opendir("/proc/self/fd");
    for (struct dirent* entry; (entry = readdir(folder));) {
        char name[64];
        snprintf(name, sizeof name, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(name, path, sizeof path - 1);
        if (length < 0 || atoi(entry->d_name) == dirfd(folder)) continue;
        path[strcspn(path, ":[0123456789") < (size_t)length ? strcspn(path, "[0123456789")
                                                            : length] = 0;
        printf("fd %s %s\n", entry->d_name, path);
    }
    closedir(folder);
    printf("cwd %s\n", getcwd(path, sizeof path));
    mode_t mask = umask(0);
    printf("umask %o\n", (unsigned)mask);
    printf("group %d session %d parent %d\n", getpgrp() == getpid(), getsid(0), getppid());
    int subreaper = 0, deathsig = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    prctl(PR_GET_PDEATHSIG, &deathsig);
    printf("subreaper %d deathsig %d dumpable %d\n", subreaper, deathsig, prctl(PR_GET_DUMPABLE));
    static const char* const status[] = {"SigPnd",  "ShdPnd",  "SigBlk",
                                         "SigIgn",  "SigCgt",  "Uid",
                                         "Gid",     "NoNewPr", "Cpus_allowed_list",
                                         "Threads", NULL};
    print_file("/proc/self/status", status);
    static const char* const limits[] = {"Max ", NULL};
    print_file("/proc/self/limits", limits);
    static const char* const any[] = {"", NULL};
    printf("oom ");
    fflush(stdout);
    print_file("/proc/self/oom_score_adj", any);
    fflush(stdout);
    usleep((useconds_t)(argc > 1 ? atoi(argv[1]) : 0) * 1000);
    int child = waitpid(-1, NULL, WNOHANG);
    printf("waitpid %d %s\n", child, child < 0 ? strerror(errno) : "");
    return 0;
}
