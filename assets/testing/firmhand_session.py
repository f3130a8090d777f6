# Runs pieces of a program one after the other in one world of names: see toolchain/python_program.rs.
import _thread, ast, queue, sys, threading, traceback
def refuse(prompt=""):
    raise EOFError("there is no input here")
space = {"__name__": "session", "input": refuse}
source, pieces, busy = sys.stdin.buffer, queue.SimpleQueue(), threading.Event()
def listen():
    while True:
        head = source.readline()
        if head == b"!\n":
            if busy.is_set():
                _thread.interrupt_main()
            continue
        pieces.put(source.read(int(head)).decode() if head else None)
        if not head:
            return
threading.Thread(target=listen, daemon=True).start()
while True:
    try:
        text = pieces.get()
    except KeyboardInterrupt:
        continue
    if text is None:
        break
    try:
        busy.set()
        for part in ast.parse(text, "<program>").body:
            exec(compile(ast.Interactive([part]), "<program>", "single"), space)
        busy.clear()
    except BaseException as error:
        busy.clear()
        for line in traceback.format_exception_only(type(error), error):
            sys.stderr.write(line)
    sys.stdout.flush()
    sys.stderr.write("\x04\n")
    sys.stderr.flush()
