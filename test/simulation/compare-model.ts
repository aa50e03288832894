import { setTimeout as sleep } from 'node:timers/promises'
import { type LeaderRow, readControllers, readLeader, report } from '../../server/store/election/controller-rows.ts'
import {
  endFrozenLeader,
  lead,
  type WonTerm,
  leadOn,
  letGo,
  nameSuccessor,
  releaseLock,
  renewLease,
  tryLock,
} from '../../server/store/election/leader.ts'
import { encodeLine } from '../../server/store/journal/journal-line.ts'
import { migrations } from '../../server/store/migrations.ts'
import { parseDatabaseAddress } from '../../server/store/postgres/database-address.ts'
import { DatabaseJournal } from '../../server/store/postgres/database-journal.ts'
import { DatabaseSession } from '../../server/store/postgres/database-session.ts'
import { Link } from '../../server/store/postgres/link.ts'
import { readSiteState, termOf } from '../../server/store/postgres/read-state.ts'
import { RoomNumberBlocks } from '../../server/store/postgres/room-numbers.ts'
import { bringTables, sayRecords, settleSite } from '../../server/store/postgres/schema.ts'
import { beginTerm, storedTerms } from '../../server/store/election/journal-rows.ts'
import { freeze, writeSnapshot } from '../../server/store/postgres/snapshot-rows.ts'
import { emptyState } from '../../server/store/state.ts'
import { JournalTrail } from '../../server/store/election/term-history.ts'
import { findLost } from '../../server/store/election/lost-lines.ts'
import { Follower } from '../../server/store/election/follower.ts'
import { sealer } from '../support/sites/store-site.ts'
import type { PostgresServer as RealServer } from '../support/postgres/postgres-server.ts'
import { Machine } from './machine.ts'
import { Network } from './network.ts'
import { PostgresServer } from './postgres/server.ts'
import { DifferenceError, Twins } from './postgres/twin.ts'
import { World } from './world.ts'

const deadlines = { connect: 2_000, answer: 3_000 }
const place = { media: 'm', device: '', node: '', console: 'c', event: '', certificate: '' }

/** A controller of the story: it has a connection, and leads or not. */
interface Actor {
  id: string
  name: string
  folder: string
  session: DatabaseSession
  won: WonTerm | undefined
  journal: DatabaseJournal | undefined
  follower: Follower
}

/** Two or three controllers that do by chance what controllers do, one after the other. */
class Story {
  readonly #world: World
  readonly #address: ReturnType<typeof parseDatabaseAddress>
  readonly #actors: Actor[] = []
  #lines = 0

  constructor(world: World, database: string) {
    this.#world = world
    this.#address = parseDatabaseAddress(database)
  }

  async begin(): Promise<void> {
    for (const name of ['a', 'b', 'c']) {
      const id = `00000000-0000-4000-8000-00000000000${name}`
      this.#actors.push({ id, name, folder: `folder ${name}`, ...(await this.#connected()) })
    }
    const [first] = this.#actors
    if (first === undefined) throw new Error('nobody is there')
    await settleSite(first.session, { address: this.#address, sealer, migrations, take: 'site here' })
    await sayRecords(first.session, migrations)
  }

  /** Somebody does something. @returns what, for the message of a failed test */
  async step(): Promise<string> {
    const world = this.#world
    const actor = world.pick(this.#actors)
    if (actor.session.lost !== undefined) {
      Object.assign(actor, await this.#connected())
      return `${actor.name} connects`
    }
    const acts = this.#acts(actor)
    const [name, act] = world.pick(Object.entries(acts))
    await act()
    return `${actor.name} ${name}`
  }

  async end(): Promise<void> {
    for (const { session } of this.#actors) await session.close()
  }

  #acts(actor: Actor): Record<string, () => Promise<unknown>> {
    const { session, won, journal } = actor
    const world = this.#world
    const leaseMs = world.pick([0, 60_000, 1])
    const always = {
      'tries the lock': async () => await tryLock(session),
      'takes over': async () => {
        if (!(await tryLock(session))) return
        const holder = `11111111-1111-4111-8111-${String(world.between(0, 999_999)).padStart(12, '0')}`
        const taken = await lead(session, { holder, name: actor.name, controller: actor.id, leaseMs })
        this.#leads(actor, taken)
      },
      'reads who leads': async (): Promise<LeaderRow | undefined> => await readLeader(session),
      'ends a frozen leader': async () => await endFrozenLeader(session),
      reports: async () => {
        const folder = world.chance(0.2) ? 'a copied folder' : actor.folder
        const since = 1_700_000_000_000
        const said = {
          id: actor.id,
          name: actor.name,
          version: '1',
          place,
          applied: world.between(0, this.#lines),
          since,
        }
        await report(session, said, { folder, freeAfterMs: world.pick([0, 60_000]) }, world.chance(0.1))
      },
      'reads the controllers': async () =>
        await readControllers(session, {
          id: actor.id,
          times: { lease: world.pick([-1, 60_000]) },
          clock: () => 0,
        }),
      follows: async () => {
        const row = await readLeader(session)
        await actor.follower.follow(session, row === undefined ? '' : termOf(row))
      },
      'compares its lines': async () =>
        await findLost(session, {
          last: world.between(0, this.#lines),
          lastTerm: undefined,
          trail: new JournalTrail(),
        }),
      'reads the terms': async () => await storedTerms(session),
      'reads everything': async () => await readSiteState(session, migrations, this.#address),
      'closes its connection': async () => {
        await session.close()
        // A backend takes a moment to end.
        await sleep(20)
      },
      'releases the lock': async () => {
        await releaseLock(session)
        actor.won = undefined
      },
    }
    if (won === undefined || journal === undefined) return always
    const { term } = won
    return {
      ...always,
      'stores lines': async () => {
        const count = world.between(1, 5)
        const lines = Array.from({ length: count }, () => encodeLine(`[["wall_views","${this.#lines++}"]]`))
        await journal.append(lines).catch((error: unknown) => this.#failed(actor, error))
      },
      'proves that it stores': async () =>
        await journal.append([]).catch((error: unknown) => this.#failed(actor, error)),
      'begins its term': async () => await beginTerm(session, term, world.between(0, this.#lines)),
      'renews its lease': async () => await renewLease(session, term, 500),
      'lets go': async () => await letGo(session, term, world.between(0, 500)),
      'names who follows': async () =>
        await nameSuccessor(session, term, world.pick(this.#actors).id, world.pick([1, 60_000]), world.between(0, 500)),
      'leads on': async () => {
        this.#leads(actor, await leadOn(session, won, world.between(0, 1_000)))
      },
      'writes a snapshot': async () => {
        const head = { seq: journal.last, records: migrations.current, roomNumber: 7, writtenAt: 1_700_000_000_000 }
        const signal = new AbortController().signal
        await writeSnapshot(this.#address, deadlines, head, freeze(emptyState()), () => term, signal)
      },
    }
  }

  /** It leads from the last line that is stored. */
  #leads(actor: Actor, won: WonTerm): void {
    const given = { last: 0 }
    const kept = { highest: 0, keep: async () => undefined, giveBack: async () => undefined, given: () => undefined }
    const roomNumbers = new RoomNumberBlocks(given, won.roomNumbers, kept)
    const { session } = actor
    const options = {
      address: this.#address,
      deadlines,
      session,
      won,
      last: this.#lines,
      confirmed: () => this.#lines,
      roomNumbers,
    }
    const link = new Link({ ...options, makeGood: (_, last) => Promise.resolve(last) })
    // One thing at a time: it does not connect again by itself.
    link.abandon()
    actor.won = won
    actor.journal = new DatabaseJournal(
      link,
      migrations.current,
      { last: this.#lines, lastTerm: undefined, trail: new JournalTrail() },
      roomNumbers,
    )
  }

  /** It was fenced: others lead. */
  #failed(actor: Actor, error: unknown): void {
    if (error instanceof DifferenceError) throw error
    actor.won = undefined
  }

  async #connected(): Promise<Pick<Actor, 'session' | 'won' | 'journal' | 'follower'>> {
    const quiet = (): void => undefined
    const follower = new Follower({
      ...{ address: this.#address, deadlines, migrations, before: undefined, losses: { add: quiet } },
      onError: quiet,
    })
    const session = await DatabaseSession.open(this.#address, deadlines)
    return { session, won: undefined, journal: undefined, follower }
  }
}

/**
 * Tells so many stories to the model and to a real server.
 * @returns how many statements of how many kinds had the same answers
 * @throws Error with the story, at the first other answer
 */
export async function compareModel(
  server: RealServer,
  { seeds, steps }: { seeds: number; steps: number },
): Promise<{ statements: number; kinds: number }> {
  const texts = new Set<string>()
  let statements = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const database = server.address(await server.newSchema())
    const plain = await DatabaseSession.open(parseDatabaseAddress(database))
    await bringTables(plain, parseDatabaseAddress(database))
    await plain.close()
    const world = new World(seed)
    const model = new PostgresServer(world, new Network(world), 'model', 'primary')
    const twins = new Twins(model)
    const machine = new Machine(world, 'twin')
    machine.database = (connectionString, connectMs) => twins.connect(connectionString, connectMs)
    // Chance of its own: the model's waits take from the world's.
    const story = new Story(new World(seed), database)
    const done: string[] = []
    const told = new Promise<void>((resolve, reject) => {
      const tell = async (): Promise<void> => {
        await story.begin()
        for (let step = 0; step < steps; step++) {
          done.push(await story.step())
          // A lease of a millisecond is over, and so is a named successor's.
          await sleep(4)
          for (let wait = 0; twins.torn.length > 0 && wait < 100; wait++) await sleep(10)
          if (twins.torn.length > 0) throw new Error(twins.torn.join(', '))
        }
        await story.end()
      }
      world.plan(0, () => void tell().then(resolve, reject), machine)
    })
    const goesOn = { is: true }
    const ended = told.finally(() => (goesOn.is = false))
    ended.catch(() => undefined)
    // The model's time is that of the real server.
    const began = performance.now()
    while (goesOn.is) {
      await world.run(performance.now() - began)
      await sleep(1)
    }
    await ended.catch((error: unknown) => {
      throw new Error(`seed ${seed}, after: ${done.slice(-25).join(', ')}`, { cause: error })
    })
    statements += twins.statements
    for (const text of twins.texts) texts.add(text)
  }
  return { statements, kinds: texts.size }
}
