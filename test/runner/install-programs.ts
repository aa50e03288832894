/** Installs all programs that the tests use, on Debian as root: for `.devcontainer/`. */
import { missingOf, programs } from './programs.ts'

const missing = missingOf(programs)
for (const { name } of missing) console.error(`${name} is missing`)
process.exitCode = missing.length === 0 ? 0 : 1
