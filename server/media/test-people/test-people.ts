import { Agent } from 'node:https'
import PQueue from 'p-queue'
import type { ControllerEnd } from '../../../shared/media/controller-methods.ts'
import {
  roomIndexOf,
  type TestPeopleSpec,
  type TestPeopleState,
  type TestPersonState,
} from '../../../shared/media/test-people.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { PersonEntry } from './person-session.ts'
import { TestPerson } from './test-person.ts'

/** Address of this node's own listener. */
interface OwnListener {
  host: string
  port: () => number
  /** Certificate in PEM; undefined: plain HTTP. */
  certificate: string | undefined
}

/** Timeout of the controller's answer, in milliseconds. */
const entryMs = 6_000

/** The test people that the controller ordered. They connect to this node like any other client. */
export class TestPeople {
  readonly #controller: Pick<ControllerEnd, 'request'>
  readonly #listener: OwnListener
  readonly #groups = new Map<string, PeopleGroup>()

  constructor(controller: Pick<ControllerEnd, 'request'>, listener: OwnListener) {
    this.#controller = controller
    this.#listener = { ...listener }
  }

  /** Replaces the certificate, e.g. when it was renewed. */
  set certificate(certificate: string) {
    this.#listener.certificate = certificate
  }

  get states(): TestPeopleState[] {
    return Array.from(this.#groups.values(), ({ state }) => state)
  }

  /** Starts and ends groups so that exactly these run. People of unchanged groups stay. */
  set(specs: readonly TestPeopleSpec[]): void {
    const wanted = new Map(specs.map((spec) => [spec.name, JSON.stringify(spec)]))
    for (const [name, group] of this.#groups)
      if (JSON.stringify(group.spec) !== wanted.get(name)) this.#end(name, group)
    for (const spec of specs) {
      if (this.#groups.has(spec.name)) continue
      this.#groups.set(spec.name, new PeopleGroup(spec, { enter: (number) => this.#enter(spec.name, number) }))
    }
  }

  close(): void {
    for (const [name, group] of this.#groups) this.#end(name, group)
  }

  #end(name: string, group: PeopleGroup): void {
    this.#groups.delete(name)
    mustNotFail(group.close())
  }

  /** @throws Error that says why the person has no link */
  async #enter(group: string, number: number): Promise<PersonEntry> {
    const signal = AbortSignal.timeout(entryMs)
    const { room_id, token, problem } = await this.#controller.request('test_person_entry', { group, number }, signal)
    if (problem !== '') throw new Error(problem)
    const { certificate, host, port } = this.#listener
    const scheme = certificate === undefined ? 'http' : 'https'
    // At every address of the machine, media has those of its network: `localhost`, unlike 127.0.0.1, stands for them.
    const own = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
    const node = new URL(`${scheme}://${own}:${port()}/`)
    return { node, roomId: room_id, token, trust: certificate === undefined ? undefined : trusting(certificate) }
  }
}

/** Trusts this certificate under any name, because the listener is this program's own. */
function trusting(ca: string): Agent {
  return new Agent({ ca, allowPartialTrustChain: true, checkServerIdentity: () => undefined })
}

interface GroupDependencies {
  /** Returns a new entry for a person of the group. @throws Error that says why there is none */
  enter: (number: number) => Promise<PersonEntry>
  /** Called when the state of a person has changed. */
  onChange?: (person: TestPerson) => void
}

/** Number of connections that a group opens at a time. */
const maxOpening = 4
/** Length of a turn to talk, in milliseconds. */
const turnMs = 4_000

/** A running group of test people. */
export class PeopleGroup {
  readonly spec: TestPeopleSpec
  readonly people: readonly TestPerson[]
  readonly #ended = new AbortController()
  readonly #run: Promise<unknown>
  #problem = ''

  constructor(spec: TestPeopleSpec, { enter, onChange = () => {} }: GroupDependencies) {
    this.spec = spec
    const opening = new PQueue({ concurrency: maxOpening })
    const owner = {
      ...{ spec, opening, enter, onChange },
      isTalking: (number: number) => isTalking(spec, number),
      onProblem: (reason: string) => {
        this.#problem = reason
      },
    }
    this.people = Array.from({ length: spec.people }, (_, index) => new TestPerson(index + 1, owner))
    // An unexpected error ends one person, not the node.
    const failed = (error: unknown): void => owner.onProblem(String(error))
    this.#run = Promise.all(this.people.map((person) => person.run(this.#ended.signal).catch(failed)))
  }

  get state(): TestPeopleState {
    const counts: Record<TestPersonState, number> = {
      ...{ away: 0, joining: 0, waiting: 0 },
      ...{ present: 0, removed: 0, refused: 0 },
    }
    const state = { name: this.spec.name, counts, sent: 0, received: 0, lost: 0, problem: this.#problem }
    for (const person of this.people) {
      counts[person.state] += 1
      for (const kind of ['sent', 'received', 'lost'] as const) state[kind] += person.counts[kind]
    }
    return state
  }

  /** Lets all people leave. Resolves when they have. */
  async close(): Promise<void> {
    this.#ended.abort(new Error('the test people leave'))
    await this.#run
  }
}

/** Whether a person talks now. In turns, the people of a room talk one after the other by the clock. */
function isTalking({ talk, people, rooms, room_ids }: TestPeopleSpec, number: number): boolean {
  if (talk !== 'turns') return talk === 'all'
  const roomCount = room_ids.length === 0 ? rooms : room_ids.length
  const room = roomIndexOf(number, roomCount)
  const inRoom = Math.ceil((people - room) / roomCount)
  return Math.floor(Date.now() / turnMs) % inRoom === Math.floor((number - 1) / roomCount)
}
