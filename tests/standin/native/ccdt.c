/* A walk over JSON text as far as a CCDT needs it: values are found in place, nothing is built.
 *
 * {"channel": [{"name": "...", "clientConnection": {"connection": [{"host": "...", "port": 1414}],
 *                                                   "queueManager": "..."},
 *               "transmissionSecurity": {"cipherSpecification": "...", "certificatePeerName": "...",
 *                                        "certificateLabel": "..."}}]}
 */
#include "ccdt.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *blank(const char *at)
{
    while (*at && isspace((unsigned char)*at))
        at++;
    return at;
}

static const char *past_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

/* Past one value of any kind; brackets are counted, strings in them skipped. */
static const char *past(const char *at)
{
    int depth = 0;
    at = blank(at);
    do {
        if (*at == '"') {
            at = past_string(at);
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if (*at == '}' || *at == ']')
            depth--;
        else if (!depth && (*at == ',' || !*at))
            break;
        if (depth < 0 || !*at)
            break;
        at++;
    } while (*at && (depth || (*at != ',' && *at != '}' && *at != ']')));
    return at;
}

/* The value of a member of the object; NULL when it has none of that name. */
static const char *member(const char *object, const char *name)
{
    if (!object || *(object = blank(object)) != '{')
        return NULL;
    size_t length = strlen(name);
    for (const char *at = blank(object + 1); *at == '"';) {
        const char *key = at + 1, *end = past_string(at);
        at = blank(end);
        if (*at != ':')
            return NULL;
        at = blank(at + 1);
        if ((size_t)(end - key) == length + 1 && !strncmp(key, name, length))
            return at;
        at = blank(past(at));
        if (*at == ',')
            at = blank(at + 1);
    }
    return NULL;
}

/* The first element of a list, or the one after an element; NULL at the end. */
static const char *element(const char *list)
{
    if (!list || *(list = blank(list)) != '[')
        return NULL;
    list = blank(list + 1);
    return *list == ']' ? NULL : list;
}

static const char *following(const char *at)
{
    at = blank(past(at));
    return *at == ',' ? blank(at + 1) : NULL;
}

/* A string or a number as text, cut to the room there is. */
static void text(const char *value, char *target, size_t room)
{
    size_t used = 0;
    if (value && *value == '"') {
        for (value++; *value && *value != '"' && used + 1 < room; value++) {
            if (*value == '\\' && value[1])
                value++;
            target[used++] = *value;
        }
    } else if (value) {
        while ((isdigit((unsigned char)*value) || *value == '-') && used + 1 < room)
            target[used++] = *value++;
    }
    target[used] = 0;
}

static void take_route(const char *channel, const char *client, struct route *route)
{
    const char *security = member(channel, "transmissionSecurity");
    char host[200], port[12];
    text(member(channel, "name"), route->channel, sizeof route->channel);
    text(member(security, "cipherSpecification"), route->cipher, sizeof route->cipher);
    text(member(security, "certificatePeerName"), route->peer, sizeof route->peer);
    text(member(security, "certificateLabel"), route->label, sizeof route->label);
    route->addresses[0] = 0;
    for (const char *at = element(member(client, "connection")); at; at = following(at)) {
        size_t used = strlen(route->addresses);
        text(member(at, "host"), host, sizeof host);
        text(member(at, "port"), port, sizeof port);
        snprintf(route->addresses + used, sizeof route->addresses - used, "%s%s(%s)", used ? "," : "", host,
                 port[0] ? port : "1414");
    }
}

static char *whole_file(const char *url)
{
    const char *prefix = "file://";
    if (!strncmp(url, prefix, strlen(prefix)))
        url += strlen(prefix);
    FILE *file = fopen(url, "rb");
    if (!file)
        return NULL;
    size_t room = 1 << 20, used = 0;
    char *data = malloc(room + 1);
    if (data) {
        used = fread(data, 1, room, file);
        data[used] = 0;
    }
    fclose(file);
    return data;
}

int find_route(const char *url, const char *queue_manager, struct route *route)
{
    char name[49];
    int found = 0;
    char *table = whole_file(url);
    if (!table)
        return 0;
    if (*queue_manager == '*') /* any of a group: the table calls it by its name without the asterisk */
        queue_manager++;
    for (const char *at = element(member(table, "channel")); at && !found; at = following(at)) {
        const char *client = member(at, "clientConnection");
        text(member(client, "queueManager"), name, sizeof name);
        if (client && !strcmp(name, queue_manager)) {
            take_route(at, client, route);
            found = 1;
        }
    }
    free(table);
    return found;
}
