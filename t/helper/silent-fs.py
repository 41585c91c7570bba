# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""silent-fs.py - a FUSE file system that can stop answering: silent-fs.py FOLDER CONTENT SILENT

FOLDER is mounted, and has one file, "code", with the contents of CONTENT. Once the file SILENT exists, no request is answered.
Prints "mounted", or why not.
"""
import ctypes, os, struct, sys, time
folder, content, silent = sys.argv[1], open(sys.argv[2], 'rb').read(), sys.argv[3]
fuse = os.open('/dev/fuse', os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f'fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other'
if libc.mount(b'test', folder.encode(), b'fuse', 0, options.encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
print('mounted', flush=True)
def attr(node):
    size, mode = (0, 0o40755) if node == 1 else (len(content), 0o100755)
    return struct.pack('<6Q3I7I', node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)
def reply(op, node, body):
    if op == 26:
        return struct.pack('<4I2H2I2HI28x', 7, 31, 65536, 0, 16, 12, 65536, 1, 16, 0, 0)
    if op == 1:
        return struct.pack('<4Q2I', 2, 0, 0, 0, 0, 0) + attr(2) if body == b'code\0' else -2
    if op == 3:
        return struct.pack('<QII', 0, 0, 0) + attr(node)
    if op in (14, 27):
        return struct.pack('<QII', 1, 0, 0)
    if op == 15:
        at, size = struct.unpack_from('<8xQI', body)
        return content[at:at + size]
    return b'' if op in (18, 25, 29, 34) else -38
while True:
    request = os.read(fuse, 1 << 20)
    if os.path.exists(silent):
        time.sleep(1000)
    length, op, unique, node = struct.unpack_from('<IIQQ', request)
    if op in (2, 36, 42):
        continue
    data = reply(op, node, request[40:length])
    error, data = (data, b'') if isinstance(data, int) else (0, data)
    os.write(fuse, struct.pack('<IiQ', 16 + len(data), error, unique) + data)
