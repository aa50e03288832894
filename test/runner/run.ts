/**
 * `npm test`: runs Vitest on the selected files, after bringing what these need: a build, and programs. On Debian as
 * root it installs missing programs; elsewhere it skips the files that need one, and prints how to install it. The last
 * line of its output is `N passed, N failed`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVitest, parseCLI } from 'vitest/node'
import { ensureBuild } from '../../scripts/ensure-build.mjs'
import { needsBuild, sourcesOf, withTest } from './needs.ts'
import { missingPrograms } from './programs.ts'

const memory = '/dev/shm'
const gibibyte = 2 ** 30
/** Time in milliseconds for Vitest to end its workers. */
const closeMs = 10_000

/**
 * Returns the folder for temporary files: in memory if there is plenty, because each site of a test syncs its files
 * again and again.
 */
function temporaryFolder(): string {
  if (!existsSync(memory) || /^\S+ \/dev\/shm .*\bnoexec\b/m.test(readFileSync('/proc/mounts', 'utf8'))) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 8 * gibibyte && freemem() > 8 * gibibyte ? memory : tmpdir()
}

function end(passed: number, failed: number): never {
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(failed === 0 ? 0 : 1)
}

// Everything that a test or a browser leaves in the temporary folder is removed with the run.
const temporary = mkdtempSync(join(temporaryFolder(), 'roomdesk-test-'))
process.env.TMPDIR = temporary
process.on('exit', () => {
  try {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  } catch (error) {
    // A browser that is still ending writes into its folder: that is no failure of the run.
    console.error(`Could not remove ${temporary}: ${String(error)}`)
  }
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)])
const vitest = await createVitest({ ...options, watch: false, run: true })
const specifications = await vitest.globTestSpecifications(filter)
const selected = [...new Set(specifications.map(({ moduleId }) => moduleId))].map((file) => ({
  file,
  sources: sourcesOf(file),
}))
const named = withTest(selected, String(options.testNamePattern ?? ''))
const candidates = named.length === 0 ? selected : named

const missing = missingPrograms(candidates.map(({ sources }) => sources))
const lacking = (program: (typeof missing)[number]) => candidates.filter(({ sources }) => program.isUsedBy(sources))
const skipped = new Set(missing.flatMap(lacking).map(({ file }) => file))
const files = candidates.filter(({ file }) => !skipped.has(file))
const explainSkipped = (): void => {
  for (const program of missing) {
    const count = lacking(program).length
    const install = `apt-get install ${program.packages.join(' ')}`
    console.log(`Skipped ${count} ${count === 1 ? 'file' : 'files'}: ${program.name} is missing (Debian: ${install})`)
  }
}

if (files.some(({ sources }) => needsBuild(sources))) {
  try {
    await ensureBuild()
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    end(0, 1)
  }
}
if (files.length === 0) {
  console.log(skipped.size === 0 ? 'No test file matches.' : 'No test file can run.')
  explainSkipped()
  end(0, 0)
}

if (!files.some(({ sources }) => sources.has('test/support/media/media-program.ts')))
  process.env.ROOMDESK_MEDIA_PROGRAM = 'unused'

const all = files.length === selected.length
const { testModules, unhandledErrors } = await vitest.start(all ? filter : files.map(({ file }) => file))
const states = testModules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
const failedTests = states.filter((state) => state === 'failed').length
/** Files that failed before or beside their tests. */
const failedFiles = testModules.filter(
  (module) => !module.ok() && ![...module.children.allTests()].some((test) => test.result().state === 'failed'),
).length
const failed = failedTests + failedFiles
// Coverage below its limits, an unhandled error. Read before the workers end: one that is slow to end sets the exit code.
const isIncomplete = unhandledErrors.length > 0 || (process.exitCode ?? 0) !== 0
await Promise.race([vitest.close(), new Promise((resolve) => setTimeout(resolve, closeMs))])
explainSkipped()
end(states.filter((state) => state === 'passed').length, failed === 0 && isIncomplete ? 1 : failed)
