# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
$(eval $(call needs,zlib,ctp-tohtml,zlib1g-dev,tools/ctp-tohtml.c t/fuzz/tohtml.c $(addprefix formats/html/,html.c html-gzip.c)))

# The page of ctp-tohtml in one piece, with the licence of page.html alone, no comments in its scripts, and a policy that allows
# these scripts and styles. Each .js is a part of one script, whatever their order.
page_js := $(sort $(wildcard formats/html/*.js formats/html/*/*.js))
$O/page.html: formats/html/page.html formats/html/style.css formats/html/policy.sh $(page_js)
	$(call say,JOIN)mkdir -p $(@D) && sed \
		-e '/^<!-- css -->$$/{i <style>' -e 'r formats/html/style.css' -e 'a </style>' -e 'd;}' \
		-e '/^<!-- js -->$$/{i <script>' $(page_js:%=-e 'r %') -e 'a </script>' -e 'd;}' $< | \
		sed -e '/^\/[/*] SPDX-License-Identifier: /d' -e '/^\/[/*] Copyright (c) /d' -e '/^	*\/\/ /d' >$@.joined && \
		sh formats/html/policy.sh $@.joined >$@ && rm $@.joined
$O/formats/html/html-page.o: extra := -DCTP_HTML_PAGE='"$O/page.html"'
$O/formats/html/html-page.o: $O/page.html
