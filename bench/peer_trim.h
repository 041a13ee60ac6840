/* What the loaded malloc offers to give memory back to the OS: everything that a program could ask for. */
#ifndef BENCH_PEER_TRIM_H
#define BENCH_PEER_TRIM_H

void peer_trim(void);

#endif
