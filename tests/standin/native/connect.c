/* MQCONN and MQCONNX: from the structures of the caller to a connection over TCP.
 *
 * Only this machine can be reached, whatever the caller names: the stand-in is for tests.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ccdt.h"
#include "wire.h"

enum { NAME_LENGTH = 48, DEFAULT_PORT = 1414, APPLICATION_LENGTH = 28 };
/* Offsets and lengths in the 64-bit structures. */
enum { CNO_OPTIONS = 8, CNO_CD = 16, CNO_SCO = 152, CNO_CSP = 192, CNO_URL = 200, CNO_URL_LENGTH = 212, CNO_NAME = 224 };
enum { CD_VERSION = 20, CD_CONNECTION = 1024, CD_CIPHER = 1688, CD_PEER = 1720, CD_PEER_LENGTH = 1728, CD_LABEL = 1920 };
enum { CSP_USER = 16, CSP_USER_LENGTH = 28, CSP_PASSWORD = 40, CSP_PASSWORD_LENGTH = 52 };
enum { SCO_REPOSITORY = 8, SCO_REPOSITORY_LENGTH = 256, SCO_LABEL = 564 };

/* All that a caller says about the connection it wants. */
struct request {
    char queue_manager[NAME_LENGTH + 1];
    struct route route;
    char user[1025];
    char repository[SCO_REPOSITORY_LENGTH + 1];
    char application[APPLICATION_LENGTH + 1];
    char url[1025];
    MQLONG options;
    MQLONG has_password;
};

static MQLONG number(const char *structure, size_t offset)
{
    MQLONG value;
    memcpy(&value, structure + offset, sizeof value);
    return value;
}

static const char *pointer(const char *structure, size_t offset)
{
    const char *value;
    memcpy(&value, structure + offset, sizeof value);
    return value;
}

/* A field of characters as a text: up to a NUL, without the blanks at its end. */
static void field(char *target, size_t room, const char *source, size_t length)
{
    size_t used = source ? strnlen(source, length < room ? length : room - 1) : 0;
    while (used && source[used - 1] == ' ')
        used--;
    if (used)
        memcpy(target, source, used);
    target[used] = 0;
}

static void from_cd(const char *cd, struct request *request)
{
    MQLONG version = number(cd, CD_VERSION);
    struct route *route = &request->route;
    field(route->channel, sizeof route->channel, cd, 20);
    field(route->addresses, sizeof route->addresses, cd + CD_CONNECTION, 264);
    if (version >= 7) {
        field(route->cipher, sizeof route->cipher, cd + CD_CIPHER, 32);
        field(route->peer, sizeof route->peer, pointer(cd, CD_PEER), (size_t)number(cd, CD_PEER_LENGTH));
    }
    if (version >= 11)
        field(route->label, sizeof route->label, cd + CD_LABEL, 64);
}

static void from_cno(const char *cno, struct request *request)
{
    MQLONG version = number(cno, 4);
    request->options = number(cno, CNO_OPTIONS);
    if (version >= 6 && pointer(cno, CNO_URL))
        field(request->url, sizeof request->url, pointer(cno, CNO_URL), (size_t)number(cno, CNO_URL_LENGTH));
    if (version >= 7)
        field(request->application, sizeof request->application, cno + CNO_NAME, APPLICATION_LENGTH);
    if (version >= 2 && pointer(cno, CNO_CD))
        from_cd(pointer(cno, CNO_CD), request);
    const char *csp = version >= 5 ? pointer(cno, CNO_CSP) : NULL;
    if (csp) {
        field(request->user, sizeof request->user, pointer(csp, CSP_USER), (size_t)number(csp, CSP_USER_LENGTH));
        request->has_password = pointer(csp, CSP_PASSWORD) && number(csp, CSP_PASSWORD_LENGTH) > 0;
    }
}

/* After the route is known, so that the key repository's label does not hide that of the channel. */
static void from_sco(const char *cno, struct request *request)
{
    const char *sco = number(cno, 4) >= 4 ? pointer(cno, CNO_SCO) : NULL;
    if (!sco)
        return;
    field(request->repository, sizeof request->repository, sco + SCO_REPOSITORY, SCO_REPOSITORY_LENGTH);
    if (number(sco, 4) >= 5 && !request->route.label[0])
        field(request->route.label, sizeof request->route.label, sco + SCO_LABEL, 64);
}

/* CHANNEL/TCP/host(port) */
static int from_mqserver(const char *value, struct route *route)
{
    const char *first = value ? strchr(value, '/') : NULL, *second = first ? strchr(first + 1, '/') : NULL;
    if (!second)
        return 0;
    field(route->channel, sizeof route->channel, value, (size_t)(first - value));
    field(route->addresses, sizeof route->addresses, second + 1, strlen(second + 1));
    return 1;
}

/* Where to connect to when no channel definition was given: the environment, then the table. 0 when nowhere. */
static MQLONG complete_route(struct request *request)
{
    const char *url = request->url[0] ? request->url : getenv("MQCCDTURL");
    if (request->route.addresses[0])
        return MQRC_NONE;
    if (!request->url[0] && from_mqserver(getenv("MQSERVER"), &request->route))
        return MQRC_NONE;
    if (!url)
        return MQRC_Q_MGR_NOT_AVAILABLE; /* there is no queue manager on this machine to bind to */
    field(request->url, sizeof request->url, url, strlen(url));
    return find_route(url, request->queue_manager, &request->route) ? MQRC_NONE : MQRC_Q_MGR_NAME_ERROR;
}

/* A socket connected to host(port); -1 when nobody listens there, or it is another machine. */
static int dial(const char *address)
{
    char host[265];
    int port = DEFAULT_PORT, on = 1;
    size_t length = strcspn(address, "(,");
    field(host, sizeof host, address, length);
    if (address[length] == '(')
        port = atoi(address + length + 1);
    if (strcmp(host, "127.0.0.1") && strcmp(host, "localhost"))
        return -1;
    struct sockaddr_in target = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int connected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connected < 0)
        return -1;
    if (connect(connected, (struct sockaddr *)&target, sizeof target)) {
        close(connected);
        return -1;
    }
    setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return connected;
}

/* Say to the queue manager who is there and take its answer. */
static void introduce(struct connection *connection, const struct request *request, MQLONG *cc, MQLONG *rc)
{
    struct result result;
    const char *texts[] = {request->queue_manager,  request->route.channel, request->route.addresses,
                           request->user,           request->application,   request->route.cipher,
                           request->route.peer,     request->repository,    request->route.label,
                           request->url};
    begin_frame(connection, VERB_CONNECT, 0, request->options, request->has_password, 0);
    for (size_t place = 0; place < sizeof texts / sizeof *texts; place++)
        add_blob(connection, texts[place], strlen(texts[place]));
    if (!exchange(connection, &result, cc, rc))
        *rc = MQRC_Q_MGR_NOT_AVAILABLE;
}

static void connect_to(const struct request *request, MQHCONN *hconn, MQLONG *cc, MQLONG *rc)
{
    const char *at = request->route.addresses;
    *cc = MQCC_FAILED;
    *rc = MQRC_HOST_NOT_AVAILABLE;
    while (at) {
        int connected = dial(at + strspn(at, " "));
        if (connected >= 0) {
            struct connection *connection = new_connection(connected, request->options);
            if (!connection) {
                *rc = MQRC_MAX_CONNS_LIMIT_REACHED;
                return;
            }
            introduce(connection, request, cc, rc);
            if (*cc != MQCC_FAILED) {
                *hconn = connection->handle;
                return;
            }
            drop_connection(connection);
            if (*rc != MQRC_Q_MGR_NOT_AVAILABLE)
                return; /* refused by one that is there: the next in the list would be tried in vain */
        }
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
}

void MQCONNX(char *name, MQCNO *cno, MQHCONN *hconn, MQLONG *cc, MQLONG *rc)
{
    struct request request;
    memset(&request, 0, sizeof request);
    *hconn = MQHC_UNUSABLE_HCONN;
    *cc = MQCC_FAILED;
    if (cno && memcmp(cno->StrucId, "CNO ", sizeof cno->StrucId)) {
        *rc = MQRC_CNO_ERROR;
        return;
    }
    field(request.queue_manager, sizeof request.queue_manager, name, NAME_LENGTH);
    if (cno)
        from_cno((const char *)cno, &request);
    *rc = complete_route(&request);
    if (*rc)
        return;
    if (cno)
        from_sco((const char *)cno, &request);
    connect_to(&request, hconn, cc, rc);
}

void MQCONN(char *name, MQHCONN *hconn, MQLONG *cc, MQLONG *rc)
{
    MQCONNX(name, NULL, hconn, cc, rc);
}
