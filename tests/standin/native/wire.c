/* Frames on sockets, and the table of connections. */
#define _GNU_SOURCE
#include "wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLOT_BITS = 12, SLOTS = 1 << SLOT_BITS, GENERATIONS = 1 << 18 };
enum { CALL_HEAD = 28, RESULT_HEAD = 20, ROOM_AT_FIRST = 1 << 16, LONGEST = 1 << 28 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection *table[SLOTS];
static unsigned generation;

static int reserve(struct bytes *bytes, size_t room)
{
    if (room <= bytes->room)
        return 1;
    size_t wanted = room < ROOM_AT_FIRST ? ROOM_AT_FIRST : room + room / 2;
    char *data = realloc(bytes->data, wanted);
    if (!data)
        return 0;
    bytes->data = data;
    bytes->room = wanted;
    return 1;
}

/* Under the table's lock. */
static void release(struct connection *connection)
{
    if (--connection->users)
        return;
    pthread_mutex_destroy(&connection->turn);
    free(connection->call.data);
    free(connection->result.data);
    free(connection);
}

struct connection *new_connection(int socket, MQLONG options)
{
    struct connection *connection = calloc(1, sizeof *connection);
    int slot = 0;
    if (!connection) {
        close(socket);
        return NULL;
    }
    pthread_mutex_init(&connection->turn, NULL);
    connection->socket = socket;
    connection->users = 1;
    connection->sharing = options & (MQCNO_HANDLE_SHARE_BLOCK | MQCNO_HANDLE_SHARE_NO_BLOCK);
    connection->owner = pthread_self();
    pthread_mutex_lock(&table_lock);
    while (slot < SLOTS && table[slot])
        slot++;
    if (slot == SLOTS) {
        release(connection);
        connection = NULL;
        close(socket);
    } else {
        /* A generation in the handle: one that was disconnected is never taken for a newer one in the same slot. */
        generation = generation % (GENERATIONS - 1) + 1;
        connection->handle = (MQHCONN)(generation << SLOT_BITS | (unsigned)slot);
        table[slot] = connection;
    }
    pthread_mutex_unlock(&table_lock);
    return connection;
}

void drop_connection(struct connection *connection)
{
    close(connection->socket);
    connection->closed = 1;
    pthread_mutex_lock(&table_lock);
    table[connection->handle & (SLOTS - 1)] = NULL;
    release(connection);
    pthread_mutex_unlock(&table_lock);
}

static struct connection *find(MQHCONN handle)
{
    struct connection *found = NULL;
    pthread_mutex_lock(&table_lock);
    if (handle > 0) {
        found = table[handle & (SLOTS - 1)];
        if (found && found->handle == handle)
            found->users++;
        else
            found = NULL;
    }
    pthread_mutex_unlock(&table_lock);
    return found;
}

static void leave(struct connection *connection)
{
    pthread_mutex_lock(&table_lock);
    release(connection);
    pthread_mutex_unlock(&table_lock);
}

struct connection *begin_call(MQHCONN handle, MQLONG *cc, MQLONG *rc)
{
    struct connection *connection = find(handle);
    *cc = MQCC_FAILED;
    *rc = MQRC_HCONN_ERROR;
    if (!connection)
        return NULL;
    if (!connection->sharing && !pthread_equal(connection->owner, pthread_self())) {
        leave(connection);
        return NULL;
    }
    if (connection->sharing & MQCNO_HANDLE_SHARE_NO_BLOCK) {
        if (pthread_mutex_trylock(&connection->turn)) {
            *rc = MQRC_CALL_IN_PROGRESS;
            leave(connection);
            return NULL;
        }
    } else {
        pthread_mutex_lock(&connection->turn);
    }
    if (connection->closed) {
        end_call(connection);
        return NULL;
    }
    return connection;
}

void end_call(struct connection *connection)
{
    pthread_mutex_unlock(&connection->turn);
    leave(connection);
}

static void add(struct connection *connection, const void *data, size_t length)
{
    struct bytes *call = &connection->call;
    if (!reserve(call, call->used + length)) {
        connection->broken = 1; /* no memory: the call cannot be made, and nothing else of it either */
        return;
    }
    if (length)
        memcpy(call->data + call->used, data, length);
    call->used += length;
}

void begin_frame(struct connection *connection, enum verb verb, MQHOBJ hobj, MQLONG options, MQLONG length,
                 MQLONG count)
{
    MQLONG head[7] = {0, (MQLONG)verb, hobj, options, length, connection->taken, count};
    connection->call.used = 0;
    connection->ahead = connection->taken = 0;
    add(connection, head, sizeof head);
}

void add_blob(struct connection *connection, const void *data, size_t length)
{
    uint32_t size = (uint32_t)length;
    add(connection, &size, sizeof size);
    add(connection, data, length);
}

static int send_all(int socket, const char *data, size_t length)
{
    while (length) {
        ssize_t sent = send(socket, data, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return 0;
        data += sent;
        length -= (size_t)sent;
    }
    return 1;
}

/* There is never more than one result on the way, so whatever comes belongs to it. */
static int receive(struct connection *connection)
{
    struct bytes *result = &connection->result;
    size_t needed = sizeof(uint32_t);
    result->used = 0;
    while (result->used < needed) {
        if (!reserve(result, needed < ROOM_AT_FIRST ? ROOM_AT_FIRST : needed))
            return 0;
        ssize_t got = recv(connection->socket, result->data + result->used, result->room - result->used, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        result->used += (size_t)got;
        if (needed == sizeof(uint32_t) && result->used >= needed) {
            uint32_t length;
            memcpy(&length, result->data, sizeof length);
            if (length < RESULT_HEAD || length > LONGEST)
                return 0;
            needed += length;
        }
    }
    return result->used == needed;
}

int exchange(struct connection *connection, struct result *result, MQLONG *cc, MQLONG *rc)
{
    uint32_t length = (uint32_t)(connection->call.used - sizeof length);
    if (!connection->broken)
        memcpy(connection->call.data, &length, sizeof length);
    if (connection->broken || !send_all(connection->socket, connection->call.data, connection->call.used) ||
        !receive(connection)) {
        connection->broken = 1;
        *cc = MQCC_FAILED;
        *rc = MQRC_CONNECTION_BROKEN;
        return 0;
    }
    memcpy(result, connection->result.data + sizeof length, sizeof *result);
    connection->at = sizeof length + sizeof *result;
    *cc = result->cc;
    *rc = result->rc;
    return 1;
}

uint32_t take_blob(struct connection *connection, void *target, size_t room)
{
    uint32_t length;
    const struct bytes *result = &connection->result;
    if (result->used - connection->at < sizeof length)
        return 0;
    memcpy(&length, result->data + connection->at, sizeof length);
    connection->at += sizeof length;
    if (length > result->used - connection->at)
        length = (uint32_t)(result->used - connection->at);
    if (target)
        memcpy(target, result->data + connection->at, length < room ? length : room);
    connection->at += length;
    return length;
}
