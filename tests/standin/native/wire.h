/* One connection of the stand-in: a TCP socket on which calls go out and their results come back, one at a time.
 *
 * A call is a frame: u32 length of what follows, six i32 (verb, object handle, options, length, taken, count), then
 * blobs (u32 length and as many bytes). A result is a frame: u32 length, five i32 (completion code, reason, handle,
 * length, ahead), then blobs. Everything little-endian. What the numbers mean to each verb stands beside its function.
 *
 * Reading ahead: the result of an MQGET may carry `ahead` further messages that the same MQGET would get next. They
 * stay in the reply buffer and later MQGETs take them from there without asking; the next frame says how many were
 * `taken`, and the server puts the others back on their queue before it does anything else.
 */
#ifndef MQVITALS_STANDIN_WIRE_H
#define MQVITALS_STANDIN_WIRE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "cmqc.h"

enum verb {
    VERB_CONNECT = 1,
    VERB_DISCONNECT = 2,
    VERB_OPEN = 3,
    VERB_CLOSE = 4,
    VERB_PUT = 5,
    VERB_PUT1 = 6,
    VERB_GET = 7,
    VERB_INQUIRE = 8,
    VERB_COMMIT = 9,
    VERB_BACK_OUT = 10
};

struct bytes {
    char *data;
    size_t used, room;
};

/* What of an MQGET must be the same for messages read ahead to answer it. */
struct wanted {
    MQHOBJ hobj;
    MQLONG options, match, encoding, ccsid;
    char msg_id[24], correl_id[24];
};

struct connection {
    MQHCONN handle;
    int socket;
    int users;                 /* callers that hold a pointer, the table's own included; under the table's lock */
    int closed;                /* MQDISC came through */
    int broken;                /* the socket failed: every call says 2009 from now on */
    MQLONG sharing;            /* MQCNO_HANDLE_SHARE_... */
    pthread_t owner;
    pthread_mutex_t turn;      /* held during a call */
    struct bytes call, result; /* used again and again */
    size_t at;                 /* read so far of the result */
    struct wanted wanted;
    char resolved[48];         /* the queue of the messages read ahead */
    MQLONG ahead, taken;
};

/* The connection of that handle, locked for one call; NULL with *cc and *rc set when there is none or it is not free. */
struct connection *begin_call(MQHCONN handle, MQLONG *cc, MQLONG *rc);
void end_call(struct connection *connection);

/* A connection over a connected socket, in the table and not locked; NULL when there is no room. Closes the socket then. */
struct connection *new_connection(int socket, MQLONG options);
/* Take it out of the table and close its socket; its memory goes with its last user. */
void drop_connection(struct connection *connection);

void begin_frame(struct connection *connection, enum verb verb, MQHOBJ hobj, MQLONG options, MQLONG length,
                 MQLONG count);
void add_blob(struct connection *connection, const void *data, size_t length);

struct result {
    MQLONG cc, rc, handle, length, ahead;
};

/* Send the frame and wait for its result. 0 and a broken connection with 2009 in *cc and *rc when that fails. */
int exchange(struct connection *connection, struct result *result, MQLONG *cc, MQLONG *rc);
/* The next blob of the result, copied as far as there is room; its full length. */
uint32_t take_blob(struct connection *connection, void *target, size_t room);

#endif
