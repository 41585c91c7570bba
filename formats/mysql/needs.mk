$(eval $(call needs,libmariadb,ctp-mysql,libmariadb-dev,tools/ctp-mysql.c $(wildcard formats/mysql/*.c) t/fuzz/mysqlanswers.c))
