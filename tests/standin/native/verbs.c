/* The verbs after MQCONNX: each is one frame there and back, but for MQGETs answered from what was read ahead. */
#include <string.h>

#include "wire.h"

enum { MQGMO_CONVERT = 16384, MQMO_MATCH_MSG_ID = 1, MQMO_MATCH_CORREL_ID = 2 };
/* Offsets. */
enum { MD_ENCODING = 24, MD_MSG_ID = 48, MD_CORREL_ID = 72 };
enum { GMO_OPTIONS = 8, GMO_RESOLVED = 24, GMO_MATCH = 72, GMO_RETURNED_LENGTH = 96 };
enum { PMO_RESOLVED = 32, PMO_RESOLVED_LENGTH = 96 };

static MQLONG number(const void *structure, size_t offset)
{
    MQLONG value;
    memcpy(&value, (const char *)structure + offset, sizeof value);
    return value;
}

/* The structure has this identifier; else the call fails with the reason. */
static int sound(const void *structure, const char *id, MQLONG reason, MQLONG *cc, MQLONG *rc)
{
    if (structure && !memcmp(structure, id, 4) && number(structure, 4) >= 1)
        return 1;
    *cc = MQCC_FAILED;
    *rc = reason;
    return 0;
}

static size_t md_length(const void *md)
{
    return number(md, 4) >= 2 ? 364 : 324;
}

static size_t od_length(const void *od)
{
    MQLONG version = number(od, 4);
    return version >= 4 ? 424 : version == 3 ? 344 : version == 2 ? 208 : 168;
}

static size_t gmo_length(const void *gmo)
{
    MQLONG version = number(gmo, 4);
    return version >= 4 ? 112 : version == 3 ? 100 : version == 2 ? 80 : 72;
}

static size_t pmo_length(const void *pmo)
{
    MQLONG version = number(pmo, 4);
    return version >= 3 ? 184 : version == 2 ? 160 : 128;
}

void MQDISC(MQHCONN *hconn, MQLONG *cc, MQLONG *rc)
{
    struct connection *connection = begin_call(*hconn, cc, rc);
    struct result result;
    if (!connection)
        return;
    begin_frame(connection, VERB_DISCONNECT, 0, 0, 0, 0);
    exchange(connection, &result, cc, rc);
    /* Whatever came of it: the handle is gone, and what it held. */
    drop_connection(connection);
    end_call(connection);
    *hconn = MQHC_UNUSABLE_HCONN;
}

void MQOPEN(MQHCONN hconn, void *od, MQLONG options, MQHOBJ *hobj, MQLONG *cc, MQLONG *rc)
{
    struct connection *connection;
    struct result result;
    *hobj = MQHO_UNUSABLE_HOBJ;
    if (!sound(od, "OD  ", MQRC_OD_ERROR, cc, rc) || !(connection = begin_call(hconn, cc, rc)))
        return;
    begin_frame(connection, VERB_OPEN, 0, options, 0, 0);
    add_blob(connection, od, od_length(od));
    if (exchange(connection, &result, cc, rc) && *cc != MQCC_FAILED) {
        *hobj = result.handle;
        take_blob(connection, od, od_length(od));
    }
    end_call(connection);
}

void MQCLOSE(MQHCONN hconn, MQHOBJ *hobj, MQLONG options, MQLONG *cc, MQLONG *rc)
{
    struct connection *connection = begin_call(hconn, cc, rc);
    struct result result;
    if (!connection)
        return;
    begin_frame(connection, VERB_CLOSE, *hobj, options, 0, 0);
    if (exchange(connection, &result, cc, rc) && *cc != MQCC_FAILED)
        *hobj = MQHO_UNUSABLE_HOBJ;
    end_call(connection);
}

static void put(MQHCONN hconn, MQHOBJ hobj, void *od, void *md, void *pmo, MQLONG length, void *data, MQLONG *cc,
                MQLONG *rc)
{
    struct connection *connection;
    struct result result;
    if ((od && !sound(od, "OD  ", MQRC_OD_ERROR, cc, rc)) || !sound(md, "MD  ", MQRC_MD_ERROR, cc, rc) ||
        !sound(pmo, "PMO ", MQRC_PMO_ERROR, cc, rc) || !(connection = begin_call(hconn, cc, rc)))
        return;
    begin_frame(connection, od ? VERB_PUT1 : VERB_PUT, hobj, 0, length, 0);
    if (od)
        add_blob(connection, od, od_length(od));
    add_blob(connection, md, md_length(md));
    add_blob(connection, pmo, pmo_length(pmo));
    add_blob(connection, data, length > 0 ? (size_t)length : 0);
    if (exchange(connection, &result, cc, rc) && *cc != MQCC_FAILED) {
        take_blob(connection, md, md_length(md));
        take_blob(connection, (char *)pmo + PMO_RESOLVED, PMO_RESOLVED_LENGTH);
    }
    end_call(connection);
}

void MQPUT(MQHCONN hconn, MQHOBJ hobj, void *md, void *pmo, MQLONG length, void *data, MQLONG *cc, MQLONG *rc)
{
    put(hconn, hobj, NULL, md, pmo, length, data, cc, rc);
}

void MQPUT1(MQHCONN hconn, void *od, void *md, void *pmo, MQLONG length, void *data, MQLONG *cc, MQLONG *rc)
{
    if (sound(od, "OD  ", MQRC_OD_ERROR, cc, rc))
        put(hconn, MQHO_NONE, od, md, pmo, length, data, cc, rc);
}

static void describe(struct wanted *wanted, MQHOBJ hobj, const void *md, const void *gmo)
{
    memset(wanted, 0, sizeof *wanted); /* compared as bytes, gaps between the fields included */
    wanted->hobj = hobj;
    wanted->options = number(gmo, GMO_OPTIONS);
    wanted->match = MQMO_MATCH_MSG_ID | MQMO_MATCH_CORREL_ID;
    if (number(gmo, 4) >= 2)
        wanted->match = number(gmo, GMO_MATCH);
    if (wanted->options & MQGMO_CONVERT) {
        wanted->encoding = number(md, MD_ENCODING);
        wanted->ccsid = number(md, MD_ENCODING + 4);
    }
    if (wanted->match & MQMO_MATCH_MSG_ID)
        memcpy(wanted->msg_id, (const char *)md + MD_MSG_ID, sizeof wanted->msg_id);
    if (wanted->match & MQMO_MATCH_CORREL_ID)
        memcpy(wanted->correl_id, (const char *)md + MD_CORREL_ID, sizeof wanted->correl_id);
}

static void deliver(struct connection *connection, void *md, void *gmo, MQLONG room, void *buffer, MQLONG *length)
{
    take_blob(connection, md, md_length(md));
    take_blob(connection, buffer, room > 0 ? (size_t)room : 0);
    memcpy((char *)gmo + GMO_RESOLVED, connection->resolved, sizeof connection->resolved);
    if (number(gmo, 4) >= 3) {
        MQLONG returned = *length < room ? *length : room;
        memcpy((char *)gmo + GMO_RETURNED_LENGTH, &returned, sizeof returned);
    }
}

/* The length of the next message that was read ahead. */
static MQLONG next_length(struct connection *connection)
{
    size_t at = connection->at;
    take_blob(connection, NULL, 0);
    MQLONG length = (MQLONG)take_blob(connection, NULL, 0);
    connection->at = at;
    return length;
}

void MQGET(MQHCONN hconn, MQHOBJ hobj, void *md, void *gmo, MQLONG room, void *buffer, MQLONG *length, MQLONG *cc,
           MQLONG *rc)
{
    struct connection *connection;
    struct wanted wanted;
    struct result result;
    *length = 0;
    if (!sound(md, "MD  ", MQRC_MD_ERROR, cc, rc) || !sound(gmo, "GMO ", MQRC_GMO_ERROR, cc, rc) ||
        !(connection = begin_call(hconn, cc, rc)))
        return;
    describe(&wanted, hobj, md, gmo);
    if (connection->ahead && !memcmp(&wanted, &connection->wanted, sizeof wanted) &&
        next_length(connection) <= room) {
        *length = next_length(connection);
        deliver(connection, md, gmo, room, buffer, length);
        connection->ahead--;
        connection->taken++;
        *cc = MQCC_OK;
        *rc = MQRC_NONE;
        end_call(connection);
        return;
    }
    begin_frame(connection, VERB_GET, hobj, 0, room, 0);
    add_blob(connection, md, md_length(md));
    add_blob(connection, gmo, gmo_length(gmo));
    if (exchange(connection, &result, cc, rc)) {
        *length = result.length;
        if (*cc != MQCC_FAILED || *rc == MQRC_TRUNCATED_MSG_FAILED) {
            take_blob(connection, connection->resolved, sizeof connection->resolved);
            deliver(connection, md, gmo, room, buffer, length);
            connection->wanted = wanted;
            connection->ahead = result.ahead;
        }
    }
    end_call(connection);
}

void MQINQ(MQHCONN hconn, MQHOBJ hobj, MQLONG selector_count, MQLONG *selectors, MQLONG int_count, MQLONG *ints,
           MQLONG char_length, char *chars, MQLONG *cc, MQLONG *rc)
{
    struct connection *connection = begin_call(hconn, cc, rc);
    struct result result;
    if (!connection)
        return;
    begin_frame(connection, VERB_INQUIRE, hobj, 0, char_length, int_count);
    add_blob(connection, selectors, (size_t)selector_count * sizeof *selectors);
    if (exchange(connection, &result, cc, rc) && *cc != MQCC_FAILED) {
        take_blob(connection, ints, (size_t)int_count * sizeof *ints);
        take_blob(connection, chars, (size_t)char_length);
    }
    end_call(connection);
}

static void plain(MQHCONN hconn, enum verb verb, MQLONG *cc, MQLONG *rc)
{
    struct connection *connection = begin_call(hconn, cc, rc);
    struct result result;
    if (!connection)
        return;
    begin_frame(connection, verb, 0, 0, 0, 0);
    exchange(connection, &result, cc, rc);
    end_call(connection);
}

void MQCMIT(MQHCONN hconn, MQLONG *cc, MQLONG *rc)
{
    plain(hconn, VERB_COMMIT, cc, rc);
}

void MQBACK(MQHCONN hconn, MQLONG *cc, MQLONG *rc)
{
    plain(hconn, VERB_BACK_OUT, cc, rc);
}
