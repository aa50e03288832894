import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { collectionNames } from '../../../../server/store/state.ts'
import { postgresOfFile } from '../drivers.ts'
import { createRoom, temporaryFolder } from '../../../support/sites/store-site.ts'
import { siteOfControllers, type TestController, type TestSite } from '../../../support/sites/member-site.ts'

const postgres = postgresOfFile()

const nothing = (): undefined => undefined

/** A program that leads whenever it can, and restarts whenever it was fenced. */
class Program {
  controller: TestController | undefined
  readonly #site: TestSite
  readonly #name: string
  readonly #folder: string
  #stopped = false
  readonly #ended: Promise<void>

  constructor(site: TestSite, name: string, folder: string) {
    this.#site = site
    this.#name = name
    this.#folder = folder
    this.#ended = this.#run()
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const controller = await this.#site.controller(this.#name, { folder: this.#folder, whenAway: 'wait' })
      if (this.#stopped) {
        await controller.close()
        return
      }
      this.controller = controller
      await Promise.race([controller.lead().then((led) => led.fenced, nothing), controller.closed])
      await controller.close()
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.controller?.close()
    await this.#ended
  }
}

const controllers = fc.integer({ min: 0, max: 2 })
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('change' as const), by: controllers }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('cut', 'lose an answer', 'freeze', 'end'), by: controllers }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('wait', 'hand over'), by: controllers }) },
)

test('Three controllers that store in turns through any faults end with the same state, without a lost or duplicate acknowledged change', async () => {
  const server = await postgres()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 40 }), async (steps) => {
      const site = await siteOfControllers(server)
      const folders = await Promise.all([0, 1, 2].map(() => temporaryFolder()))
      const programs = folders.map((folder, index) => new Program(site, `controller ${index}`, folder))
      const acknowledged = new Set<string>()
      const tried: Promise<unknown>[] = []
      await vi.waitFor(() => expect(programs.some(({ controller }) => controller?.led !== undefined)).toBe(true), {
        timeout: 10_000,
      })
      for (const [index, { kind, by }] of steps.entries()) {
        const controller = programs[by]?.controller
        if (controller === undefined) continue
        const { proxy, member, led } = controller
        // Every program that believes to lead stores, even if it no longer does.
        const storing = programs.flatMap((program) => program.controller?.led ?? [])
        if (kind === 'change')
          for (const [n, store] of storing.entries())
            tried.push(createRoom(store, `${index}-${n}`).then(() => acknowledged.add(`${index}-${n}`), nothing))
        else if (kind === 'cut') proxy.cut()
        else if (kind === 'lose an answer') void proxy.dropNextAnswer()
        else if (kind === 'freeze') {
          proxy.freeze(true)
          setTimeout(() => proxy.freeze(false), 300)
        } else if (kind === 'end') void controller.close()
        else if (kind === 'hand over') {
          const other = programs[(by + 1) % 3]?.controller?.member.id ?? ''
          if (led !== undefined) tried.push(member.handOver(other).catch(nothing))
        } else await sleep(30)
        await sleep(storing.length === 0 ? 40 : index % 3)
      }
      await Promise.all(tried)
      const last = await vi.waitFor(
        async () => {
          for (const { controller } of programs) {
            const store = controller?.led
            const made = store === undefined ? false : await createRoom(store, 'last').then(() => true, nothing)
            if (store !== undefined && made === true) return store
          }
          throw new Error('nobody leads')
        },
        { timeout: 10_000, interval: 20 },
      )
      const all = (of: Pick<typeof last, 'all'>): unknown =>
        collectionNames.map((name) => Object.fromEntries(of.all(name)))
      await vi.waitFor(
        () => {
          for (const { controller } of programs)
            expect(controller && all(controller.member.followed)).toEqual(all(last))
        },
        { timeout: 5_000 },
      )
      expect([...last.all('rooms').keys()]).toEqual(expect.arrayContaining([...acknowledged]))
      const numbers = [...last.all('rooms').values()].map(({ id }) => id)
      expect(new Set(numbers).size).toBe(numbers.length)
      const lines = await server.query<{ line: string }>(`select line from ${site.schema}.roomdesk_journal`)
      const written = lines.flatMap(({ line }) => [...line.matchAll(/\["rooms","(\d+-\d+)"/g)].map(([, name]) => name))
      expect(written).toEqual([...new Set(written)])
      for (const program of programs) await program.stop()
    }),
    { numRuns: Number(process.env.ROOMDESK_INTERLEAVINGS ?? 2), endOnFailure: true },
  )
}, 60_000)
