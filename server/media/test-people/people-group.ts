import PQueue from 'p-queue'
import {
  roomIndexOf,
  type TestPeopleSpec,
  type TestPeopleState,
  type TestPersonState,
} from '../../../shared/media/test-people.ts'
import type { PersonEntry } from './person-session.ts'
import { TestPerson } from './test-person.ts'

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
