// The functions that instrumented assembly calls. They save all registers; events that need the
// content of a register read it from af_saved. A tool that counts without recording has these
// functions, too, with its own functions behind them (scripts/tools/counted).
#ifdef __x86_64__
#include "capture/interpose/hooks.h"

// Registers that a C function may change, in the order of af_saved. The caller has saved rax, which
// holds the table, where that is needed.
#define PUSH "push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9; push %r10; push %r11;"
#define POP "pop %r11; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx;"
// Flags by way of rax: much quicker than by pushf and popf.
#define PUSH_FLAGS "lahf; seto %al; push %rax;"
#define POP_FLAGS "pop %rax; add $127, %al; sahf;"

// Calls of C functions with aligned stack. Their arguments are in rdi and rsi.
#define FRAME(bytes) "push %rbp; mov %rsp, %rbp; sub $" bytes ", %rsp; and $-64, %rsp;"
#define END_FRAME "mov %rbp, %rsp; pop %rbp;"
// The caller has saved the vector registers that it needs.
#define CALL(function) FRAME("0") "cld; call " function ";" END_FRAME
// State of the processor behind general registers: SSE, AVX and AVX-512, as xsave writes it.
#define STATE_BYTES "2816"
#define STATE_MASK "0xe6"
#define CALL_SAVING_ALL(function)                                                     \
    FRAME(STATE_BYTES)                                                                \
    "xor %eax, %eax; lea 512(%rsp), %rcx;"                                            \
    "mov %rax, (%rcx); mov %rax, 8(%rcx); mov %rax, 16(%rcx); mov %rax, 24(%rcx);"    \
    "mov %rax, 32(%rcx); mov %rax, 40(%rcx); mov %rax, 48(%rcx); mov %rax, 56(%rcx);" \
    "mov $" STATE_MASK                                                                \
    ", %eax; xor %edx, %edx; xsave64 (%rsp);"                                         \
    "cld; call " function                                                             \
    ";"                                                                               \
    "mov $" STATE_MASK ", %eax; xor %edx, %edx; xrstor64 (%rsp);" END_FRAME

#define FUNCTION(name, code)                                                               \
    __asm__(".text; .p2align 4; .globl " name "; .type " name ", @function;" name ":" code \
            "ret;"                                                                         \
            ".size " name ", .-" name ";")

// The table comes in rax.
FUNCTION("__af_block", PUSH
         "push %rax; mov %rax, %rdi; call af_block_quick; pop %rdi;"
         "cmp $-1, %eax; jne 1f; " POP
         "ret;"
         "1: mov %eax, %esi;" CALL_SAVING_ALL("af_block_apart") POP);
FUNCTION("__af_block_flags",
         PUSH "mov %rax, %rdi;" PUSH_FLAGS
              "push %rdi; call af_block_quick; pop %rdi;"
              "cmp $-1, %eax; jne 1f; " POP_FLAGS POP
              "ret;"
              "1: mov %eax, %esi;" CALL_SAVING_ALL("af_block_apart") POP_FLAGS POP);
#define EVENT(suffix, call)                                                                     \
    FUNCTION("__af_event" suffix, PUSH "mov %rax, %rdi;" PUSH_FLAGS                             \
                                       "mov %rsp, %rsi;" call("af_block_event") POP_FLAGS POP); \
    FUNCTION("__af_event_end" suffix,                                                           \
             "push %rax;" PUSH PUSH_FLAGS call("af_event_end") POP_FLAGS POP "pop %rax;")
EVENT("", CALL);
EVENT("_all", CALL_SAVING_ALL);

__thread af_seen __af_seen_shared;
#endif
