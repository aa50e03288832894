import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askQuestions, questions } from './questions.ts'
import { NotHere, Report } from './report.ts'
import { told } from './unpacked.ts'

const reportOf = (only: readonly string[] = [], mark?: string) => {
  const lines: string[] = []
  const report = new Report({ print: (line) => lines.push(line), only, ...(mark === undefined ? {} : { mark }) })
  return { report, lines }
}
const fine = async (): Promise<string> => 'fine'

test('each item is a line with its verdict; an item that is impossible here is no failure', async () => {
  const { report, lines } = reportOf()
  expect(await report.check('app.origin', async () => 'app://roomdesk')).toBe(true)
  expect(await report.check('app.sigterm', () => Promise.reject(new NotHere('Windows has no SIGTERM')))).toBe(false)
  expect(lines).toEqual(['PASS  app.origin: app://roomdesk', 'SKIP  app.sigterm: Windows has no SIGTERM'])
  expect(report.exitCode).toBe(0)
})

test('a failure has its reason, followed by its cause, and the command fails', async () => {
  const { report, lines } = reportOf()
  await report.check('app.call', () => Promise.reject(new Error('no answer', { cause: new Error('ECONNREFUSED') })))
  expect(lines).toEqual(['FAIL  app.call: no answer', '      ECONNREFUSED'])
  expect(report.exitCode).toBe(1)
  expect(report.summary()).toBe('0 passed, 1 failed, 0 to ask a person, 0 not possible here')
})

test('a silent item fails after its time limit', async () => {
  const { report, lines } = reportOf()
  await report.check('app.preview', () => new Promise(() => undefined), 10)
  expect(lines).toEqual(['FAIL  app.preview: nothing came of it within 0.01 s'])
})

test('only the requested parts and items run; their prerequisites run silently', async () => {
  const { report, lines } = reportOf(['packed', 'app.call'])
  for (const name of ['packed.fuses', 'app.origin', 'app.call', 'apple.call']) await report.check(name, fine)
  expect(await report.prepare('app.start', async () => 7)).toBe(7)
  expect(lines).toEqual(['PASS  packed.fuses: fine', 'PASS  app.call: fine'])
  expect([report.wants('app'), report.wants('installers')]).toEqual([true, false])
})

test('a missing requirement is reported, whatever was requested', async () => {
  const { report, lines } = reportOf(['app.call'])
  expect(await report.prepare('app.start', () => Promise.reject(new Error('no display')))).toBeUndefined()
  expect(lines).toEqual(['FAIL  app.start: no display'])
})

test('a check skipped for a missing requirement is reported if it was requested', () => {
  const { report, lines } = reportOf(['app.preview'])
  for (const name of ['app.preview', 'app.call']) report.skip(name, 'it needs a room')
  expect(lines).toEqual(['SKIP  app.preview: it needs a room'])
  expect([report.hasFailed('app'), report.exitCode]).toEqual([false, 0])
})

test('a run without checks has not passed', () => {
  expect(reportOf(['app.no-such']).report.exitCode).toBe(1)
})

test('a report of a rehearsal says so in every line and in its file', async () => {
  const { report, lines } = reportOf([], 'stand-in')
  await report.check('app.origin', fine)
  expect(lines).toEqual(['PASS  app.origin (stand-in): fine'])
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-report-'))
  const file = join(folder, 'report.json')
  report.write(file, { system: 'linux' })
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    system: 'linux',
    on: 'stand-in',
    items: [{ name: 'app.origin', verdict: 'PASS' }],
  })
  await rm(folder, { recursive: true })
})

test('without a person each question is listed and does not count as a failure', async () => {
  const { report, lines } = reportOf(['questions'])
  await askQuestions(report, { skip: true }, { executable: 'none', args: [], isStandIn: false })
  expect(report.items.map(({ verdict }) => verdict)).toEqual(questions.map(() => 'ASK'))
  expect(lines[0]).toMatch(/^ASK {3}questions\.tray: /)
  expect(lines[1]).toBe('      (not asked: --skip-questions)')
  expect(report.exitCode).toBe(0)
})

test('each failed end-to-end test is named, and each unreadable file', () => {
  const test = { status: 'failed', fullName: 'the window opens', failureMessages: ['AssertionError: closed\n    at'] }
  const ran = { status: 'failed', message: '', assertionResults: [test] }
  const unread = { status: 'failed', message: 'Cannot find module', assertionResults: [] }
  expect(() => told({ numPassedTests: 3, testResults: [ran, unread] })).toThrow(
    '2 failed, 3 passed\nthe window opens: AssertionError: closed\nCannot find module',
  )
  expect(() => told({ numPassedTests: 0, testResults: [] })).toThrow('no test ran')
  expect(told({ numPassedTests: 3, testResults: [] })).toBe('3 tests passed')
})
