# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
# babeltrace2 looks in its own folder; a plugin that is installed elsewhere is found by BABELTRACE_PLUGIN_PATH.
$(eval $(call needs,babeltrace2,the plugin for babeltrace2,libbabeltrace2-dev,$(wildcard formats/bt2/*.c) t/fuzz/bt2.c))
bt2dir   ?= $(if $(filter /usr /usr/local,$(PREFIX)),$(shell $(PKG_CONFIG) --variable=libdir babeltrace2 2>/dev/null),$(libdir))/babeltrace2/plugins
$(eval $(call module,bt2,plugins/babeltrace-plugin-ctp.so,$$(bt2dir)))
