"""The threads that large groups are computed on: one pool for the process, which waits for a bounded time only.

A job is a function over a range, cut into parts. Whoever is free takes the next part, the caller first, so a thread
that gets no processor is not waited for: what it would have done is done without it. Who computes what changes no
result.

Threads come into being when a first job wants them. After a job each looks for the next one for :data:`SPIN`
nanoseconds, and lets others run meanwhile; then it sleeps. The caller waits in the same way for parts that are still at
work elsewhere. Where two threads of Python call at the same time, the second computes by itself.

How many compute is what NumPy's products of matrices are computed on at that moment, so it is one setting for both.

The functions are in LLVM's language, as those of groups are (``emission.py``): between two of Python's threads a
hand-over takes longer than many a group.
"""

from __future__ import annotations

import ctypes
import os
import time

from .. import threads

SPIN = 100_000
"""Nanoseconds for which a thread looks for what it waits for before it sleeps."""

PARTS = 4
"""Parts for each thread, if there are so many: where one begins late the others have something to do."""

STACK = 1 << 20
"""Bytes of a thread's stack; groups have ``source.ROOM`` on it."""

_SYSTEM = """
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @clock_gettime(i32, ptr)
declare i32 @sched_yield()
declare i32 @fegetenv(ptr)
declare i32 @fesetenv(ptr)
"""

# Structures of the system are smaller than 256 bytes everywhere.
_STATE = """
@attributes = internal global [32 x i64] zeroinitializer, align 64
@lock = internal global [32 x i64] zeroinitializer, align 64
@work = internal global [32 x i64] zeroinitializer, align 64
@end = internal global [32 x i64] zeroinitializer, align 64

; the function that says how many threads compute, or, without one, their number
@asked = internal global ptr null
@number = internal global i64 1
; threads that there are, and how many the system allows
@threads = internal global i64 0
@allowed = internal global i64 0

; whether there is a job
@busy = internal global i64 0, align 64
; how many threads may join it; parts that nobody has taken; parts that are not done; whether all are
@seats = internal global i64 0, align 64
@left = internal global i64 0, align 64
@undone = internal global i64 0, align 64
@done = internal global i64 0, align 64
; threads asleep until there is work, callers asleep until their end
@idle = internal global i64 0, align 64
@waiting = internal global i64 0, align 64

; the job: written before its parts are offered, read by who has taken one
@function = internal global ptr null, align 64
@context = internal global ptr null
; how its caller rounds, and what becomes of numbers that are too small
@rounding = internal global [32 x i64] zeroinitializer, align 64
@first = internal global i64 0
@last = internal global i64 0
@step = internal global i64 0
@parts = internal global i64 0
"""

_FUNCTIONS = """
; begin anew, in a process that is new or was forked: without threads; gives what there is to call
define ptr @NAME(ptr %asked, i64 %number) {
  %a = call i32 @pthread_attr_init(ptr @attributes)
  %b = call i32 @pthread_attr_setstacksize(ptr @attributes, i64 STACK)
  %c = call i32 @pthread_mutex_init(ptr @lock, ptr null)
  %d = call i32 @pthread_cond_init(ptr @work, ptr null)
  %e = call i32 @pthread_cond_init(ptr @end, ptr null)
  store ptr %asked, ptr @asked
  store i64 %number, ptr @number
  store i64 0, ptr @threads
  store i64 1073741824, ptr @allowed
  store i64 0, ptr @busy
  store i64 0, ptr @seats
  store i64 0, ptr @left
  store i64 0, ptr @idle
  store i64 0, ptr @waiting
  ret ptr @share
}

define internal i64 @now() {
  %time = alloca [2 x i64]
  %unused = call i32 @clock_gettime(i32 CLOCK, ptr %time)
  %at = getelementptr i64, ptr %time, i64 1
  %seconds = load i64, ptr %time
  %more = load i64, ptr %at
  %nanoseconds = mul i64 %seconds, 1000000000
  %sum = add i64 %nanoseconds, %more
  ret i64 %sum
}

; wait until a word is not zero: look for a while, then sleep, and be counted as one who does
define internal void @awaited(ptr %word, ptr %sleepers, ptr %condition) {
start:
  %since = call i64 @now()
  br label %look
look:
  %seen = load atomic i64, ptr %word acquire, align 8
  %ready = icmp ne i64 %seen, 0
  br i1 %ready, label %there, label %pass
pass:
  %unused = call i32 @sched_yield()
  %time = call i64 @now()
  %waited = sub i64 %time, %since
  %more = icmp slt i64 %waited, SPIN
  br i1 %more, label %look, label %rest
rest:
  %a = call i32 @pthread_mutex_lock(ptr @lock)
  %b = atomicrmw add ptr %sleepers, i64 1 seq_cst
  br label %again
again:
  %now = load atomic i64, ptr %word seq_cst, align 8
  %awake = icmp ne i64 %now, 0
  br i1 %awake, label %risen, label %asleep
asleep:
  %c = call i32 @pthread_cond_wait(ptr %condition, ptr @lock)
  br label %again
risen:
  %d = atomicrmw sub ptr %sleepers, i64 1 seq_cst
  %e = call i32 @pthread_mutex_unlock(ptr @lock)
  br label %there
there:
  ret void
}

; wake so many of those who sleep; what they wait for has been written
define internal void @woken(ptr %sleepers, ptr %condition, i64 %most) {
start:
  %asleep = load atomic i64, ptr %sleepers seq_cst, align 8
  %fewer = icmp slt i64 %asleep, %most
  %count = select i1 %fewer, i64 %asleep, i64 %most
  %nobody = icmp sle i64 %count, 0
  br i1 %nobody, label %over, label %locked
locked:
  %a = call i32 @pthread_mutex_lock(ptr @lock)
  br label %next
next:
  %i = phi i64 [ 0, %locked ], [ %j, %next ]
  %b = call i32 @pthread_cond_signal(ptr %condition)
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %count
  br i1 %more, label %next, label %unlocked
unlocked:
  %c = call i32 @pthread_mutex_unlock(ptr @lock)
  br label %over
over:
  ret void
}

; take one from a word that is more than zero; what it was before, zero where it was not
define internal i64 @taken(ptr %word) {
start:
  br label %look
look:
  %seen = load atomic i64, ptr %word acquire, align 8
  %none = icmp sle i64 %seen, 0
  br i1 %none, label %nothing, label %take
take:
  %less = sub i64 %seen, 1
  %pair = cmpxchg ptr %word, i64 %seen, i64 %less seq_cst seq_cst
  %ours = extractvalue { i64, i1 } %pair, 1
  br i1 %ours, label %something, label %look
something:
  ret i64 %seen
nothing:
  ret i64 0
}

; compute parts of the job until nobody has to be asked for one
define internal void @compute() {
start:
  br label %look
look:
  %left = call i64 @taken(ptr @left)
  %none = icmp eq i64 %left, 0
  br i1 %none, label %over, label %part
part:
  %function = load ptr, ptr @function
  %context = load ptr, ptr @context
  %first = load i64, ptr @first
  %last = load i64, ptr @last
  %step = load i64, ptr @step
  %parts = load i64, ptr @parts
  %index = sub i64 %parts, %left
  %offset = mul i64 %index, %step
  %begin = add i64 %first, %offset
  %next = add i64 %begin, %step
  %short = icmp slt i64 %last, %next
  %end = select i1 %short, i64 %last, i64 %next
  call void %function(ptr %context, i64 %begin, i64 %end)
  %undone = atomicrmw sub ptr @undone, i64 1 seq_cst
  %final = icmp eq i64 %undone, 1
  br i1 %final, label %tell, label %look
tell:
  store atomic i64 1, ptr @done seq_cst, align 8
  call void @woken(ptr @waiting, ptr @end, i64 1)
  br label %look
over:
  ret void
}

; what a thread does
define internal ptr @serve(ptr %unused) {
start:
  br label %next
next:
  call void @awaited(ptr @seats, ptr @idle, ptr @work)
  %seat = call i64 @taken(ptr @seats)
  %late = icmp eq i64 %seat, 0
  br i1 %late, label %next, label %joined
joined:
  %a = call i32 @fesetenv(ptr @rounding)
  call void @compute()
  br label %next
}

; see that there are so many threads, if the system allows them
define internal void @grown(i64 %wanted) {
start:
  %thread = alloca ptr
  br label %look
look:
  %threads = load i64, ptr @threads
  %allowed = load i64, ptr @allowed
  %fewer = icmp slt i64 %allowed, %wanted
  %most = select i1 %fewer, i64 %allowed, i64 %wanted
  %enough = icmp sge i64 %threads, %most
  br i1 %enough, label %over, label %create
create:
  %error = call i32 @pthread_create(ptr %thread, ptr @attributes, ptr @serve, ptr null)
  %failed = icmp ne i32 %error, 0
  br i1 %failed, label %refused, label %begun
refused:
  store i64 %threads, ptr @allowed
  br label %over
begun:
  %handle = load ptr, ptr %thread
  %a = call i32 @pthread_detach(ptr %handle)
  %more = add i64 %threads, 1
  store i64 %more, ptr @threads
  br label %look
over:
  ret void
}

define internal i64 @computing() {
start:
  %asked = load ptr, ptr @asked
  %none = icmp eq ptr %asked, null
  br i1 %none, label %fixed, label %ask
ask:
  %answer = call i32 %asked()
  %count = sext i32 %answer to i64
  ret i64 %count
fixed:
  %number = load i64, ptr @number
  ret i64 %number
}

; compute a function of a context over a range, whose parts are multiples of a unit; comes back when all of it is done
define internal void @share(ptr %function, ptr %context, i64 %begin, i64 %end, i64 %unit) {
start:
  %count = call i64 @computing()
  %range = sub i64 %end, %begin
  %more = add i64 %range, %unit
  %rounded = sub i64 %more, 1
  %units = sdiv i64 %rounded, %unit
  %few = icmp slt i64 %units, %count
  %useful = select i1 %few, i64 %units, i64 %count
  %single = icmp slt i64 %useful, 2
  br i1 %single, label %alone, label %try
try:
  %pair = cmpxchg ptr @busy, i64 0, i64 1 seq_cst seq_cst
  %ours = extractvalue { i64, i1 } %pair, 1
  br i1 %ours, label %offer, label %alone
offer:
  %others = sub i64 %useful, 1
  call void @grown(i64 %others)
  %shares = mul i64 %useful, PARTS
  %whole = sdiv i64 %units, %shares
  %small = icmp slt i64 %whole, 1
  %each = select i1 %small, i64 1, i64 %whole
  %step = mul i64 %each, %unit
  %above = add i64 %range, %step
  %last = sub i64 %above, 1
  %parts = sdiv i64 %last, %step
  %a = call i32 @fegetenv(ptr @rounding)
  store ptr %function, ptr @function
  store ptr %context, ptr @context
  store i64 %begin, ptr @first
  store i64 %end, ptr @last
  store i64 %step, ptr @step
  store i64 %parts, ptr @parts
  store atomic i64 0, ptr @done seq_cst, align 8
  store atomic i64 %parts, ptr @undone seq_cst, align 8
  store atomic i64 %parts, ptr @left seq_cst, align 8
  store atomic i64 %others, ptr @seats seq_cst, align 8
  call void @woken(ptr @idle, ptr @work, i64 %others)
  call void @compute()
  store atomic i64 0, ptr @seats seq_cst, align 8
  call void @awaited(ptr @done, ptr @waiting, ptr @end)
  store atomic i64 0, ptr @busy seq_cst, align 8
  ret void
alone:
  call void %function(ptr %context, i64 %begin, i64 %end)
  ret void
}
"""

NEEDED = tuple(line.split("@")[1].split("(")[0] for line in _SYSTEM.split("\n") if line)


def text(name: str) -> str:
    """The module with the function *name*, ``ptr (ptr asked, i64 number)``, to be called before all else.

    It gives the address of ``void share(ptr function, ptr context, i64 begin, i64 end, i64 unit)``, which calls
    ``void function(ptr context, i64 begin, i64 end)``.
    """
    functions = _FUNCTIONS.replace("@NAME", f"@{name}")
    numbers = {"STACK": STACK, "CLOCK": time.CLOCK_MONOTONIC, "SPIN": SPIN, "PARTS": PARTS}
    for word, number in numbers.items():
        functions = functions.replace(word, str(number))
    return _SYSTEM + _STATE + functions


def possible() -> bool:
    """Return whether the system has what threads are made with (POSIX)."""
    return os.name == "posix" and all(hasattr(ctypes.CDLL(None), name) for name in NEEDED)


def begin(function: int) -> int:
    """The address of ``share``; the pool begins, here and in processes that are forked.

    Args:
        function: the address of what :func:`text` has.
    """
    begin = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(function)
    asked, number = threads.find_blas_function(), threads.current_count()
    os.register_at_fork(after_in_child=lambda: begin(asked, number))
    return int(begin(asked, number))
