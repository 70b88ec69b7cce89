/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "redact/secret_chars.h"
#include "redact/secrets.h"

/* The characters of a token besides letters and digits. */
#define DASHED "-_"
#define DOTTED "-_."
#define BASE64 "-_.~+/="

/*
 * A prefix, and how many characters must follow it at least. `keeps`: the
 * prefix is not removed.
 */
static const struct token {
	const char *prefix, *others;
	size_t least;
	enum rcore_redacted kind;
	bool keeps;
} tokens[] = {
	{"AKIA", "", 16, RCORE_REDACTED_TOKEN, false},
	{"ASIA", "", 16, RCORE_REDACTED_TOKEN, false},
	{"ghp_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"gho_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"ghu_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"ghs_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"ghr_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"github_pat_", "_", 20, RCORE_REDACTED_TOKEN, false},
	{"glpat-", DASHED, 16, RCORE_REDACTED_TOKEN, false},
	{"xoxa-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xoxb-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xoxp-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xoxr-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xoxs-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xapp-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"hooks.slack.com/services/", "/", 10, RCORE_REDACTED_TOKEN, true},
	{"sk_live_", "", 10, RCORE_REDACTED_TOKEN, false},
	{"sk_test_", "", 10, RCORE_REDACTED_TOKEN, false},
	{"rk_live_", "", 10, RCORE_REDACTED_TOKEN, false},
	{"rk_test_", "", 10, RCORE_REDACTED_TOKEN, false},
	{"whsec_", "", 16, RCORE_REDACTED_TOKEN, false},
	{"sk-", DASHED, 32, RCORE_REDACTED_TOKEN, false},
	{"AIza", DASHED, 35, RCORE_REDACTED_TOKEN, false},
	{"npm_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"rubygems_", "", 40, RCORE_REDACTED_TOKEN, false},
	{"SG.", DOTTED, 40, RCORE_REDACTED_TOKEN, false},
	{"ABIA", "", 16, RCORE_REDACTED_TOKEN, false},
	{"ACCA", "", 16, RCORE_REDACTED_TOKEN, false},
	{"glptt-", DASHED, 16, RCORE_REDACTED_TOKEN, false},
	{"gldt-", DASHED, 16, RCORE_REDACTED_TOKEN, false},
	{"glrt-", DASHED, 16, RCORE_REDACTED_TOKEN, false},
	{"glsoat-", DASHED, 16, RCORE_REDACTED_TOKEN, false},
	{"xoxe-", DASHED, 10, RCORE_REDACTED_TOKEN, false},
	{"xoxe.", DOTTED, 10, RCORE_REDACTED_TOKEN, false},
	{"dop_v1_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"doo_v1_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"dor_v1_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"hvs.", DASHED, 20, RCORE_REDACTED_TOKEN, false},
	{"hvb.", DASHED, 20, RCORE_REDACTED_TOKEN, false},
	{"hvr.", DASHED, 20, RCORE_REDACTED_TOKEN, false},
	{"shpat_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"shpca_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"shppa_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"shpss_", "", 20, RCORE_REDACTED_TOKEN, false},
	{"sq0atp-", DASHED, 20, RCORE_REDACTED_TOKEN, false},
	{"sq0csp-", DASHED, 20, RCORE_REDACTED_TOKEN, false},
	{"pypi-", DASHED, 40, RCORE_REDACTED_TOKEN, false},
	{"dapi", "-", 32, RCORE_REDACTED_TOKEN, false},
	{"hf_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"gsk_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"r8_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"ya29.", DASHED, 20, RCORE_REDACTED_TOKEN, false},
	{"GOCSPX-", DASHED, 20, RCORE_REDACTED_TOKEN, false},
	{"ATATT3", DASHED "=", 30, RCORE_REDACTED_TOKEN, false},
	{"ATCTT3", DASHED "=", 30, RCORE_REDACTED_TOKEN, false},
	{"NRAK-", "", 20, RCORE_REDACTED_TOKEN, false},
	{"PMAK-", "-", 30, RCORE_REDACTED_TOKEN, false},
	{"lin_api_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"ntn_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"figd_", DASHED, 30, RCORE_REDACTED_TOKEN, false},
	{"sntrys_", BASE64, 30, RCORE_REDACTED_TOKEN, false},
	{"sntryu_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"glsa_", "_", 30, RCORE_REDACTED_TOKEN, false},
	{"glc_", BASE64, 30, RCORE_REDACTED_TOKEN, false},
	{"tskey-", DASHED, 16, RCORE_REDACTED_TOKEN, false},
	{"dckr_pat_", DASHED, 20, RCORE_REDACTED_TOKEN, false},
	{"bkua_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"nfp_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"pscale_tkn_", DOTTED, 30, RCORE_REDACTED_TOKEN, false},
	{"pscale_pw_", DOTTED, 30, RCORE_REDACTED_TOKEN, false},
	{"sbp_", "", 30, RCORE_REDACTED_TOKEN, false},
	{"xkeysib-", DASHED, 40, RCORE_REDACTED_TOKEN, false},
	{"key-", "", 32, RCORE_REDACTED_TOKEN, false},
	{"SK", "", 32, RCORE_REDACTED_TOKEN, false},
	{"HRKU-", DASHED, 30, RCORE_REDACTED_TOKEN, false},
	{"AGE-SECRET-KEY-1", "", 40, RCORE_REDACTED_TOKEN, false},
	{"$2a$", "$./", 40, RCORE_REDACTED_TOKEN, false},
	{"$2b$", "$./", 40, RCORE_REDACTED_TOKEN, false},
	{"$2y$", "$./", 40, RCORE_REDACTED_TOKEN, false},
	{"$argon2", "$./+=,", 40, RCORE_REDACTED_TOKEN, false},
	{"$6$", "$./=", 40, RCORE_REDACTED_TOKEN, false},
	{"$y$", "$./", 40, RCORE_REDACTED_TOKEN, false},
	{"eyJ", DOTTED, 20, RCORE_REDACTED_JWT, false},
	{"Bearer ", BASE64, 6, RCORE_REDACTED_BEARER, true},
	{"bearer ", BASE64, 6, RCORE_REDACTED_BEARER, true},
	{"Basic ", BASE64, 8, RCORE_REDACTED_BEARER, true},
	{"Token token=", BASE64 "\"", 6, RCORE_REDACTED_BEARER, true},
	{"IDENTIFIED BY '", "!#$%&()*+,-./:;<=>?@[]^_{|}~", 1, RCORE_REDACTED_KEY, true},
	{"PASSWORD '", "!#$%&()*+,-./:;<=>?@[]^_{|}~", 1, RCORE_REDACTED_KEY, true},
};

static void find_token(const char *text, size_t size, size_t at, struct rcore_spans *ret)
{
	for (size_t i = 0; i < RCORE_COUNT(tokens); i++) {
		const struct token *token = &tokens[i];
		if (text[at] != token->prefix[0] || !begins(text, size, at, token->prefix))
			continue;
		size_t start = at + strlen(token->prefix);
		size_t length = run_of(text, size, start, token->others);
		/*
		 * A match in the middle of a word is not a token, except after
		 * the "n" of an escaped "\n".
		 */
		bool is_inside = is_inside_word(text, at) && (at < 2 || text[at - 2] != '\\');
		if (length >= token->least && !is_inside)
			rcore_span_add(ret, token->keeps ? start : at, start + length,
				       token->kind);
	}
}

/* From -----BEGIN to the end of the line with -----END, or of the text. */
static size_t find_pem(const char *text, size_t size, size_t at, struct rcore_spans *ret)
{
	static const char mark[] = "-----BEGIN ", end_mark[] = "-----END ", dashes[] = "-----";
	if (!begins(text, size, at, mark))
		return at;
	const char *end = memmem(text + at, size - at, end_mark, strlen(end_mark));
	size_t stop = size;
	if (end) {
		size_t name = (size_t)(end - text) + strlen(end_mark);
		const char *last = memmem(text + name, size - name, dashes, strlen(dashes));
		stop = last ? (size_t)(last - text) + strlen(dashes) : size;
	} else {
		/*
		 * It is truncated, so remove everything up to the end of its
		 * literal.
		 */
		size_t quote = at;
		while (quote < size && text[quote] != '"' && text[quote])
			quote++;
		stop = quote;
	}
	rcore_span_add(ret, at, stop, RCORE_REDACTED_PEM);
	return stop - 1;
}

void rcore_secret_tokens(const char *text, size_t size, struct rcore_spans *ret)
{
	bool begins_token[256] = {0};
	for (size_t i = 0; i < RCORE_COUNT(tokens); i++)
		begins_token[(unsigned char)tokens[i].prefix[0]] = true;
	for (size_t at = 0; at < size; at++) {
		if (text[at] == '-')
			at = find_pem(text, size, at, ret);
		else if (begins_token[(unsigned char)text[at]])
			find_token(text, size, at, ret);
	}
}
