$(eval $(call needs,libzstd,ctp-toparquet,libzstd-dev,\
  tools/ctp-toparquet.c $(wildcard formats/parquet/*.c) t/unit/parquet-sink.c t/fuzz/toparquet.c))
