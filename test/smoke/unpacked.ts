import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Report } from './report.ts'

const root = join(import.meta.dirname, '../..')

/** End-to-end tests that run in the desktop app; the others test pages in Chromium. */
const files = ['electron-facts', 'hardening', 'shell-menus', 'shell-window', 'desktop-story']
/** Time limit for all of them, in milliseconds. */
const limitMs = 15 * 60_000

/** Runs the end-to-end tests on Electron itself instead of the stand-in. */
export async function checkUnpacked(report: Report): Promise<void> {
  await report.check('unpacked.e2e', runTests, limitMs)
}

interface VitestReport {
  numPassedTests: number
  testResults: {
    message: string
    status: string
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
  }[]
}

async function runTests(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-smoke-e2e-'))
  try {
    const file = join(folder, 'report.json')
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const reporters = ['--reporter=json', `--outputFile=${file}`]
    const tests = files.map((name) => `test/e2e/${name}.test.ts`)
    const child = spawn(process.execPath, [vitest, 'run', '--project', 'desktop', ...reporters, ...tests], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, STANDIN: '0' },
    })
    let written = ''
    child.stderr.on('data', (chunk: Buffer) => (written = (written + chunk.toString()).slice(-4_000)))
    await once(child, 'close')
    const text = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new Error(`the tests did not run:\n${written}`, { cause })
    })
    return told(JSON.parse(text) as VitestReport)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Formats the failures. @throws Error with each failed test */
export function told({ numPassedTests, testResults }: VitestReport): string {
  const failed = testResults.flatMap(({ status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === 'failed')
    if (tests.length === 0) return status === 'failed' ? [message.split('\n', 1).join()] : []
    return tests.map(
      ({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.split('\n', 1).join() ?? ''}`,
    )
  })
  if (failed.length > 0) throw new Error(`${failed.length} failed, ${numPassedTests} passed\n${failed.join('\n')}`)
  if (numPassedTests === 0) throw new Error('no test ran')
  return `${numPassedTests} tests passed`
}
