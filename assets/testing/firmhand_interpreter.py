# Tells where this Python is and what it has installed: see toolchain/scratch/interpreter.rs.
import importlib.util, json, site, sys
def version(name):
    if importlib.util.find_spec(name) is None:
        return None
    try:
        from importlib.metadata import version
        return version(name)
    except Exception:
        return ""
own = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
if sys.prefix != sys.base_prefix:
    own += site.getsitepackages()
print(json.dumps({
    "program": sys.executable, "prefixes": [sys.prefix, sys.base_prefix, sys.exec_prefix],
    "version": "%d.%d" % sys.version_info[:2], "packages": own,
    "pytest": version("pytest"), "coverage": version("coverage"),
}))
