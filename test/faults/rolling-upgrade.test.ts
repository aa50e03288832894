import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { handOver } from '../support/controllers/hand-over.ts'
import { proved } from '../support/controllers/proved.ts'
import type { ControllersSite, SiteController } from '../support/sites/controllers-site.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
/** The last commit before additions to the tables: ROOMDESK_EARLIER names another. */
const earlier = process.env.ROOMDESK_EARLIER ?? '0791c0f5'

async function isKnown(commit: string): Promise<boolean> {
  return await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).then(
    () => true,
    () => false,
  )
}

/** Checks the earlier version out, and builds it. @returns its controller */
async function buildEarlier(): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), 'roomdesk-earlier-')), 'checkout')
  onTestFinished(async () => {
    await rm(join(folder, '..'), { recursive: true })
    await run('git', ['worktree', 'prune'], { cwd: root })
  })
  await run('git', ['worktree', 'add', '--detach', folder, earlier], { cwd: root })
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

describe.skipIf(!(await isKnown(earlier)))(
  'A site is upgraded while it runs (needs the history of the repository)',
  () => {
    // Takes about a minute: the earlier version is built.
    test('Replica first, hand over, then the other, and one of them back: under load, no call fails', {
      timeout: 400_000,
    }, async () => {
      const program = await buildEarlier()
      const history = await proved({ clients: 6, controllers: 2, program }, async ({ site, clients }) => {
        const [a, b] = site.controllers
        if (a === undefined || b === undefined) throw new Error('Two controllers run.')
        // The earlier version refuses calls while it stops: its clients are sent to the other one first.
        const replaceEarlier = async (controller: SiteController): Promise<void> => {
          site.drained.add(controller)
          await clients.moreChanges(50)
          await site.upgrade(controller)
          site.drained.delete(controller)
        }
        await clients.moreChanges(100)
        await replaceEarlier(b)
        // The earlier version leads on, in tables of the newer one.
        await clients.moreChanges(100)
        await leadBy(site, 'b')
        await clients.moreChanges(100)
        await replaceEarlier(a)
        await clients.moreChanges(100)
        await leadBy(site, 'a')
        await clients.moreChanges(100)
        // The way back.
        await site.upgrade(b, program)
        await leadBy(site, 'b')
        await clients.moreChanges(100)
        await leadBy(site, 'a')
        await replaceEarlier(b)
      })
      const failed = history.filter(({ outcome: { as } }) => as === 'open')
      expect(failed.map((call) => JSON.stringify(call))).toEqual([])
    })
  },
)
