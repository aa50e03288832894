import { shownName } from '../../shared/control-character.ts'
import type { ControlMethod, ControlParams, ControlResult, Doer } from '../../shared/media/control.ts'
import type { WaitingPerson } from '../../shared/media/signal.ts'
import { NodeError } from '../nodes/port/media-node-port.ts'
import type { Store } from '../store/store.ts'
import { maxListedWaiting, type WaitingView } from '../../shared/domain/waiting.ts'

/** Result of admitting or refusing guests. */
type Outcome = ControlResult<'admit_waiting'>

/**
 * Sends a request to the program that serves the room page for a node. @param program name of the node @throws
 * NodeError if the program does not respond
 */
export type RequestProgram = <M extends ControlMethod>(
  program: string,
  method: M,
  params: ControlParams<M>,
) => Promise<ControlResult<M>>

export interface WaitingGuestsOptions {
  store: Pick<Store, 'get'>
  request: RequestProgram
  /** Called for each guest who starts waiting. */
  began: (roomId: string, who: Doer) => void
}

const nobody: readonly WaitingPerson[] = []

/**
 * Waiting guests of each room, as reported by the programs that serve the room page. A room whose media is on another
 * node may have several programs.
 */
export class WaitingGuests {
  readonly #options: WaitingGuestsOptions
  /** Waiting people by room and program, each in order of arrival; empty lists are removed. */
  readonly #rooms = new Map<string, Map<string, readonly WaitingPerson[]>>()
  readonly #listeners = new Set<(roomId: string) => void>()

  constructor(options: WaitingGuestsOptions) {
    this.#options = options
  }

  /** Applies a report of a program. */
  take(program: string, { roomId, people }: { roomId: string; people: readonly WaitingPerson[] }): void {
    const lists = this.#rooms.get(roomId) ?? new Map<string, readonly WaitingPerson[]>()
    const known = new Set(lists.get(program)?.map(({ user_id }) => user_id))
    if (people.length > 0) this.#rooms.set(roomId, lists.set(program, people))
    else this.#forget(roomId, program)
    for (const { user_id, user_name } of people)
      if (!known.has(user_id)) this.#options.began(roomId, { userId: user_id, userName: user_name })
    this.#changed(roomId)
  }

  /** Removes the waiting lists of a program whose process has ended. */
  restarted(program: string): void {
    for (const [roomId, lists] of [...this.#rooms]) {
      if (!lists.has(program)) continue
      this.#forget(roomId, program)
      this.#changed(roomId)
    }
  }

  /** Returns the guests waiting for a room, in order of arrival; empty: the room has none, or was deleted. */
  of(roomId: string): readonly WaitingPerson[] {
    const lists = this.#rooms.get(roomId)
    if (lists === undefined || this.#options.store.get('rooms', roomId) === undefined) return nobody
    return [...lists.values()].flat().sort((one, other) => one.since - other.since)
  }

  /** Returns the number of guests waiting for a room. */
  count(roomId: string): number {
    let sum = 0
    const lists = this.#rooms.get(roomId)
    if (lists !== undefined) for (const people of lists.values()) sum += people.length
    return sum
  }

  /** Returns all guests waiting at the site, in order of arrival. */
  list(): WaitingView {
    const items = [...this.#rooms.keys()].flatMap((roomId) => {
      const topic = shownName(this.#options.store.get('rooms', roomId)?.topic ?? '')
      return this.of(roomId).map((person) => ({
        room_id: roomId,
        topic,
        ...person,
        user_name: shownName(person.user_name),
      }))
    })
    items.sort((one, other) => one.since - other.since)
    return { items: items.slice(0, maxListedWaiting), total: items.length }
  }

  /** Admits one guest; without `userId`, all guests who wait for the room. @throws NodeError */
  async admit(roomId: string, userId?: string): Promise<Outcome> {
    return await this.#act(roomId, userId, (program) =>
      this.#options.request(program, 'admit_waiting', userId === undefined ? { roomId } : { roomId, userId }),
    )
  }

  /** Refuses one guest. @throws NodeError */
  async refuse(roomId: string, userId: string): Promise<Outcome> {
    return await this.#act(roomId, userId, (program) =>
      this.#options.request(program, 'refuse_waiting', { roomId, userId }),
    )
  }

  /**
   * Shows a text to one guest; without `userId`, to all guests who wait for the room. @returns number of guests reached
   * @throws NodeError
   */
  async message(roomId: string, from: string, text: string, userId?: string): Promise<number> {
    const to = userId === undefined ? {} : { userId }
    const answers = await Promise.all(
      this.#programs(roomId, userId).map((program) =>
        this.#options.request(program, 'message_waiting', { roomId, from, text, ...to }),
      ),
    )
    return answers.reduce((sum, { reached }) => sum + reached, 0)
  }

  /**
   * Calls the listener with the room_id of each room whose waiting guests changed. Returns a function that unsubscribes
   * it.
   */
  onChange(listener: (roomId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async #act(roomId: string, userId: string | undefined, ask: (program: string) => Promise<Outcome>): Promise<Outcome> {
    const programs = this.#programs(roomId, userId)
    if (programs.length === 0) return { people: [], refusal: 'notWaiting' }
    const answers = await Promise.allSettled(programs.map(ask))
    const outcomes = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (failed !== undefined && !(failed.reason instanceof NodeError)) throw failed.reason
    return {
      people: outcomes.flatMap(({ people }) => people),
      refusal: outcomes.find(({ refusal }) => refusal !== null)?.refusal ?? (failed === undefined ? null : 'failed'),
    }
  }

  /** Returns the programs at which this user waits for a room; without `userId`, those at which any guest waits. */
  #programs(roomId: string, userId: string | undefined): string[] {
    return [...(this.#rooms.get(roomId) ?? [])].flatMap(([program, people]) =>
      people.some(({ user_id }) => userId === undefined || user_id === userId) ? [program] : [],
    )
  }

  #forget(roomId: string, program: string): void {
    const lists = this.#rooms.get(roomId)
    lists?.delete(program)
    if (lists?.size === 0) this.#rooms.delete(roomId)
  }

  #changed(roomId: string): void {
    for (const listener of this.#listeners) listener(roomId)
  }
}
