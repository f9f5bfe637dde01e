// Makes threads that rest, in one of these ways: makers java|waves|exec
//   java   the first thread makes one that prints how many CPUs it may use, and makes the others:
//          two, and one more as soon as somebody has bound it
//   waves  two threads, that end after a tenth of a second; then two more, and a line
//   exec   of two threads one becomes another program as soon as somebody has bound it; that one
//          prints how many CPUs it may use
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOON_US = 100000 };

static int all;

static int cpus(void) {
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    return CPU_COUNT(&mask);
}

static void print_cpus(void) {
    usleep(SOON_US);
    printf("%d\n", cpus());
    fflush(stdout);
}

static void* rest(void* unused) {
    (void)unused;
    while (1) pause();
}

static void* rest_soon(void* unused) {
    usleep(SOON_US);
    return unused;
}

static pthread_t made(void* (*what)(void*)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, what, NULL) != 0) exit(1);
    return thread;
}

static void* make(void* unused) {
    print_cpus();
    made(rest);
    made(rest);
    while (cpus() == all) usleep(1000);
    made(rest);
    return rest(unused);
}

static void* become(void* unused) {
    while (cpus() == all) usleep(1);
    execl("/proc/self/exe", "makers", "count", (char*)NULL);
    return unused;
}

int main(int argc, char** argv) {
    const char* way = argc > 1 ? argv[1] : "";
    all = cpus();
    if (strcmp(way, "java") == 0) {
        made(make);
    } else if (strcmp(way, "waves") == 0) {
        pthread_t first = made(rest_soon), second = made(rest_soon);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        usleep(SOON_US);
        made(rest);
        made(rest);
        print_cpus();
    } else if (strcmp(way, "exec") == 0) {
        made(rest);
        made(become);
    } else if (strcmp(way, "count") == 0) {
        print_cpus();
    }
    rest(NULL);
}
