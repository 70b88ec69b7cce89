/* SPDX-License-Identifier: MIT */
#include "cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/pager.h"
#include "report/text/wrap_lines.h"

enum { NARROWEST = 40, USUAL_WIDTH = 80, WIDEST = 10000 };

/* Returns the number in an environment variable; 0 if it has none. */
static size_t number_in(const char *variable)
{
	const char *text = getenv(variable);
	char *end;
	unsigned long number = text ? strtoul(text, &end, 10) : 0;
	return text && *text && !*end && number <= WIDEST ? number : 0;
}

/* COLUMNS and LINES, which a user can set, take precedence. */
static struct winsize size_of_terminal(void)
{
	struct winsize size = {0};
	size_t columns = number_in("COLUMNS"), lines = number_in("LINES");
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		size = (struct winsize){0};
	if (columns)
		size.ws_col = (unsigned short)columns;
	if (lines)
		size.ws_row = (unsigned short)lines;
	return size;
}

size_t rcore_screen_width(void)
{
	if (!isatty(STDOUT_FILENO))
		return 0;
	size_t width = size_of_terminal().ws_col;
	return width ? width : USUAL_WIDTH;
}

void rcore_screen_begin(struct rcore_screen *screen)
{
	*screen = (struct rcore_screen){.out = stdout};
	if (!isatty(STDOUT_FILENO))
		return;
	FILE *out = rcore_open_text(&screen->text, &screen->size);
	if (out)
		screen->out = out;
}

static struct rcore_error *fold(char **text, size_t *size,
				const struct rcore_screen_style *style)
{
	const struct rcore_wrap wrap = {rcore_screen_width(), style->keep_paths,
					style->is_table};
	char *folded = NULL;
	size_t folded_size = 0;
	if (!style->is_text || wrap.width < NARROWEST)
		return NULL;
	FILE *out = rcore_open_text(&folded, &folded_size);
	if (!out)
		return rcore_error_no_memory();
	rcore_wrap_lines(*text, *size, &wrap, out);
	if (fclose(out)) {
		free(folded);
		return rcore_error_no_memory();
	}
	free(*text);
	*text = folded;
	*size = folded_size;
	return NULL;
}

static bool fits(const char *text, size_t size)
{
	size_t rows = size_of_terminal().ws_row, lines = 0;
	for (const char *at = text; (at = memchr(at, '\n', size - (size_t)(at - text))); at++)
		lines++;
	/* One line must remain for the shell's next prompt. */
	return !rows || lines < rows;
}

static struct rcore_error *show(const char *text, size_t size, bool pages)
{
	if (pages && !fits(text, size) && rcore_pager_show(text, size))
		return NULL;
	if (fwrite(text, 1, size, stdout) == size && !fflush(stdout))
		return NULL;
	return rcore_error_os(errno, "cannot write the report");
}

struct rcore_error *rcore_screen_end(struct rcore_screen *screen,
				     const struct rcore_screen_style *style)
{
	if (screen->out == stdout || !screen->out)
		return NULL;
	struct rcore_error *err = fclose(screen->out) ? rcore_error_no_memory() : NULL;
	screen->out = stdout;
	if (!err)
		err = fold(&screen->text, &screen->size, style);
	if (!err)
		err = show(screen->text, screen->size, !style->keeps_printing);
	free(screen->text);
	screen->text = NULL;
	return err;
}

bool rcore_screen_is_unread(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
	return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

void rcore_screen_end_if_unread(void)
{
	if (!rcore_screen_is_unread())
		return;
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
}
