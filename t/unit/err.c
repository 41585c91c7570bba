/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* The codes of struct ctp_err: what each failing function of the library says, and that more words keep the code. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/version.h"
#include "io/input.h"
#include "io/output.h"
#include "stream/sink.h"
#include "stream/writer.h"
#include "tap.h"

static bool says(const struct ctp_err *err, enum ctp_err_code code, int error)
{
	if (err->code == code && err->sys_errno == error && err->text[0])
		return true;
	printf("# code %d, errno %d: %s\n", err->code, err->sys_errno, err->text);
	return false;
}

static void plain_errors(void)
{
	struct ctp_err err;
	memset(&err, 0xff, sizeof err); /* as on a caller's stack */
	ok(ctp_err_set(&err, "%s", "a word") == CTP_FAILED && says(&err, CTP_ERR_OTHER, 0), "without a code it is CTP_ERR_OTHER");
	errno = EACCES;
	ok(ctp_err_sys(&err, "file") == CTP_FAILED && says(&err, CTP_ERR_SYSTEM, EACCES), "a system error has its errno");
	is(err.text, "file: Permission denied", "and its words");
	ok(ctp_err_before(&err, "-o %d: ", 7) == CTP_FAILED && says(&err, CTP_ERR_SYSTEM, EACCES), "words before it keep the code");
	is(err.text, "-o 7: file: Permission denied", "and the words");
	ok(ctp_err_set(&err, "x") == CTP_FAILED && says(&err, CTP_ERR_OTHER, 0), "nothing is left of an error before");
	ok(ctp_err_memory(&err) == CTP_FAILED && says(&err, CTP_ERR_MEMORY, 0), "there is no memory");
	char longer[2000];
	memset(longer, 'y', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	ctp_err_set(&err, "%s", longer);
	ctp_err_before(&err, "%s", longer);
	is_u64(strlen(err.text), sizeof err.text - 1, "a long message is cut");
	is(ctp_version(), CTP_VERSION, "the library has the version that it was built as");
}

static enum ctp_status convert(const void *data, size_t len, struct ctp_err *err)
{
	struct ctp_input in;
	struct ctp_convert_stats stats = {0};
	static const struct ctp_sink_ops none = {0};
	struct ctp_sink sink = {.ops = &none};
	ctp_input_mem(&in, data, len);
	enum ctp_status status = ctp_convert(&in, &sink, NULL, NULL, &stats, err);
	ctp_input_close(&in);
	return status;
}

static void inputs(void)
{
	struct ctp_input in;
	struct ctp_err err;
	ok(ctp_input_open(&in, "/nowhere/at/all", &err) == CTP_FAILED && says(&err, CTP_ERR_SYSTEM, ENOENT), "a file that is not there");
	ok(ctp_input_open(&in, "/", &err) == CTP_FAILED && says(&err, CTP_ERR_NOT_STREAM, 0), "a directory");
	static const char json[] = "{\"type\":\"birth\"}\n", csv[] = "probe_id,tid\n1,2\n";
	ok(convert(json, sizeof json - 1, &err) == CTP_FAILED && says(&err, CTP_ERR_NOT_STREAM, 0), "JSON is no stream");
	ok(convert(csv, sizeof csv - 1, &err) == CTP_FAILED && says(&err, CTP_ERR_NOT_STREAM, 0), "nor is CSV");
	static const char bytes[300] = {1, 2, 3, 4, 5, 6, 7, 8};
	ok(convert(bytes, sizeof bytes, &err) == CTP_FAILED && says(&err, CTP_ERR_NOT_STREAM, 0), "nor are any bytes");
#ifdef HAVE_ZSTD
	static const unsigned char cut[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58};
	int fd = memfd_create("cut", 0);
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ok(write(fd, cut, sizeof cut) == sizeof cut && ctp_input_open(&in, path, &err) == CTP_OK, "a frame of zstd that is cut short");
	ctp_input_fill(&in, 1);
	ctp_input_close(&in);
	ok(in.harmed && says(&in.err, CTP_ERR_DAMAGED, 0), "is damaged");
	close(fd);
#endif
}

static void outputs(void)
{
	struct ctp_output out;
	struct ctp_err err;
	char dir[] = "/tmp/ctp-err-XXXXXX", path[64];
	if (!mkdtemp(dir))
		exit(1);
	ok(ctp_output_open(&out, dir, true, false, &err) == CTP_FAILED && says(&err, CTP_ERR_SYSTEM, EISDIR), "a folder cannot be written to");
	snprintf(path, sizeof path, "%s/link", dir);
	int folder = open(dir, O_RDONLY | O_DIRECTORY);
	if (symlink("/dev/null", path))
		exit(1);
	ok(ctp_output_open_in(&out, folder, "link", true, false, &err) == CTP_FAILED && says(&err, CTP_ERR_REFUSED, 0), "a link is refused");
	close(folder);
	unlink(path);
	rmdir(dir);
}

static void classes(void)
{
	struct ctp_err err;
	static const struct ctp_field twice[] = {{.name = "a", .type = CTP_U32}, {.name = "a", .type = CTP_U32}};
	ok(!ctp_class_new("c", CTP_KIND_OTHER, twice, 2, &err) && says(&err, CTP_ERR_USAGE, 0), "a class that cannot be");
	ok(!ctp_class_parse((const uint8_t *)"\1\1", 2, &err) && says(&err, CTP_ERR_DAMAGED, 0), "a declaration that cannot be read");
}

int main(void)
{
	plain_errors();
	inputs();
	outputs();
	classes();
	return done_testing();
}
