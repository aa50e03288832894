import { plainAddress } from '../../../shared/client-address.ts'
import type { ControllerEnd, GuessKind, ReportParams } from '../../../shared/media/controller-methods.ts'

/** A guess refused by this node. */
export interface Guess {
  kind: GuessKind
  path: '/signal' | '/whip' | '/whep' | '/entry'
  roomId: string
  remote: string
}

type Group = ReportParams<'guesses'>['groups'][number]

/** Period in which guesses are gathered, in milliseconds. */
const gatherMs = 1_000
/** Maximum number of groups (address, kind, path) in a report; guesses of further groups are only counted. */
const maxGroups = 32

/**
 * Reports refused guesses to the controller, grouped by address, kind and path. Sends at most one message per second,
 * so that a flood of guesses does not cause a flood of messages. The guessed values are not reported.
 */
export class RefusalTally {
  readonly #controller: Pick<ControllerEnd, 'notify'>
  readonly #gatherMs: number
  readonly #groups = new Map<string, Group>()
  #more = 0
  #timer: NodeJS.Timeout | undefined

  constructor(controller: Pick<ControllerEnd, 'notify'>, milliseconds = gatherMs) {
    this.#controller = controller
    this.#gatherMs = milliseconds
  }

  note({ kind, path, roomId, remote }: Guess): void {
    const client = plainAddress(remote)
    const key = `${kind} ${path} ${client}`
    const group = this.#groups.get(key)
    if (group !== undefined) {
      group.count += 1
      if (group.roomId !== roomId) group.roomId = ''
    } else if (this.#groups.size < maxGroups) this.#groups.set(key, { kind, path, client, roomId, count: 1 })
    else this.#more += 1
    this.#timer ??= setTimeout(() => this.#notify(), this.#gatherMs).unref()
  }

  /** Stops reporting. */
  close(): void {
    clearTimeout(this.#timer)
  }

  #notify(): void {
    const guesses = { groups: [...this.#groups.values()], more: this.#more }
    this.#groups.clear()
    this.#more = 0
    this.#timer = undefined
    this.#controller.notify('guesses', guesses)
  }
}
