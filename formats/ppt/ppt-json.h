/*
 * ppt-json.h - Haskell's JSON, as `_json` has it: objects whose keys come in any order, and values with a constructor, which are
 * {"tag":T,"contents":C}, or only the text T.
 */
#ifndef CTP_PPT_JSON_H
#define CTP_PPT_JSON_H

#include "base/err.h"
#include "common/json.h"

enum { CTP_PPT_TAG_BYTES = 32 };

struct ctp_ppt_parse {
	struct ctp_ppt_layout *layout;
	char *top; /* of layout->texts: what is behind it is free */
	struct ctp_err *err;
	bool said; /* err has a text */
	unsigned nested;
	char key[CTP_PPT_TAG_BYTES]; /* the last one, cut, for messages */
};

/* False, always; the first of these is what err says. The second: of the value of the last key. */
bool ctp_ppt_json_wrong(struct ctp_ppt_parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool ctp_ppt_json_wrong_value(struct ctp_ppt_parse *p, const char *what);

/* Calls fn for each key of an object; the key is gone when fn decodes a text. */
typedef bool ctp_ppt_json_on_key(struct ctp_ppt_parse *p, void *arg, const char *key, struct ctp_json *j);
bool ctp_ppt_json_walk(struct ctp_ppt_parse *p, struct ctp_json *j, ctp_ppt_json_on_key *fn, void *arg);

/* A text that is kept; at most CTP_PPT_NAME_MAX bytes. */
bool ctp_ppt_json_keep(struct ctp_ppt_parse *p, struct ctp_json *j, const char **text);
bool ctp_ppt_json_number(struct ctp_ppt_parse *p, struct ctp_json *j, uint64_t max, uint64_t *v);

/* A value with a constructor; of another, the tag is "". */
struct ctp_ppt_tagged {
	char tag[CTP_PPT_TAG_BYTES]; /* "": none, or longer than any that is known */
	struct ctp_json contents; /* empty: none */
};
bool ctp_ppt_json_tagged(struct ctp_ppt_parse *p, struct ctp_json *j, struct ctp_ppt_tagged *t);

/* The first of the contents, or the contents themselves where they are no array, as a value with a constructor. */
bool ctp_ppt_json_first(struct ctp_ppt_parse *p, const struct ctp_ppt_tagged *of, struct ctp_ppt_tagged *t);

#endif
