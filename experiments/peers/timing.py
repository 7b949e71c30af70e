"""Processor seconds of a piece of work: user and system time of this process, all threads."""

import resource
import time


def processor():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def measure(name, work, repeats=7):
    """Prints the least and the median of processor and clock time, in milliseconds."""
    work()  # what is done once is not measured
    spent, clock = [], []
    for _ in range(repeats):
        p, c = processor(), time.perf_counter()
        work()
        spent.append(1000 * (processor() - p))
        clock.append(1000 * (time.perf_counter() - c))
    spent.sort()
    clock.sort()
    half = repeats // 2
    print(f"{name:40} processor {spent[0]:9.2f} least {spent[half]:9.2f} median; clock {clock[0]:9.2f} least {clock[half]:9.2f} median; ms")
