"""Entry of the hook's client process: `python -I -S client.py DATA HARNESS SITE`, run by the launcher.

A script is compiled anew at every start, an imported module is not: that is all this file is for (2 ms a prompt).
`SITE` is the folder that holds `recall`. It comes last on the path, so that nothing beside our packages can stand in
for a module of the standard library, and no project folder is on the path at all.
"""

import sys

if __name__ == "__main__":
    sys.path.append(sys.argv[3])
    from recall.hook_client import main

    main(sys.argv[1:])
