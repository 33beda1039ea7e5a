/* The MQI as far as the stand-in and pymqi 1.12.13 need it, on 64-bit Linux.
 *
 * Written for this project from the public description of the MQI; not IBM's header. Structures that are only passed
 * through are byte arrays of the right size; fields have names only where pymqi's C module uses them.
 */
#ifndef MQVITALS_STANDIN_CMQC_H
#define MQVITALS_STANDIN_CMQC_H

#include <stdint.h>
#include <string.h>

typedef int32_t MQLONG;
typedef int32_t MQHCONN;
typedef int32_t MQHOBJ;
typedef int32_t MQBOOL;
typedef int8_t MQINT8;
typedef int16_t MQINT16;
typedef int32_t MQINT32;
typedef int64_t MQINT64;
typedef int64_t MQHMSG;
typedef float MQFLOAT32;
typedef double MQFLOAT64;
typedef char MQCHAR;
typedef unsigned char MQBYTE;

typedef MQLONG *PMQLONG;
typedef MQBOOL *PMQBOOL;
typedef MQINT8 *PMQINT8;
typedef MQINT16 *PMQINT16;
typedef MQINT32 *PMQINT32;
typedef MQINT64 *PMQINT64;
typedef MQFLOAT32 *PMQFLOAT32;
typedef MQFLOAT64 *PMQFLOAT64;
typedef MQCHAR *PMQCHAR;
typedef MQBYTE *PMQBYTE;
typedef void *PMQVOID;

/* pymqi chooses the versions of its structures by which of these exist. */
#define MQCMDL_LEVEL_500 500
#define MQCMDL_LEVEL_510 510
#define MQCMDL_LEVEL_520 520
#define MQCMDL_LEVEL_530 530
#define MQCMDL_LEVEL_600 600
#define MQCMDL_LEVEL_700 700
#define MQCMDL_LEVEL_710 710
#define MQCMDL_LEVEL_750 750
#define MQCMDL_LEVEL_800 800

/* Structures passed through as bytes, each of its newest length that pymqi packs. */
typedef struct { char bytes[364]; } MQMD;
typedef struct { char bytes[424]; } MQOD;
typedef struct { char bytes[112]; } MQGMO;
typedef struct { char bytes[184]; } MQPMO;
typedef struct { char bytes[632]; } MQSCO;
typedef struct { char bytes[344]; } MQSD;
typedef struct { char bytes[16]; } MQSRO;
typedef struct { char bytes[12]; } MQCMHO;
typedef struct { char bytes[20]; } MQSMPO;
#define MQOD_CURRENT_LENGTH ((Py_ssize_t)424)
#define MQPMO_CURRENT_LENGTH ((Py_ssize_t)184)

typedef struct standin_cd MQCD, *PMQCD;

typedef struct {
    char StrucId[4];
    MQLONG Version;
    MQLONG Options;
    MQLONG ClientConnOffset;
    MQCD *ClientConnPtr;
    MQBYTE ConnTag[128];
    MQSCO *SSLConfigPtr;
    MQLONG SSLConfigOffset;
    MQBYTE ConnectionId[24];
    MQLONG SecurityParmsOffset;
    void *SecurityParmsPtr;
} MQCNO;
#define MQCNO_DEFAULT {'C', 'N', 'O', ' '}, 1, 0, 0, 0, {0}, 0, 0, {0}, 0, 0

typedef struct {
    char StrucId[4];
    MQLONG Version;
    MQLONG AuthenticationType;
    char Reserved1[4];
    char *CSPUserIdPtr;
    MQLONG CSPUserIdOffset;
    MQLONG CSPUserIdLength;
    char Reserved2[8];
    char *CSPPasswordPtr;
    MQLONG CSPPasswordOffset;
    MQLONG CSPPasswordLength;
} MQCSP;
#define MQCSP_DEFAULT {'C', 'S', 'P', ' '}, 1, 0, {0}, 0, 0, 0, {0}, 0, 0, 0

typedef struct {
    char StrucId[4];
    MQLONG Version;
    MQLONG Options;
} MQBO;
#define MQBO_DEFAULT {'B', 'O', ' ', ' '}, 1, 0

typedef struct {
    void *VSPtr;
    MQLONG VSOffset;
    MQLONG VSBufSize;
    MQLONG VSLength;
    MQLONG VSCCSID;
} MQCHARV;
#define MQCHARV_DEFAULT 0, 0, 0, 0, -3

typedef struct {
    char StrucId[4];
    MQLONG Version;
    MQLONG Options;
    char rest[52];
} MQIMPO;
#define MQIMPO_DEFAULT {'I', 'M', 'P', 'O'}, 1, 0, {0}

typedef struct {
    char StrucId[4];
    MQLONG Version;
    MQLONG Options;
    MQLONG Support;
    MQLONG Context;
    MQLONG CopyOptions;
} MQPD;
#define MQPD_DEFAULT {'P', 'D', ' ', ' '}, 1, 0, 1, 0, 22

enum {
    MQCC_OK = 0,
    MQCC_WARNING = 1,
    MQCC_FAILED = 2,
    MQCC_UNKNOWN = -1,
    MQCNO_NONE = 0,
    MQCNO_VERSION_2 = 2,
    MQCNO_VERSION_5 = 5,
    MQCNO_HANDLE_SHARE_BLOCK = 64,
    MQCNO_HANDLE_SHARE_NO_BLOCK = 128,
    MQCSP_AUTH_USER_ID_AND_PWD = 1,
    MQHC_UNUSABLE_HCONN = -1,
    MQHO_NONE = 0,
    MQHO_UNUSABLE_HOBJ = -1,
    MQIA_FIRST = 1,
    MQIA_LAST = 2000,
    MQIACF_Q_ATTRS = 1002,
    MQRC_NONE = 0,
    MQRC_CONNECTION_BROKEN = 2009,
    MQRC_HCONN_ERROR = 2018,
    MQRC_MAX_CONNS_LIMIT_REACHED = 2025,
    MQRC_MD_ERROR = 2026,
    MQRC_OD_ERROR = 2044,
    MQRC_Q_MGR_NAME_ERROR = 2058,
    MQRC_Q_MGR_NOT_AVAILABLE = 2059,
    MQRC_STORAGE_NOT_AVAILABLE = 2071,
    MQRC_TRUNCATED_MSG_FAILED = 2080,
    MQRC_CNO_ERROR = 2139,
    MQRC_PMO_ERROR = 2173,
    MQRC_GMO_ERROR = 2186,
    MQRC_CALL_IN_PROGRESS = 2219,
    MQRC_FUNCTION_NOT_SUPPORTED = 2298,
    MQRC_STRING_TRUNCATED = 2311,
    MQRC_HOST_NOT_AVAILABLE = 2538,
    MQRCCF_COMMAND_FAILED = 3008
};
#define MQHM_UNUSABLE_HMSG ((MQHMSG)-1)

enum {
    MQTYPE_NULL = 2,
    MQTYPE_BOOLEAN = 4,
    MQTYPE_BYTE_STRING = 8,
    MQTYPE_INT8 = 16,
    MQTYPE_INT16 = 32,
    MQTYPE_INT32 = 64,
    MQTYPE_INT64 = 128,
    MQTYPE_FLOAT32 = 256,
    MQTYPE_FLOAT64 = 512,
    MQTYPE_STRING = 1024
};

void MQCONN(char *name, MQHCONN *hconn, MQLONG *cc, MQLONG *rc);
void MQCONNX(char *name, MQCNO *cno, MQHCONN *hconn, MQLONG *cc, MQLONG *rc);
void MQDISC(MQHCONN *hconn, MQLONG *cc, MQLONG *rc);
void MQOPEN(MQHCONN hconn, void *od, MQLONG options, MQHOBJ *hobj, MQLONG *cc, MQLONG *rc);
void MQCLOSE(MQHCONN hconn, MQHOBJ *hobj, MQLONG options, MQLONG *cc, MQLONG *rc);
void MQPUT(MQHCONN hconn, MQHOBJ hobj, void *md, void *pmo, MQLONG length, void *data, MQLONG *cc, MQLONG *rc);
void MQPUT1(MQHCONN hconn, void *od, void *md, void *pmo, MQLONG length, void *data, MQLONG *cc, MQLONG *rc);
void MQGET(MQHCONN hconn, MQHOBJ hobj, void *md, void *gmo, MQLONG room, void *buffer, MQLONG *length, MQLONG *cc,
           MQLONG *rc);
void MQINQ(MQHCONN hconn, MQHOBJ hobj, MQLONG selector_count, MQLONG *selectors, MQLONG int_count, MQLONG *ints,
           MQLONG char_length, char *chars, MQLONG *cc, MQLONG *rc);
void MQSET(MQHCONN hconn, MQHOBJ hobj, MQLONG selector_count, MQLONG *selectors, MQLONG int_count, MQLONG *ints,
           MQLONG char_length, char *chars, MQLONG *cc, MQLONG *rc);
void MQBEGIN(MQHCONN hconn, void *bo, MQLONG *cc, MQLONG *rc);
void MQCMIT(MQHCONN hconn, MQLONG *cc, MQLONG *rc);
void MQBACK(MQHCONN hconn, MQLONG *cc, MQLONG *rc);
void MQSUB(MQHCONN hconn, void *sd, MQHOBJ *hobj, MQHOBJ *hsub, MQLONG *cc, MQLONG *rc);
void MQSUBRQ(MQHCONN hconn, MQHOBJ hsub, MQLONG action, void *sro, MQLONG *cc, MQLONG *rc);
void MQSTAT(MQHCONN hconn, MQLONG type, void *sts, MQLONG *cc, MQLONG *rc);
void MQCB(MQHCONN hconn, MQLONG operation, void *cbd, MQHOBJ hobj, void *md, void *gmo, MQLONG *cc, MQLONG *rc);
void MQCTL(MQHCONN hconn, MQLONG operation, void *ctlo, MQLONG *cc, MQLONG *rc);
void MQCRTMH(MQHCONN hconn, void *cmho, MQHMSG *hmsg, MQLONG *cc, MQLONG *rc);
void MQDLTMH(MQHCONN hconn, MQHMSG *hmsg, void *dmho, MQLONG *cc, MQLONG *rc);
void MQSETMP(MQHCONN hconn, MQHMSG hmsg, void *smpo, void *name, void *pd, MQLONG type, MQLONG length, void *value,
             MQLONG *cc, MQLONG *rc);
void MQINQMP(MQHCONN hconn, MQHMSG hmsg, void *impo, void *name, void *pd, MQLONG *type, MQLONG room, void *value,
             MQLONG *length, MQLONG *cc, MQLONG *rc);
void MQDLTMP(MQHCONN hconn, MQHMSG hmsg, void *dmpo, void *name, MQLONG *cc, MQLONG *rc);

#endif
