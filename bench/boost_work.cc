/* The workloads that Boost's allocators can do, as C++. */
#include "work_batch.c"
#undef BLOCK_BYTES
#include "work_handover.c"
#include "work_pair.c"
