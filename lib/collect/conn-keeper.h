/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * conn-keeper.h - a small process that keeps the targets' connections open if the collector is killed.
 *
 * The field's SDKs write their wake byte with write(2): a connection that no process holds would raise SIGPIPE in the target. The
 * keeper shares the collector's descriptors, so it holds whatever the collector accepts without being told.
 */
#ifndef CTP_CONN_KEEPER_H
#define CTP_CONN_KEEPER_H

#include <sys/types.h>
#include <sys/un.h>

#include "base/err.h"

struct ctp_conn_keeper {
	pid_t pid; /* 0: none */
	int collector_fd;
};

struct ctp_conn_keeper_conf {
	const struct sockaddr_un *addr; /* connections to this address are kept */
	/* Files to be removed if the collector cannot: their names (null: none), and a descriptor of what was made there. */
	struct {
		const char *path;
		int fd;
	} remove[2];
};

/* To be called while the process has one thread. */
enum ctp_status ctp_conn_keeper_init(struct ctp_conn_keeper *k, const struct ctp_conn_keeper_conf *conf, struct ctp_err *err);

/* Ends it. Not to be called while connections are open that should outlive us: the keeper ends by itself with the last. */
void ctp_conn_keeper_fini(struct ctp_conn_keeper *k);

#endif
