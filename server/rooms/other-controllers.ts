import { mustNotFail } from '../../shared/unawaited.ts'
import type { SiteMember } from '../store/election/site-member.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { clusterTimes, electionTimes } from '../store/election/timings.ts'

/** Source of the addresses of the site's other controllers. */
export interface OtherControllersOptions {
  /** This controller as a member of the site; undefined if it is the only one. */
  member: Pick<SiteMember, 'id' | 'controllers' | 'onLeader'> | undefined
  /** Called when their addresses change. */
  changed: () => void
  logger: NodeLogger
  /** Interval between two reads, in milliseconds. */
  everyMs?: number
}

/** Maximum number of controllers that a page queries. */
const maxControllers = 16

/**
 * Addresses of the node ports of the other controllers. The leader serves the embedded nodes at its port, and a replica
 * forwards requests to the leader. Each of them therefore gives access to a room if this controller is lost. They are
 * read in advance, and kept while the database is unreachable.
 */
export class OtherControllers {
  readonly #options: OtherControllersOptions
  #nodeUrls: readonly string[] = []
  #isAlone = true
  #timer: NodeJS.Timeout | undefined
  #looking = false
  #stopLeader = (): void => {}

  constructor(options: OtherControllersOptions) {
    this.#options = options
  }

  /** E.g. `http://10.0.0.6:7082`; sorted by their latest report, newest first. */
  get nodeUrls(): readonly string[] {
    return this.#nodeUrls
  }

  /**
   * Time without a sign of life of this controller after which another one becomes leader, in milliseconds; 0 if there
   * is no other.
   */
  get leaseMs(): number {
    return this.#isAlone ? 0 : electionTimes.lease
  }

  start(): void {
    const { member, everyMs = clusterTimes.list } = this.#options
    if (member === undefined) return
    this.#timer = setInterval(() => mustNotFail(this.#look(member)), everyMs)
    this.#timer.unref()
    this.#stopLeader = member.onLeader(() => mustNotFail(this.#look(member)))
    mustNotFail(this.#look(member))
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#stopLeader()
  }

  async #look(member: Pick<SiteMember, 'id' | 'controllers'>): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      const known = await member.controllers()
      const others = known
        .filter(({ id, place }) => id !== member.id && place.node !== '')
        .sort((one, other) => other.seenAt - one.seenAt)
      const now = Math.max(...known.map(({ seenAt }) => seenAt))
      const isAlone = !known.some(({ id, seenAt }) => id !== member.id && seenAt > now - clusterTimes.absent)
      this.#set([...new Set(others.map(({ place }) => place.node))].slice(0, maxControllers), isAlone)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'other controllers could not be read')
    } finally {
      this.#looking = false
    }
  }

  #set(urls: readonly string[], isAlone: boolean): void {
    // Each controller reports every second, so their order has no meaning.
    const isSame = urls.length === this.#nodeUrls.length && urls.every((url) => this.#nodeUrls.includes(url))
    if (this.#timer === undefined || (isSame && isAlone === this.#isAlone)) return
    if (!isSame) this.#nodeUrls = urls
    this.#isAlone = isAlone
    this.#options.changed()
  }
}
