# Asks ESP-IDF for its hints about errors: see toolchain/idf/hints.rs.
import json, os, sys
sys.path.insert(0, os.path.join(os.environ['IDF_PATH'], 'tools'))
from idf_py_actions.tools import generate_hints_buffer, load_hints
try:
    # Rules about missing headers look up which component has them.
    from idf_py_actions.tools import get_build_context
    with open(sys.argv[2], encoding='utf-8') as file:
        get_build_context()['proj_desc'] = json.load(file)
except (ImportError, OSError, ValueError):
    pass
rules = load_hints()
texts = json.load(open(sys.argv[1], encoding='utf-8'))
out = [list(dict.fromkeys(generate_hints_buffer(text, rules))) for text in texts]
print('\n' + json.dumps(out))
