import type PQueue from 'p-queue'
import { onAbort } from '../../../shared/abort.ts'
import { parseArrival, type TestPeopleSpec, type TestPersonState } from '../../../shared/media/test-people.ts'
import { seededRandom } from '../../../shared/seeded-random.ts'
import { pause } from '../../../shared/sleep.ts'
import type { PersonEntry } from './person-session.ts'
import { RoomStay, type StayEnd } from './room-stay.ts'

/** Dependencies of a person on its group. */
interface PersonOwner {
  spec: TestPeopleSpec
  opening: PQueue
  /** Returns a new entry for a person. @throws Error that says why there is none */
  enter: (number: number) => Promise<PersonEntry>
  /** Whether it is the person's turn to talk. */
  isTalking: (number: number) => boolean
  onChange: (person: TestPerson) => void
  onProblem: (reason: string) => void
}

/** Time between two attempts to join, in milliseconds, to which up to as much again is added at random. */
const retryMs = 2_000

/** A test person: comes, stays, leaves and returns as its group's pattern says. */
export class TestPerson {
  /** Number in its group, from 1. */
  readonly number: number
  readonly #owner: PersonOwner
  readonly #random: () => number
  #state: TestPersonState = 'away'
  #stay: RoomStay | undefined
  /** Packets of ended stays. */
  readonly #earlier = { sent: 0, received: 0, lost: 0 }
  /** Room of the latest stay; empty: none. */
  roomId = ''

  constructor(number: number, owner: PersonOwner) {
    this.number = number
    this.#owner = owner
    this.#random = seededRandom(owner.spec.seed * 7_919 + number)
  }

  get state(): TestPersonState {
    return this.#state
  }

  get counts(): { sent: number; received: number; lost: number } {
    const { sent, received, lost } = this.#stay?.counts ?? { sent: 0, received: 0, lost: 0 }
    const { sent: sentBefore, received: receivedBefore, lost: lostBefore } = this.#earlier
    return { sent: sent + sentBefore, received: received + receivedBefore, lost: lost + lostBefore }
  }

  /** Resolves when the person will not come again, or the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    for (const { afterMs, stayMs } of visitsOf(this.#owner.spec, this.number)) {
      await pause(afterMs, { signal, ref: false })
      if (signal.aborted) return
      const visit = stayMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(stayMs)])
      const isOver = await this.#visit(visit)
      if (isOver) return
      this.#become('away')
    }
  }

  /** Returns whether the person will not come again. */
  async #visit(signal: AbortSignal): Promise<boolean> {
    let node: URL | undefined
    while (!signal.aborted) {
      this.#become('joining')
      const end = await this.#join(node, signal)
      node = end.kind === 'elsewhere' ? end.url : undefined
      if (end.kind === 'refused' || end.kind === 'again') this.#owner.onProblem(end.reason)
      if (end.kind === 'refused' || end.kind === 'removed') {
        this.#become(end.kind)
        return true
      }
      if (end.kind === 'again') await pause(retryMs * (1 + this.#random()), { signal, ref: false })
    }
    return false
  }

  /** @param node node to which another one referred; undefined: that of the entry */
  async #join(node: URL | undefined, signal: AbortSignal): Promise<StayEnd> {
    let entry: PersonEntry
    try {
      entry = await this.#owner.enter(this.number)
    } catch (error) {
      return { kind: 'again', reason: error instanceof Error ? error.message : String(error) }
    }
    if (signal.aborted) return { kind: 'left' }
    this.roomId = entry.roomId
    const { spec, opening, isTalking, onProblem } = this.#owner
    const stay = new RoomStay(node === undefined ? entry : { ...entry, node }, {
      spec,
      loss: { share: spec.loss / 100, random: this.#random },
      opening,
      isTalking: () => isTalking(this.number),
      onState: (state) => this.#become(state),
      onProblem,
    })
    this.#stay = stay
    const unregister = onAbort(signal, () => stay.leave())
    const end = await stay.ended
    unregister()
    this.#stay = undefined
    for (const kind of ['sent', 'received', 'lost'] as const) this.#earlier[kind] += stay.counts[kind]
    return end
  }

  #become(state: TestPersonState): void {
    if (state === this.#state) return
    this.#state = state
    this.#owner.onChange(this)
  }
}

/** A stay in the room, in whole milliseconds. */
export interface Visit {
  /** Time from the end of the last visit, or from the start of the group, to the arrival. */
  afterMs: number
  /** Length of the stay; undefined: until the end. */
  stayMs: number | undefined
}

/**
 * Returns the visits of a person, the same for the same seed. Without comings and goings there is one visit.
 * @param number number of the person in its group, from 1
 */
export function* visitsOf(
  { arrive, people, seed }: Pick<TestPeopleSpec, 'arrive' | 'people' | 'seed'>,
  number: number,
): Generator<Visit, void> {
  const { kind, seconds } = parseArrival(arrive) ?? { kind: 'at-once', seconds: 0 }
  const random = seededRandom(seed * 1_000 + number)
  const milliseconds = seconds * 1_000
  switch (kind) {
    case 'at-once':
      yield { afterMs: 0, stayMs: undefined }
      return
    case 'evenly':
      yield { afterMs: Math.round((milliseconds * (number - 1)) / people), stayMs: undefined }
      return
    case 'random':
      yield { afterMs: Math.floor(random() * milliseconds), stayMs: undefined }
      return
    case 'come-and-go':
      // The first pause may be short, so that the room is not empty in the beginning.
      for (let afterMs = random() * milliseconds; ; afterMs = (0.25 + random() / 2) * milliseconds)
        yield { afterMs: Math.round(afterMs), stayMs: Math.round((0.5 + random()) * milliseconds) }
  }
}
