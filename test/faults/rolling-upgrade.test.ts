import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { handOver } from '../support/controllers/hand-over.ts'
import { type Proof, proved } from '../support/controllers/proved.ts'
import type { ControllersSite, SiteController } from '../support/sites/controllers-site.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
/** A commit whose records are those of today: ROOMDESK_EARLIER names another. */
const earlier = process.env.ROOMDESK_EARLIER ?? '3951406e'
/** The last commit before additions to the tables, and before records of the trash and of recordings. */
const earlierRecords = '0791c0f5'

async function isKnown(commit: string): Promise<boolean> {
  return await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).then(
    () => true,
    () => false,
  )
}

/** Checks an earlier version out, and builds it. @returns its controller */
async function buildEarlier(commit: string): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), 'roomdesk-earlier-')), 'checkout')
  onTestFinished(async () => {
    await rm(join(folder, '..'), { recursive: true })
    await run('git', ['worktree', 'prune'], { cwd: root })
  })
  await run('git', ['worktree', 'add', '--detach', folder, commit], { cwd: root })
  const locks = await Promise.all([root, folder].map((each) => readFile(join(each, 'package-lock.json'), 'utf8')))
  if (locks[0] === locks[1]) await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  else await run('npm', ['ci'], { cwd: folder })
  await run('npm', ['run', 'build'], { cwd: folder })
  return join(folder, 'dist', 'server', 'headless.js')
}

async function leadBy(site: ControllersSite, name: string): Promise<void> {
  const next = site.controllers.find((controller) => controller.name === name)
  if (next === undefined) throw new Error(`There is no controller ${name}.`)
  await handOver(site, next, next)
  await expect.poll(async () => (await site.leader()).name).toBe(name)
}

/** Upgrades a controller of the earlier version, which refuses calls while it stops: its clients are sent to the other one first. */
async function replaceEarlier({ site, clients }: Proof, controller: SiteController): Promise<void> {
  site.drained.add(controller)
  await clients.moreChanges(50)
  await site.upgrade(controller)
  site.drained.delete(controller)
}

/** Runs a site of two controllers, a and b, of an earlier version under load, upgrades b, and goes on from there. a leads. Returns the history, which is proved. */
async function upgraded(
  program: string,
  goOn: (proof: Proof, a: SiteController, b: SiteController) => Promise<void>,
): ReturnType<typeof proved> {
  return await proved({ clients: 6, controllers: 2, program }, async (proof) => {
    const [a, b] = proof.site.controllers
    if (a === undefined || b === undefined) throw new Error('Two controllers run.')
    await proof.clients.moreChanges(100)
    await replaceEarlier(proof, b)
    // The earlier version leads on, in tables of the newer one.
    await proof.clients.moreChanges(100)
    await goOn(proof, a, b)
  })
}

function expectNoFailure(history: Awaited<ReturnType<typeof proved>>): void {
  const failed = history.filter(({ outcome: { as } }) => as === 'open')
  expect(failed.map((call) => JSON.stringify(call))).toEqual([])
}

describe.skipIf(!(await isKnown(earlier)) || !(await isKnown(earlierRecords)))(
  'A site is upgraded while it runs (needs the history of the repository)',
  () => {
    // Each takes about a minute: the earlier version is built.
    test('The replica is upgraded first, then the lead is handed over, then the other is upgraded, and one is downgraded: under load, no call fails', {
      timeout: 400_000,
    }, async () => {
      const program = await buildEarlier(earlier)
      const history = await upgraded(program, async (proof, a, b) => {
        const { site, clients } = proof
        await leadBy(site, 'b')
        await clients.moreChanges(100)
        await replaceEarlier(proof, a)
        await clients.moreChanges(100)
        await leadBy(site, 'a')
        await clients.moreChanges(100)
        // The way back.
        await site.upgrade(b, program)
        await leadBy(site, 'b')
        await clients.moreChanges(100)
        await leadBy(site, 'a')
        await replaceEarlier(proof, b)
      })
      expectNoFailure(history)
    })

    test('After a change of the record format the earlier version says so once the newer one leads: only calls in progress there can fail, and nothing is lost', {
      timeout: 400_000,
    }, async () => {
      const program = await buildEarlier(earlierRecords)
      let ledAt = 0
      const history = await upgraded(program, async (proof, a) => {
        const { site, clients } = proof
        site.drained.add(a)
        await leadBy(site, 'b')
        ledAt = performance.now()
        await clients.moreChanges(100)
        await expect.poll(() => a.headless.log.join('\n')).toMatch(/Written by a newer Roomdesk/)
        await site.upgrade(a)
        site.drained.delete(a)
        await clients.moreChanges(100)
        await leadBy(site, 'a')
        await clients.moreChanges(100)
      })
      // Each client has one call under way.
      const failed = history.filter(({ outcome: { as } }) => as === 'open')
      expect(new Set(failed.map(({ client }) => client)).size).toBe(failed.length)
      expectNoFailure(history.filter(({ start }) => start > ledAt))
    })
  },
)
