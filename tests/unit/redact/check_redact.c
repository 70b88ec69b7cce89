/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/count.h"
#include "base/filler.h"
#include "target/pack/pack_notes.h"
#include "redact/known_secrets.h"
#include "redact/redact.h"
#include "suite.h"

static struct rcore_arena arena;

static void setup(void)
{
	arena = (struct rcore_arena){0};
}

static void teardown(void)
{
	rcore_arena_deinit(&arena);
}

/* Returns what is left of a text, with `~` for each removed character. */
static const char *left_of(const char *text,
			   void (*find)(const char *, size_t, struct rcore_spans *))
{
	struct rcore_spans spans = {0};
	char *copy = rcore_arena_strdup(&arena, text);
	find(text, strlen(text), &spans);
	rcore_spans_settle(&spans);
	for (size_t i = 0; i < spans.count; i++)
		memset(copy + spans.items[i].start, '~',
		       spans.items[i].end - spans.items[i].start);
	rcore_spans_deinit(&spans);
	return copy;
}

struct text {
	const char *text, *left;
};

static const struct text patterns[] = {
	{"id AKIAABCDEFGHIJKLMNOP.", "id ~~~~~~~~~~~~~~~~~~~~."},
	{"SLAKIAABCDEFGHIJKLMNOP", "SLAKIAABCDEFGHIJKLMNOP"},
	{"\\nghp_abcdefghijklmnopqrst!", "\\n~~~~~~~~~~~~~~~~~~~~~~~~!"},
	{"re_abcdefghijklmnopqrstuvwx", "~~~~~~~~~~~~~~~~~~~~~~~~~~~"},
	{"re_render_the_page_with_all_partials", "re_render_the_page_with_all_partials"},
	{"oy2abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq",
	 "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"},
	{"eyJhbGciOi.eyJzdWIiOiIxMjM0.x-_y", "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"},
	{"eyJ", "eyJ"},
	{"Authorization is Bearer abc.def", "Authorization is Bearer ~~~~~~~"},
	{"the bearer of this", "the bearer of this"},
	{"a bearer certificate", "a bearer certificate"},
	{"sent Bearer mysecrettoken", "sent Bearer ~~~~~~~~~~~~~"},
	{"-----BEGIN X-----\nab\n-----END X-----\n", "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"},
	{"\"-----BEGIN X----- cut\"... (9 more bytes)",
	 "\"~~~~~~~~~~~~~~~~~~~~~\"... (9 more bytes)"},
	{"-- a -----", "-- a -----"},
	{"to bob.b+c@mail.example.com.", "to ~~~~~~~~~~~~~~~~~~~~~~~~."},
	{"worker@app.rb:12", "worker@app.rb:12"},
	{"@ivar foo@1.2.3 a@b", "@ivar foo@1.2.3 a@b"},
	{"postgres://bob:pw@db/x", "postgres://~~~~~~@db/x"},
	{"http://example.com/a@b", "http://example.com/a@b"},
	{"4111 1111 1111 1111,", "~~~~~~~~~~~~~~~~~~~,"},
	{"4111-1111-1111-1112", "4111-1111-1111-1112"},
	{"0x4111111111111111", "0x4111111111111111"},
	{"3f786850e387550fdab836ed7e6dc881de23001b",
	 "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"},
	{"6f1e4a52-1f2d-4d6e-9d43-77b10e12a9c1", "6f1e4a52-1f2d-4d6e-9d43-77b10e12a9c1"},
	{"/usr/lib/x86_64-linux-gnu/ruby/3.1.0/Json/Ext",
	 "/usr/lib/x86_64-linux-gnu/ruby/3.1.0/Json/Ext"},
	{"00000000000000000000000000000000", "00000000000000000000000000000000"},
	{"$2a$12$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0",
	 "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"},
	/* What warden keeps of a hash in a session: its salt. */
	{"[[1], \"$2a$12$abcdefghijklmnopqrstuv\"]",
	 "[[1], \"~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\"]"},
	{"$ANSIBLE_VAULT;1.1;AES256\n3132\n3334\ndatabase: 1",
	 "$ANSIBLE_VAULT;1.1;AES256\n~~~~~~~~~\ndatabase: 1"},
	{"x: !vault |\n  $ANSIBLE_VAULT;1.2;AES256;dev\r\n  31\r\n  33\r\n",
	 "x: !vault |\n  $ANSIBLE_VAULT;1.2;AES256;dev\r\n~~~~~~~~~~\r\n"},
	{"\"$ANSIBLE_VAULT;1.1;AES256\\n3132\\n33\"",
	 "\"$ANSIBLE_VAULT;1.1;AES256\\n~~~~~~~~\""},
	{"$ANSIBLE_VAULT;1.1;AES256\nabc is no line of it",
	 "$ANSIBLE_VAULT;1.1;AES256\nabc is no line of it"},
	{"$ANSIBLE_VAULT; and $2a$12$", "$ANSIBLE_VAULT; and $2a$12$"},
	{"/x?sig=abcdef&a=1", "/x?sig=~~~~~~&a=1"},
	{"hvs.abcdefghijklmnopqrstuvwx!", "~~~~~~~~~~~~~~~~~~~~~~~~~~~~!"},
	{"x IDENTIFIED BY 'a-b' y", "x IDENTIFIED BY '~~~' y"},
	{"x IDENTIFIED BY '''ab' y", "x IDENTIFIED BY '~~~~' y"},
	{"Basic HTTP authentication, Basic OAuth", "Basic HTTP authentication, Basic OAuth"},
	{"Basic YTpi", "Basic ~~~~"},
	{"", ""},
};

START_TEST(finds_patterns)
{
	ck_assert_str_eq(left_of(patterns[_i].text, rcore_secret_patterns), patterns[_i].left);
}
END_TEST

static const struct text keys[] = {
	{"{:password=>\"ab\\\"c\", :a=>1}", "{:password=>\"~~~~~\", :a=>1}"},
	{"{password: \"abc\", page: 3}", "{password: \"~~~\", page: 3}"},
	{"{\"db-password\" => \"abc\"}", "{\"db-password\" => \"~~~\"}"},
	{"{\"apiKey\":\"abc\",\"x\":1}", "{\"apiKey\":\"~~~\",\"x\":1}"},
	{"\"{\\\"token\\\":\\\"a b\\\"}\"", "\"{\\\"token\\\":\\\"~~~\\\"}\""},
	{"#<User @password=\"x\", @name=\"y\">", "#<User @password=\"~\", @name=\"y\">"},
	{"secrets: [\"a\", {b: \"]\"}], c: 1", "secrets: ~~~~~~~~~~~~~~~, c: 1"},
	{"credential: #<C:0x1 @a=\"b\">, d", "credential: ~~~~~~~~~~~~~~~, d"},
	{"login?password=abc&x=1", "login?password=~~~&x=1"},
	{"login?password=a\\\\bc&x=1", "login?password=~~~~~&x=1"},
	{"--secret=abc next", "--secret=~~~ next"},
	{"Authorization: Basic abc def\nHost: x", "Authorization: ~~~~~~~~~~~~~\nHost: x"},
	{"password: nil, token: true, secret: \"\"",
	 "password: nil, token: true, secret: \"\""},
	{"token_count: 5, tokenizer: \"x\", author: \"y\"",
	 "token_count: 5, tokenizer: \"x\", author: \"y\""},
	{"undefined method `token' for main", "undefined method `token' for main"},
	{"secret_key_base: \"abc\"", "secret_key_base: \"~~~\""},
	{"Secret::Token", "Secret::Token"},
	{"password=", "password="},
	{"password: \"cut off", "password: \"~~~~~~~"},
	{"password: [1, ", "password: ~~~~"},
	{"password_field: a, passwordHash: b", "password_field: a, passwordHash: ~"},
	{"clave=abc, clavel=1, Wachtwoord: x", "clave=~~~, clavel=1, Wachtwoord: ~"},
	{"Enter pass phrase: abc", "Enter pass phrase: ~~~"},
	{"master.key: abc, API key: \"x\"", "master.key: ~~~, API key: \"~\""},
	{"[[\"Secret key\", \"x\"], [\"primary key\", \"y\"]]",
	 "[[\"Secret key\", \"~\"], [\"primary key\", \"y\"]]"},
	{"wrong key: a, sort.key: b, p in: 3, a phrase: c",
	 "wrong key: a, sort.key: b, p in: 3, a phrase: c"},
	{"cache_key=a public_key=b license_key=c", "cache_key=a public_key=b license_key=~"},
	{"db_pass2=abc; lesson=1; footprint: 2", "db_pass2=~~~; lesson=1; footprint: 2"},
	{"Proxy-Authorization: Digest a=\"b\", c=\"d\"\nHost: x",
	 "Proxy-Authorization: ~~~~~~~~~~~~~~~~~~~\nHost: x"},
	{"[\"Authorization: Digest a=\\\"b\\\"\", \"x\"]",
	 "[\"Authorization: ~~~~~~~~~~~~~~\", \"x\"]"},
	{"[[\"Authorization\", \"Token x\"], [:pin, \"12\"]]",
	 "[[\"Authorization\", \"~~~~~~~\"], [:pin, \"~~\"]]"},
	{"[\"token\", \"b\", \"c\"]", "[\"token\", \"b\", \"c\"]"},
	{"unexpected token, \"x\"", "unexpected token, \"x\""},
	{"run --password x --verbose", "run --password ~ --verbose"},
	{"run --password --verbose", "run --password --verbose"},
	{"<a><db:Password a='b'>x y</db:Password><Token/>z",
	 "<a><db:Password a='b'>~~~</db:Password><Token/>z"},
	{"#<Token:0x1>y", "#<Token:0x1>y"},
	{"{\"name\":\"API_KEY\",\"value\":\"x\"}", "{\"name\":\"API_KEY\",\"value\":\"~\"}"},
	{"name=\"pin\"\r\n\r\n12\r\n--", "name=\"pin\"\r\n\r\n~~\r\n--"},
	{"u[password]=x&u%5Bpin%5D=12&v=1", "u[password]=~&u%5Bpin%5D=~~&v=1"},
	{"password: /a b\\/c/i, x", "password: /~~~~~~/i, x"},
	{"token=/usr/lib x", "token=~~~~~~~~ x"},
	{"secret: :\"a b\"", "secret: :\"~~~\""},
	{"password=!!hunter2 user=bob", "password=~~~~~~~~~ user=bob"},
	{"password=!!x&token=ab foo", "password=~~~&token=~~ foo"},
	{"<password>!!a b</password>", "<password>~~~~~</password>"},
	{"<password>e'x</password>", "<password>~~~</password>"},
	{"password: !!str ab", "password: !!str ~~"},
	{"password: !ruby/object:A::B ab", "password: !ruby/object:A::B ~~"},
	{"use 'token=x' and 'retry'", "use 'token=~' and 'retry'"},
	{"{\"token=x\" => 1, \"a\" => 2}", "{\"token=~\" => 1, \"a\" => 2}"},
	{"{\"q\":\"token=N\"}", "{\"q\":\"token=~\"}"},
	{"password=E'ab'", "password=E'~~'"},
	{"machine h login jos\xc3\xa9 password ab", "machine h login jos\xc3\xa9 password ~~"},
	{"%access_key=ab %25token=cd %255Btoken=ef",
	 "%access_key=~~ %25token=~~ %255Btoken=~~"},
};

START_TEST(finds_values_under_keys)
{
	ck_assert_str_eq(left_of(keys[_i].text, rcore_secret_keys), keys[_i].left);
}
END_TEST

/* Wherever a text ends, nothing is read after it. */
START_TEST(ends_anywhere)
{
	for (size_t i = 0; i < RCORE_COUNT(patterns); i++) {
		for (size_t size = 0; size <= strlen(patterns[i].text); size++) {
			char *text = malloc(size + !size);
			struct rcore_spans spans = {0};
			memcpy(text, patterns[i].text, size);
			rcore_secret_patterns(text, size, &spans);
			rcore_secret_keys(text, size, &spans);
			for (size_t j = 0; j < spans.count; j++)
				ck_assert_uint_le(spans.items[j].end, size);
			rcore_spans_deinit(&spans);
			free(text);
		}
	}
	for (size_t i = 0; i < RCORE_COUNT(keys); i++) {
		for (size_t size = 0; size <= strlen(keys[i].text); size++) {
			char *text = malloc(size + !size);
			struct rcore_spans spans = {0};
			memcpy(text, keys[i].text, size);
			rcore_secret_keys(text, size, &spans);
			rcore_secret_patterns(text, size, &spans);
			for (size_t j = 0; j < spans.count; j++)
				ck_assert_uint_le(spans.items[j].end, size);
			rcore_spans_deinit(&spans);
			free(text);
		}
	}
}
END_TEST

static size_t known_at(struct rcore_known_secrets *known, const char *text, size_t size)
{
	struct rcore_spans spans = {0};
	rcore_known_secrets_find(known, text, size, &spans);
	size_t found = spans.count ? spans.items[0].end - spans.items[0].start : 0;
	rcore_spans_deinit(&spans);
	return found;
}

START_TEST(knows_what_it_learned)
{
	struct rcore_known_secrets *known = rcore_known_secrets_new();
	char longest[] = "0123456789abcdefghijklmnopqrstuvwxyz-and-more";
	ck_assert(rcore_known_secrets_add(known, "hunter2\\n", 9));
	ck_assert(rcore_known_secrets_add(known, "abc", 3));
	ck_assert(rcore_known_secrets_add(known, "********", 8));
	ck_assert(rcore_known_secrets_add(known, "false", 5));
	ck_assert(rcore_known_secrets_add(known, longest, strlen(longest)));
	ck_assert_uint_eq(known_at(known, "with hunter2\n!", 14), 8);
	ck_assert_uint_eq(known_at(known, "with hunter2\\n!", 15), 9);
	ck_assert_uint_eq(known_at(known, "with hunter2 !", 14), 0);
	ck_assert_uint_eq(known_at(known, "h\0u\0n\0t\0e\0r\0002\0\n\0", 16), 15);
	ck_assert_uint_eq(known_at(known, "\0h\0u\0n\0t\0e\0r\0002\0\n", 16), 15);
	ck_assert_uint_eq(known_at(known, "abc false ********", 18), 0);
	ck_assert_uint_eq(known_at(known, "[\"abc\", \"abcd\"]", 15), 3);
	ck_assert_uint_eq(known_at(known, "0123456789abcdefghijklmnopqrstuvwx is cut", 41), 34);
	ck_assert_uint_eq(known_at(known, "0123456789abcdefghijklmn is another", 35), 0);
	ck_assert(rcore_known_secrets_has(known, "abc", 3));
	ck_assert(!rcore_known_secrets_has(known, "false", 5));
	rcore_known_secrets_free(known);
	rcore_known_secrets_free(NULL);
}
END_TEST

/* What was learned of one process is removed from texts of another one, too. */
START_TEST(joins_what_was_learned)
{
	struct rcore_redactor *redactor = rcore_redactor_new(RCORE_REDACT_SECRETS);
	struct rcore_redactor *other = rcore_redactor_new(RCORE_REDACT_SECRETS);
	const char *value = "\"only-of-the-second\"", *text = "on only-of-the-second here";
	ck_assert_ptr_null(
		rcore_redact_text(other, &arena, RCORE_PART_VALUE, "password", &value));
	ck_assert_ptr_null(rcore_redact_text(redactor, &arena, RCORE_PART_TEXT, NULL, &text));
	ck_assert_str_eq(text, "on only-of-the-second here");
	ck_assert_ptr_null(rcore_redact_join(redactor, other));
	ck_assert_ptr_null(rcore_redact_join(redactor, other));
	ck_assert_ptr_null(rcore_redact_text(redactor, &arena, RCORE_PART_TEXT, NULL, &text));
	ck_assert_str_eq(text, "on [redacted] here");
	rcore_redactor_free(redactor);
	rcore_redactor_free(other);
}
END_TEST

/* A snapshot with one frame, and its locals after redaction. */
static struct rcore_variable locals_of(enum rcore_redact mode, const char *name,
				       const char *text, struct rcore_exception *exception,
				       struct rcore_snapshot *snapshot)
{
	static struct rcore_local local;
	static struct rcore_frame_values values;
	static struct rcore_frame frame;
	static struct rcore_fiber fiber;
	static struct rcore_exception cause;
	local = (struct rcore_local){.variable = {.name = name, .value.text = text}};
	values = (struct rcore_frame_values){.locals = &local, .local_count = 1};
	frame = (struct rcore_frame){.label = "Foo#bar", .path = "foo.rb", .values = &values};
	cause = (struct rcore_exception){.class_name = "KeyError",
					 .message = exception->message};
	exception->cause = &cause;
	fiber = (struct rcore_fiber){.frames = &frame,
				     .frame_count = 1,
				     .exceptions = exception,
				     .exception_count = 1};
	snapshot->fibers = &fiber;
	snapshot->fiber_count = 1;
	struct rcore_redactor *redactor = rcore_redactor_new(mode);
	ck_assert_ptr_null(rcore_redact_snapshot(redactor, snapshot));
	ck_assert_str_eq(frame.label, mode == RCORE_REDACT_ALL ? "[redacted]" : "Foo#bar");
	if (exception->message)
		ck_assert_str_eq(cause.message, exception->message);
	rcore_redactor_free(redactor);
	return local.variable;
}

/* Secrets that begin alike, and what begins with them, by comparing each. */
START_TEST(knows_similar_ones)
{
	enum { SECRETS = 60, TEXTS = 2000, SIZE = 48 };
	static char secrets[SECRETS][SIZE + 1];
	unsigned seed = (unsigned)time(NULL);
	struct rcore_known_secrets *known = rcore_known_secrets_new();
	for (size_t i = 0; i < SECRETS; i++) {
		size_t size = 6 + rand_r(&seed) % (SIZE - 6);
		for (size_t j = 0; j < size; j++)
			secrets[i][j] = rand_r(&seed) % 40 ? 'a' : 'b';
		ck_assert(rcore_known_secrets_add(known, secrets[i], size));
		/* Some are learned one by one, others together. */
		if (rand_r(&seed) % 2)
			known_at(known, "nothing of it", 13);
	}
	for (size_t i = 0; i < TEXTS; i++) {
		char text[SIZE + 1] = "";
		size_t longest = 0, size = 6 + rand_r(&seed) % (SIZE - 6);
		for (size_t j = 0; j < size; j++)
			text[j] = rand_r(&seed) % 40 ? 'a' : "bc"[rand_r(&seed) % 2];
		for (size_t j = 0; j < SECRETS; j++) {
			size_t length = strlen(secrets[j]), common = 0;
			while (common < length && secrets[j][common] == text[common])
				common++;
			if (common >= (length < 32 ? length : 32) && common > longest)
				longest = common;
		}
		struct rcore_spans spans = {0};
		rcore_known_secrets_find(known, text, size, &spans);
		size_t found = spans.count && !spans.items[0].start ? spans.items[0].end : 0;
		ck_assert_msg(found == longest, "\"%s\": %zu, not %zu", text, found, longest);
		rcore_spans_deinit(&spans);
	}
	rcore_known_secrets_free(known);
}
END_TEST

START_TEST(redacts_a_snapshot)
{
	struct rcore_snapshot snapshot = {0};
	struct rcore_exception exception = {.class_name = "KeyError",
					    .message = "no hunter2 for bob@example.com"};
	struct rcore_variable left = locals_of(RCORE_REDACT_SECRETS, "password", "\"hunter2\"",
					       &exception, &snapshot);
	ck_assert_str_eq(left.value.text, "\"[redacted]\"");
	ck_assert_str_eq(left.name, "password");
	ck_assert_str_eq(exception.message, "no [redacted] for [redacted]");
	ck_assert_uint_eq(snapshot.redaction.counts[RCORE_REDACTED_KEY], 1);
	ck_assert_uint_eq(snapshot.redaction.counts[RCORE_REDACTED_KNOWN], 2);
	ck_assert_uint_eq(snapshot.redaction.counts[RCORE_REDACTED_EMAIL], 2);
	ck_assert_int_eq(snapshot.redaction.mode, RCORE_REDACT_SECRETS);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

static const struct {
	enum rcore_redact mode;
	const char *name, *text, *left, *left_name;
} values[] = {
	{RCORE_REDACT_NONE, "password", "\"hunter2\"", "\"hunter2\"", "password"},
	{RCORE_REDACT_SECRETS, "password", "nil", "nil", "password"},
	{RCORE_REDACT_SECRETS, "pin", "1234", "[redacted]", "pin"},
	{RCORE_REDACT_SECRETS, "pins", "1234", "1234", "pins"},
	{RCORE_REDACT_SECRETS, "tokens", "[\"a\", \"b\"]", "[redacted]", "tokens"},
	{RCORE_REDACT_SECRETS, "x", "\"*** *** ****** \\n***\"",
	 "\"*** *** [redacted] \\n***\"", "x"},
	{RCORE_REDACT_SECRETS, "x", "\"***\\n***\"", "\"[redacted]\"", "x"},
	{RCORE_REDACT_SECRETS, "x", "[\"*\", :\"*******\", :a]", "[\"*\", :[redacted], :a]",
	 "x"},
	{RCORE_REDACT_SECRETS, "x", "[:\"\", :\"a b\", \"******\"]",
	 "[:\"\", :\"a b\", \"[redacted]\"]", "x"},
	{RCORE_REDACT_SECRETS, "x", "{\"a\":\"******\"}", "{\"a\":\"[redacted]\"}", "x"},
	{RCORE_REDACT_ALL, "x", "#<Foo @a=1>", "[redacted]", "[redacted]"},
	{RCORE_REDACT_ALL, "x", "-12.5", "[redacted]", "[redacted]"},
	{RCORE_REDACT_ALL, "x", "true", "true", "[redacted]"},
};

START_TEST(redacts_values)
{
	struct rcore_snapshot snapshot = {0};
	struct rcore_exception exception = {0};
	struct rcore_variable left = locals_of(values[_i].mode, values[_i].name,
					       values[_i].text, &exception, &snapshot);
	ck_assert_str_eq(left.value.text, values[_i].left);
	ck_assert_str_eq(left.name, values[_i].left_name);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

static const struct {
	enum rcore_redact mode;
	bool has_learned;
	const char *text, *left;
} commands[] = {
	{RCORE_REDACT_SECRETS, true, "ruby x.rb --token abc d", "ruby x.rb --token *** d"},
	{RCORE_REDACT_SECRETS, true, "ruby x.rb --token=abc d", "ruby x.rb --token=*** d"},
	{RCORE_REDACT_SECRETS, true, "ruby --token=abc --pin d", "ruby --token=*** --pin *"},
	{RCORE_REDACT_SECRETS, false, "ruby x.rb a", "ruby [redacted]"},
	{RCORE_REDACT_STRINGS, true, "ruby x.rb a", "ruby [redacted]"},
	{RCORE_REDACT_STRINGS, true, "ruby", "ruby"},
};

START_TEST(redacts_commands)
{
	struct rcore_snapshot other = {0}, snapshot = {.arguments = commands[_i].text};
	struct rcore_redactor *redactor = rcore_redactor_new(commands[_i].mode);
	if (commands[_i].has_learned)
		ck_assert_ptr_null(rcore_redact_learn(redactor, &other));
	ck_assert_ptr_null(rcore_redact_snapshot(redactor, &snapshot));
	ck_assert_str_eq(snapshot.arguments, commands[_i].left);
	rcore_redactor_free(redactor);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(redacts_arguments)
{
	const char *words[] = {"--token=abcdef", "--password", "hunter2", "x", "hunter2", NULL};
	static const char *const left[] = {"--token=[redacted]", "--password", "[redacted]",
					   "x", "[redacted]"};
	struct rcore_snapshot snapshot = {.facts = {.argv = words, .argc = 5}};
	struct rcore_redactor *redactor = rcore_redactor_new(RCORE_REDACT_SECRETS);
	ck_assert_ptr_null(rcore_redact_snapshot(redactor, &snapshot));
	for (size_t i = 0; i < 5; i++)
		ck_assert_str_eq(words[i], left[i]);
	rcore_redactor_free(redactor);
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(fills_bytes)
{
	char wide[] = "a\0b\0\n\0";
	rcore_fill(wide, sizeof(wide) - 1);
	ck_assert_mem_eq(wide, "*\0*\0\n\0", 6);
	ck_assert(rcore_is_filled(wide, 6));
	ck_assert(!rcore_is_filled("\n", 1));
	ck_assert(!rcore_is_filled("**a", 3));
	ck_assert(!rcore_is_filled("", 0));
}
END_TEST

START_TEST(tells_text_from_addresses)
{
	uint64_t text;
	memcpy(&text, "password", 8);
	ck_assert(rcore_is_text_word(text));
	ck_assert(!rcore_is_text_word(UINT64_C(0x00007f4142434445)));
	ck_assert(!rcore_is_text_word(UINT64_C(0x0000554142434445)));
	ck_assert(!rcore_is_text_word(0x41424344));
	ck_assert(!rcore_is_text_word(UINT64_MAX));
	/* A file descriptor, and text that an earlier function left. */
	ck_assert_uint_eq(rcore_text_bytes(UINT64_C(0x6463626100000009)), 0xf0);
	ck_assert_uint_eq(rcore_text_bytes(UINT64_C(0x6463626100000041)), 0xf0);
	ck_assert_uint_eq(rcore_text_bytes(UINT64_C(0x00c3a96463626100)), 0x7e);
	ck_assert_uint_eq(rcore_text_bytes(UINT64_C(0x6867666564636261)), 0xff);
	ck_assert_uint_eq(rcore_text_bytes(UINT64_C(0x00007f4142434445)), 0);
}
END_TEST

/* What the environment says about the program may contain a secret. */
START_TEST(deployments)
{
	static const struct {
		enum rcore_redact mode;
		const char *service, *release, *host;
	} left[] = {
		{RCORE_REDACT_NONE, "till ghp_0123456789abcdefghijklmnopqrstuvwxyz", "1.10",
		 "web-1"},
		{RCORE_REDACT_SECRETS, "till [redacted]", "1.10", "web-1"},
		{RCORE_REDACT_STRINGS, "till [redacted]", "1.10", "web-1"},
		{RCORE_REDACT_ALL, "[redacted]", "1.10", "[redacted]"},
	};
	for (size_t i = 0; i < RCORE_COUNT(left); i++) {
		struct rcore_redactor *redactor = rcore_redactor_new(left[i].mode);
		struct rcore_snapshot snapshot = {.deployment = {.host = "web-1",
								 .host_source = "environment",
								 .service = left[0].service,
								 .release = "1.10"}};
		ck_assert_ptr_null(rcore_redact_snapshot(redactor, &snapshot));
		ck_assert_str_eq(snapshot.deployment.service, left[i].service);
		ck_assert_str_eq(snapshot.deployment.release, left[i].release);
		ck_assert_str_eq(snapshot.deployment.host, left[i].host);
		ck_assert_str_eq(snapshot.deployment.host_source, "environment");
		rcore_redactor_free(redactor);
		rcore_arena_deinit(&snapshot.arena);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		ends_anywhere,      knows_what_it_learned, joins_what_was_learned,
		knows_similar_ones, deployments,           redacts_a_snapshot,
		redacts_arguments,  fills_bytes,           tells_text_from_addresses};
	const struct rcore_test_loop loops[] = {{finds_patterns, RCORE_COUNT(patterns)},
						{finds_values_under_keys, RCORE_COUNT(keys)},
						{redacts_values, RCORE_COUNT(values)},
						{redacts_commands, RCORE_COUNT(commands)}};
	const struct rcore_test_suite suite = {
		.name = "redact",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.begin = setup,
		.end = teardown,
	};
	return rcore_test_suite_run(&suite);
}
