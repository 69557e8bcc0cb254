# SPDX-License-Identifier: MIT
from headway import main

main()
