/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "base/count.h"
#include "redact/secret_chars.h"
#include "redact/secrets.h"

/* The characters of a token besides letters and digits. */
#define DASHED "-_"
#define DOTTED "-_."
#define BASE64 "-_.~+/="

/* A prefix, and how many characters must follow it at least. */
static const struct token {
	const char *prefix, *others;
	size_t least;
	enum rcore_redacted kind;
	enum {
		PLAIN,
		KEEPS = 1,    /* the prefix is not removed */
		NOT_WORD = 2, /* if a word follows, it is prose */
	} how;
} tokens[] = {
	{"AKIA", "", 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"ASIA", "", 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"ghp_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"gho_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"ghu_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"ghs_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"ghr_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"github_pat_", "_", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"glpat-", DASHED, 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"xoxa-", DASHED, 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"xoxb-", DASHED, 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"xoxp-", DASHED, 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"xoxr-", DASHED, 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"xoxs-", DASHED, 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"xapp-", DASHED, 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"hooks.slack.com/services/", "/", 10, RCORE_REDACTED_TOKEN, KEEPS},
	{"sk_live_", "", 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"sk_test_", "", 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"rk_live_", "", 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"rk_test_", "", 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"whsec_", "", 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"sk-", DASHED, 32, RCORE_REDACTED_TOKEN, PLAIN},
	{"AIza", DASHED, 35, RCORE_REDACTED_TOKEN, PLAIN},
	{"npm_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"rubygems_", "", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"SG.", DOTTED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"ABIA", "", 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"ACCA", "", 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"glptt-", DASHED, 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"gldt-", DASHED, 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"glrt-", DASHED, 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"glsoat-", DASHED, 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"xoxe-", DASHED, 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"xoxe.", DOTTED, 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"dop_v1_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"doo_v1_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"dor_v1_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"hvs.", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"hvb.", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"hvr.", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"shpat_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"shpca_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"shppa_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"shpss_", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"sq0atp-", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"sq0csp-", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"pypi-", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"dapi", "-", 32, RCORE_REDACTED_TOKEN, PLAIN},
	{"hf_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"gsk_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"r8_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"ya29.", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"GOCSPX-", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"ATATT3", DASHED "=", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"ATCTT3", DASHED "=", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"NRAK-", "", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"PMAK-", "-", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"lin_api_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"ntn_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"figd_", DASHED, 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"sntrys_", BASE64, 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"sntryu_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"glsa_", "_", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"glc_", BASE64, 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"tskey-", DASHED, 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"dckr_pat_", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"bkua_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"nfp_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"pscale_tkn_", DOTTED, 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"pscale_pw_", DOTTED, 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"sbp_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"xkeysib-", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"key-", "", 32, RCORE_REDACTED_TOKEN, PLAIN},
	{"SK", "", 32, RCORE_REDACTED_TOKEN, PLAIN},
	{"HRKU-", DASHED, 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"AGE-SECRET-KEY-1", "", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"$2a$", "$./", 25, RCORE_REDACTED_TOKEN, PLAIN},
	{"$2b$", "$./", 25, RCORE_REDACTED_TOKEN, PLAIN},
	{"$2y$", "$./", 25, RCORE_REDACTED_TOKEN, PLAIN},
	{"$argon2", "$./+=,", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"$6$", "$./=", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"$y$", "$./", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"glft-", DASHED, 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"glcbt-", DASHED, 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"glagent-", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"glimt-", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"GR1348941", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"sk_prod_", "", 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"rk_prod_", "", 10, RCORE_REDACTED_TOKEN, PLAIN},
	{"EAAA", DASHED, 50, RCORE_REDACTED_TOKEN, PLAIN},
	{"xai-", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"pplx-", "", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"nvapi-", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"tvly-", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"lsv2_pt_", "_", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"lsv2_sk_", "_", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"sgp_", "_", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"phx_", "", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"rnd_", "", 28, RCORE_REDACTED_TOKEN, PLAIN},
	{"re_", "", 24, RCORE_REDACTED_TOKEN, PLAIN},
	{"oy2", "", 43, RCORE_REDACTED_TOKEN, PLAIN},
	{"CFPAT-", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"ops_eyJ", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"dp.pt.", "", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"dp.st.", DOTTED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"dt0c01.", DOTTED, 60, RCORE_REDACTED_TOKEN, PLAIN},
	{"EZAK", "", 50, RCORE_REDACTED_TOKEN, PLAIN},
	{"EZTK", "", 50, RCORE_REDACTED_TOKEN, PLAIN},
	{"FLWSECK-", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"FLWSECK_TEST-", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"fio-u-", DASHED, 60, RCORE_REDACTED_TOKEN, PLAIN},
	{"AKCp", "", 50, RCORE_REDACTED_TOKEN, PLAIN},
	{"LTAI", "", 16, RCORE_REDACTED_TOKEN, PLAIN},
	{"aio_", "", 28, RCORE_REDACTED_TOKEN, PLAIN},
	{"CLOJARS_", "", 50, RCORE_REDACTED_TOKEN, PLAIN},
	{"duffel_test_", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"duffel_live_", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"ico-", "", 32, RCORE_REDACTED_TOKEN, PLAIN},
	{"sha256~", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"access-sandbox-", "-", 36, RCORE_REDACTED_TOKEN, PLAIN},
	{"access-production-", "-", 36, RCORE_REDACTED_TOKEN, PLAIN},
	{"pscale_oauth_", DOTTED, 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"pnu_", "", 36, RCORE_REDACTED_TOKEN, PLAIN},
	{"pul-", "", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"rdme_", "", 60, RCORE_REDACTED_TOKEN, PLAIN},
	{"tk-us-", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"sm_pat_", "", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"shippo_live_", "", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"shippo_test_", "", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"tfp_", DASHED ".", 50, RCORE_REDACTED_TOKEN, PLAIN},
	{"AQVN", DASHED, 35, RCORE_REDACTED_TOKEN, PLAIN},
	{"dckr_oat_", DASHED, 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"vercel_blob_rw_", "_", 30, RCORE_REDACTED_TOKEN, PLAIN},
	{"NRII-", DASHED, 28, RCORE_REDACTED_TOKEN, PLAIN},
	{"NRAA-", "", 27, RCORE_REDACTED_TOKEN, PLAIN},
	{"1//0", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"fo1_", DASHED, 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"fm1_", BASE64, 50, RCORE_REDACTED_TOKEN, PLAIN},
	{"fm2_", BASE64, 50, RCORE_REDACTED_TOKEN, PLAIN},
	{"$apr1$", "$./", 24, RCORE_REDACTED_TOKEN, PLAIN},
	{"$1$", "$./", 24, RCORE_REDACTED_TOKEN, PLAIN},
	{"$5$", "$./=", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"$scrypt$", "$./+=,", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"$pbkdf2-", "$./+=,-", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"pbkdf2_sha256$", "$./+=", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"{SSHA}", "+/=", 28, RCORE_REDACTED_TOKEN, PLAIN},
	{"{PBKDF2}", "$./+=", 40, RCORE_REDACTED_TOKEN, PLAIN},
	{"{SHA}", "+/=", 28, RCORE_REDACTED_TOKEN, PLAIN},
	{"$A$005$", "$./", 20, RCORE_REDACTED_TOKEN, PLAIN},
	{"discord.com/api/webhooks/", DASHED "/", 20, RCORE_REDACTED_TOKEN, KEEPS},
	{"discordapp.com/api/webhooks/", DASHED "/", 20, RCORE_REDACTED_TOKEN, KEEPS},
	{"api.telegram.org/bot", DASHED ":", 20, RCORE_REDACTED_TOKEN, KEEPS},
	{"eyJ", DOTTED, 20, RCORE_REDACTED_JWT, PLAIN},
	{"Bearer ", BASE64, 6, RCORE_REDACTED_BEARER, KEEPS},
	{"bearer ", BASE64, 6, RCORE_REDACTED_BEARER, KEEPS | NOT_WORD},
	{"Basic ", BASE64, 4, RCORE_REDACTED_BEARER, KEEPS | NOT_WORD},
	{"basic ", BASE64, 8, RCORE_REDACTED_BEARER, KEEPS | NOT_WORD},
	{"Basic\", \"", BASE64, 4, RCORE_REDACTED_BEARER, KEEPS},
	{"Basic\\\", \\\"", BASE64, 4, RCORE_REDACTED_BEARER, KEEPS},
	{"Basic\\\\\\\", \\\\\\\"", BASE64, 4, RCORE_REDACTED_BEARER, KEEPS},
	{"Bearer\", \"", BASE64, 6, RCORE_REDACTED_BEARER, KEEPS},
	{"AUTH PLAIN ", BASE64, 6, RCORE_REDACTED_BEARER, KEEPS},
	{"Token token=", BASE64 "\"", 6, RCORE_REDACTED_BEARER, KEEPS},
	{"Signature=", BASE64 "%", 12, RCORE_REDACTED_TOKEN, KEEPS},
	{"?sig=", BASE64 "%", 6, RCORE_REDACTED_TOKEN, KEEPS},
	{"&sig=", BASE64 "%", 6, RCORE_REDACTED_TOKEN, KEEPS},
	{";sig=", BASE64 "%", 6, RCORE_REDACTED_TOKEN, KEEPS},
};

/*
 * How far a scan has come. Each token, and the end of PEM blocks, is looked for
 * at each byte once, even if every few bytes seem to begin a token.
 */
struct scan {
	const char *text;
	size_t size;
	/* of the last run of each token */
	size_t run_ends[RCORE_COUNT(tokens)];
	/* from here to the end of the text */
	bool no_pem_end;
	struct rcore_spans *found;
};

static size_t run_end(struct scan *scan, size_t index, size_t start)
{
	size_t *end = &scan->run_ends[index];
	if (*end <= start)
		*end = start + run_of(scan->text, scan->size, start, tokens[index].others);
	return *end;
}

/* Whether letters are the base64 of a name, a colon and a password. */
static bool is_pair(const char *text, size_t at, size_t end)
{
	unsigned bits = 0, count = 0;
	bool has_colon = false;
	for (; at < end; at++) {
		bool is_upper = text[at] >= 'A' && text[at] <= 'Z';
		bits = bits << 6 | (unsigned)(is_upper ? text[at] - 'A' : text[at] - 'a' + 26);
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		unsigned byte = bits >> count & 0xff;
		if (byte <= ' ' || byte > '~')
			return false;
		has_colon |= byte == ':';
	}
	return has_colon;
}

/*
 * "Basic authentication", "Basic Authentication" and "Basic OAuth" are prose.
 * "Basic YTpi" is not: that is "a:b".
 */
static bool is_word(const char *text, size_t at, size_t end)
{
	enum { SHORT = 8 };
	size_t letter = at;
	while (letter < end && isalpha((unsigned char)text[letter]))
		letter++;
	if (letter == end && end - at < SHORT)
		return !is_pair(text, at, end);
	if (at < end && text[at] >= 'A' && text[at] <= 'Z')
		at++;
	while (at < end && text[at] >= 'a' && text[at] <= 'z')
		at++;
	return at == end;
}

static void find_token(struct scan *scan, size_t at)
{
	/*
	 * A match in the middle of a word is not a token, except after the "n"
	 * of an escaped "\n".
	 */
	if (is_alnum(scan->text[at]) && is_inside_word(scan->text, at) &&
	    (at < 2 || scan->text[at - 2] != '\\'))
		return;
	for (size_t i = 0; i < RCORE_COUNT(tokens); i++) {
		const struct token *token = &tokens[i];
		if (scan->text[at] != token->prefix[0] ||
		    !begins(scan->text, scan->size, at, token->prefix))
			continue;
		size_t start = at + strlen(token->prefix), end = run_end(scan, i, start);
		if (end - start < token->least ||
		    (token->how & NOT_WORD && is_word(scan->text, start, end)))
			continue;
		rcore_span_add(scan->found, token->how & KEEPS ? start : at, end, token->kind);
	}
}

/* Returns the end of the line with -----END, or 0 if there is none. */
static size_t pem_end(struct scan *scan, size_t at)
{
	static const char mark[] = "-----END ", dashes[] = "-----";
	const char *end =
		scan->no_pem_end ? NULL
				 : memmem(scan->text + at, scan->size - at, mark, strlen(mark));
	scan->no_pem_end = !end;
	if (!end)
		return 0;
	size_t name = (size_t)(end - scan->text) + strlen(mark);
	const char *last = memmem(scan->text + name, scan->size - name, dashes, strlen(dashes));
	return last ? (size_t)(last - scan->text) + strlen(dashes) : scan->size;
}

/*
 * From -----BEGIN to the end of the line with -----END. If that is missing, the
 * block is truncated, and ends with its literal. Returns the last byte.
 */
static size_t find_pem(struct scan *scan, size_t at)
{
	if (!begins(scan->text, scan->size, at, "-----BEGIN "))
		return at;
	size_t stop = pem_end(scan, at);
	if (!stop)
		for (stop = at;
		     stop < scan->size && scan->text[stop] != '"' && scan->text[stop];)
			stop++;
	rcore_span_add(scan->found, at, stop, RCORE_REDACTED_PEM);
	return stop - 1;
}

/* Returns the end of a line, or `at` if none ends there. */
static size_t line_end(const struct scan *scan, size_t at)
{
	size_t end = at;
	while (end < scan->size && scan->text[end] == '\\')
		end++;
	if (end > at)
		return end < scan->size && scan->text[end] == 'n' ? end + 1 : at;
	end += end < scan->size && scan->text[end] == '\r';
	return end < scan->size && scan->text[end] == '\n' ? end + 1 : at;
}

/*
 * The lines of hex digits after $ANSIBLE_VAULT;1.1;AES256, which may be
 * indented. Returns the last byte.
 */
static size_t find_vault(struct scan *scan, size_t at)
{
	static const char mark[] = "$ANSIBLE_VAULT;";
	if (!begins(scan->text, scan->size, at, mark))
		return at;
	size_t name = at + strlen(mark);
	name += run_of(scan->text, scan->size, name, ";._-");
	size_t start = line_end(scan, name), end = start;
	for (size_t line = start; line > name;) {
		while (line < scan->size && is_one_of(scan->text[line], " \t"))
			line++;
		size_t digits = line;
		while (digits < scan->size && isxdigit((unsigned char)scan->text[digits]))
			digits++;
		size_t next = line_end(scan, digits);
		bool is_last = digits == scan->size || is_one_of(scan->text[digits], "\"'`");
		if (digits == line || (next == digits && !is_last))
			break;
		end = digits;
		if (next == digits)
			break;
		line = next;
	}
	if (start == name || end <= start)
		return at;
	rcore_span_add(scan->found, start, end, RCORE_REDACTED_TOKEN);
	return end - 1;
}

void rcore_secret_tokens(const char *text, size_t size, struct rcore_spans *ret)
{
	struct scan scan = {.text = text, .size = size, .found = ret};
	bool begins_token[256] = {0};
	for (size_t i = 0; i < RCORE_COUNT(tokens); i++)
		begins_token[(unsigned char)tokens[i].prefix[0]] = true;
	for (size_t at = 0; at < size; at++) {
		size_t last = at;
		if (text[at] == '-')
			last = find_pem(&scan, at);
		else if (text[at] == '$')
			last = find_vault(&scan, at);
		if (last > at)
			at = last;
		else if (begins_token[(unsigned char)text[at]])
			find_token(&scan, at);
	}
	rcore_secret_sql(text, size, ret);
}
