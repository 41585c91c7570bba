#!/bin/sh
# The page of ctp-tohtml in a real browser: it loads without an error, finds what is there, and draws what the data says.
. t/tap.sh
command -v python3 >/dev/null || skip_all 'there is no python3'
if [ -x "$BIN/ctp-tohtml" ] && [ -x "$O/examples/lostwake" ]; then
	"$BIN/ctp-collect" -q "$O/examples/lostwake" 2>/dev/null | "$BIN/ctp-tohtml" -q -o "$tmp/real.html" 2>/dev/null
else
	note 'ctp-tohtml or the example is not built: made-up pages only'
fi
python3 t/page.py "$tmp"
