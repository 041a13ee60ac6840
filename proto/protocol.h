/*
 * protocol.h - the numbers of the protocol (docs/PROTOCOL.md), in one place.
 */
#ifndef QP_PROTOCOL_H
#define QP_PROTOCOL_H

#define QP_PROTOCOL 1

#define QP_HELLO_BYTES 1024u
#define QP_HELLO_TIMEOUT_MS 2000u

#define QP_FRAME_TARGET_BYTES (1u << 20)  /* target to qad */
#define QP_FRAME_CLIENT_BYTES (16u << 10) /* client to qad, and qad to target */
#define QP_FRAME_ANSWER_BYTES (4u << 20)  /* qad to client */

#define QP_DEPTH 8u
#define QP_ARRAY_ELEMENTS 4096u
#define QP_MAP_PAIRS 256u
#define QP_STRING_BYTES 4096u
#define QP_VALUES 262144u /* in a frame: 4,096 rows of whatever there is, and some milliseconds to decode at most */

#define QP_CONNECTIONS 8192u
#define QP_CONNECTIONS_OF_UID 1024u
#define QP_CONNECTIONS_BEFORE_HELLO 64u
#define QP_REQUESTS_OF_CLIENT 64u
#define QP_REQUESTS_OF_UID 256u
#define QP_WATCHES_OF_CLIENT 64u
#define QP_WATCHES_OF_UID 1024u
#define QP_WATCH_MS 100u /* the shortest interval of a watch */

#define QP_QUEUE_TARGET_BYTES (256u << 10)
#define QP_QUEUE_CLIENT_BYTES (4u << 20)
#define QP_MEMORY_OF_UID_BYTES (64u << 20) /* what waits in all connections of a uid together */

#define QP_STATS_TIMEOUT_MS 2000u
#define QP_TRIM_TIMEOUT_MS 30000u

#define QP_NAME_BYTES 64u /* of a label or command that is kept, without the final NUL */

#endif
