$(eval $(call needs,libpq,ctp-postgres,libpq-dev,tools/ctp-postgres.c $(wildcard formats/postgres/*.c) t/fuzz/pganswers.c))
