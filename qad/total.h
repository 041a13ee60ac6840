/*
 * total.h - what all targets have together, over time.
 */
#ifndef QAD_TOTAL_H
#define QAD_TOTAL_H

struct service;

/* Adds the sums of what is known of all targets now to service->total; for who has just asked them all. */
void total_record(struct service *service);

#endif
